package ptymgr

import (
	"os/exec"
	"testing"
)

func TestExitOf(t *testing.T) {
	for script, want := range map[string]Exit{
		"exit 0":        {Code: 0},
		"exit 7":        {Code: 7},
		"exit 255":      {Code: 255},
		"kill -TERM $$": {Code: 143, Signal: "SIGTERM"},
		"kill -KILL $$": {Code: 137, Signal: "SIGKILL"},
		"kill -HUP $$":  {Code: 129, Signal: "SIGHUP"},
		"kill -40 $$":   {Code: 168, Signal: "SIG40"},
	} {
		cmd := exec.Command("/bin/bash", "-c", script)
		_ = cmd.Run() // the state tells
		if got := exitOf(cmd.ProcessState); got != want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
	}
}
