package server

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/coder/websocket"
)

// echoVariable makes the test binary a bare WebSocket echo server in place of running tests.
const echoVariable = "BENCH_ECHO_SERVER"

// serveEcho listens on a free port, prints its URL, and answers each message with itself until it is killed.
func serveEcho() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s/\n", ln.Addr())
	panic(http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			kind, p, err := conn.Read(context.Background())
			if err != nil || conn.Write(context.Background(), kind, p) != nil {
				return
			}
		}
	})))
}

// startEcho starts a bare echo server in a process of its own and returns its URL.
func startEcho(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), echoVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return url[:len(url)-1]
}
