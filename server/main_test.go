package server

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(echoVariable) != "" {
		serveEcho()
	}
	goleak.VerifyTestMain(m)
}
