package ptymgr

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"
)

// foreground asks the terminal's own pty.
func (s *shellInPty) foreground(t *testing.T) (name string, pid int, busy bool) {
	t.Helper()
	control, err := s.ptmx.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := control.Control(func(fd uintptr) { name, pid, busy = foreground(fd, s.cmd.Process.Pid) }); err != nil {
		t.Fatal(err)
	}
	return name, pid, busy
}

func (s *shellInPty) awaitForeground(t *testing.T, want string, wantBusy bool) (pid int) {
	t.Helper()
	eventually(t, want+" in the foreground", func() bool {
		name, p, busy := s.foreground(t)
		pid = p
		return name == want && busy == wantBusy
	})
	return pid
}

func (s *shellInPty) typeLine(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(s.ptmx, line); err != nil {
		t.Fatal(err)
	}
}

func TestForegroundOfAnInteractiveShell(t *testing.T) {
	s := startShell(t, "/bin/bash", "--norc", "-i")
	defer s.end(t)
	if pid := s.awaitForeground(t, "bash", false); pid != s.cmd.Process.Pid {
		t.Errorf("pid %d is not the shell's", pid)
	}
	s.typeLine(t, "sleep $M\n")
	s.awaitForeground(t, "sleep", true)
	s.typeLine(t, "\x03")
	s.awaitForeground(t, "bash", false)

	s.typeLine(t, "sleep $M &\n")
	eventually(t, "a background job", func() bool { return len(s.running()) == 1 })
	s.awaitForeground(t, "bash", false)

	// The leader of the group ends first.
	s.typeLine(t, "true | sleep $M\n")
	s.awaitForeground(t, "sleep", true)
	s.typeLine(t, "\x03")

	script := filepath.Join(t.TempDir(), "a-script-with-a-long-name")
	if err := os.WriteFile(script, []byte("#!/usr/bin/perl\nsleep 1000;\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.typeLine(t, script+"\n")
	s.awaitForeground(t, "perl", true)
}

func TestForegroundOfACommandWithoutJobControl(t *testing.T) {
	s := startShell(t, "/bin/bash", "-c", "sleep $M; read; sleep $M")
	defer s.end(t)
	eventually(t, "the first sleep", func() bool { return len(s.running()) == 1 }) // a fork is busy before it is sleep
	s.awaitForeground(t, "bash", true)
	for _, pid := range s.running() {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	s.awaitForeground(t, "bash", false)
}

func TestForegroundAfterTheExit(t *testing.T) {
	s := startShell(t, "/bin/true")
	if err := s.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if name, pid, busy := s.foreground(t); name != "" || pid != 0 || busy {
		t.Errorf("%q, %d, %v in the foreground of nothing", name, pid, busy)
	}
}

func TestWorkingDir(t *testing.T) {
	s := startShell(t, "/bin/bash", "--norc", "-i")
	defer s.end(t)
	dir := filepath.Join(t.TempDir(), "a b (deleted)")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	awaitDir := func(want string) {
		t.Helper()
		eventually(t, "working directory "+want, func() bool { return workingDir(s.cmd.Process.Pid) == want })
	}
	s.typeLine(t, "cd '"+dir+"'\n")
	awaitDir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	awaitDir(dir)
	if got := workingDir(0); got != "" {
		t.Errorf("got %q for no process", got)
	}
}

func TestProcessName(t *testing.T) {
	for arg, want := range map[string]string{
		"-bash": "bash", "/bin/zsh": "zsh", "python3": "python3", "./x": "x", "nginx: master process /usr/sbin/nginx": "nginx",
		"": "", "-": "", "/": "", "/opt/my tool/run me": "run me", "a\x1b]0;evil\x07b": "a]0;evilb", "\xff\xfe": "", "-/bin/sh": "sh",
	} {
		if got := processName(arg); got != want {
			t.Errorf("%q: got %q, want %q", arg, got, want)
		}
	}
}

func FuzzProcessName(f *testing.F) {
	f.Add("-bash")
	f.Add("nginx: worker\x1b[2J")
	f.Fuzz(func(t *testing.T, arg string) {
		name := processName(arg)
		bad := func(r rune) bool { return !unicode.IsPrint(r) || r == '/' }
		if !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxProcessName || strings.ContainsFunc(name, bad) {
			t.Fatalf("%q gives %q", arg, name)
		}
	})
}
