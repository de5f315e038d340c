package ptymgr

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// exitOf turns what the system says about a process that has ended into an Exit, the way shells count.
func exitOf(state *os.ProcessState) Exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return Exit{Code: state.ExitCode()}
	}
	sig := status.Signal()
	name := unix.SignalName(sig)
	if name == "" { // a real-time signal
		name = fmt.Sprintf("SIG%d", int(sig))
	}
	return Exit{Code: 128 + int(sig), Signal: name}
}
