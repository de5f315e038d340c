package share

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// program is what runs in a pty of its own, as the leader of a session.
type program struct {
	cmd  *exec.Cmd
	ptmx *os.File      // non-blocking, so that Close and deadlines end Read and Write
	done chan struct{} // closed when it has exited
}

// startProgram starts a command, or for none the user's shell, as a login shell: its name begins with a dash.
func startProgram(command, env []string, size Size) (*program, error) {
	login := len(command) == 0
	if login {
		command = []string{shell()}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = env
	if login {
		cmd.Args[0] = "-" + filepath.Base(cmd.Path)
	}
	blocking, err := pty.StartWithSize(cmd, winsize(size))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("duplicate the pty: %w", err)
	}
	_ = unix.SetNonblock(fd, true) // fails only for a descriptor that is not open
	p := &program{cmd: cmd, ptmx: os.NewFile(uintptr(fd), blocking.Name()), done: make(chan struct{})}
	return p, nil
}

// shell returns the path of the user's shell.
func shell() string {
	for _, candidate := range []string{os.Getenv("SHELL"), "/bin/bash"} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	return "/bin/sh"
}

func winsize(size Size) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(size.Cols), Rows: uint16(size.Rows)}
}

// wait blocks until the program has exited. It must be called once.
func (p *program) wait() {
	_ = p.cmd.Wait() // how it ended is in ProcessState
	close(p.done)
	_ = p.ptmx.SetReadDeadline(time.Now().Add(drainQuiet))
}

// code is the exit code as shells have it, once the program has exited.
func (p *program) code() int {
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// resize changes the size of the pty.
func (p *program) resize(size Size) { _ = pty.Setsize(p.ptmx, winsize(size)) }

// endPhases are how the program is asked, told and made to end, each with the time that it has.
var endPhases = []struct {
	signal syscall.Signal
	time   time.Duration
}{
	{syscall.SIGHUP, time.Second},
	{syscall.SIGTERM, time.Second},
	{syscall.SIGKILL, time.Second},
}

// end ends the program and what runs in the foreground of its pty. It blocks until the program has exited.
func (p *program) end() {
	for _, phase := range endPhases {
		p.signal(phase.signal)
		select {
		case <-p.done:
			return
		case <-time.After(phase.time):
		}
	}
	<-p.done
}

// signal reaches the groups of the program and of the foreground, stopped ones too.
func (p *program) signal(s syscall.Signal) {
	groups := []int{p.cmd.Process.Pid}
	if conn, err := p.ptmx.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) {
			if group, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP); err == nil && group > 1 && group != groups[0] {
				groups = append(groups, group)
			}
		})
	}
	for _, group := range groups {
		_ = syscall.Kill(-group, s)
		_ = syscall.Kill(-group, syscall.SIGCONT)
	}
}

const (
	// drainQuiet and drainAtMost bound the reading that goes on after the program has exited: jobs in the background may
	// hold the pty open for as long as they like.
	drainQuiet  = 100 * time.Millisecond
	drainAtMost = time.Second

	// reopenEvery is how often a pty that nobody has open is tried again.
	reopenEvery = 10 * time.Millisecond
)

// output reads the program's output to its end and calls show for each piece. It returns after the program has exited.
func (p *program) output(show func([]byte)) {
	buf := make([]byte, 32<<10)
	var until time.Time // zero while the program runs
	for {
		n, err := p.ptmx.Read(buf)
		if n > 0 {
			show(buf[:n])
		}
		if until.IsZero() {
			select {
			case <-p.done:
				until = time.Now().Add(drainAtMost)
			default:
			}
		}
		switch {
		case until.IsZero() && err != nil:
			// Nobody has the pty open now. Most often the exit comes next, but /dev/tty may be opened again.
			select {
			case <-p.done:
			case <-time.After(reopenEvery):
			}
		case until.IsZero():
		case err != nil || time.Now().After(until):
			return
		default:
			_ = p.ptmx.SetReadDeadline(time.Now().Add(drainQuiet))
		}
	}
}
