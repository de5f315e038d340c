package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func TestPasswordCommandOnATerminal(t *testing.T) {
	for _, test := range []struct {
		first, second string
		code          int
		says          string
	}{
		{"correct horse", "correct horse", 0, "The password is set"},
		{"correct horse", "correct house", 1, "differ"},
	} {
		cmd := command(t, nil, "password", "--data", t.TempDir())
		tty, err := pty.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		said := &output{}
		copied := make(chan struct{})
		go func() {
			defer close(copied)
			_, _ = io.Copy(said, tty) // ends with EIO when the process has
		}()
		for _, step := range []struct{ prompt, answer string }{{"New password: ", test.first}, {"Again: ", test.second}} {
			// The echo is switched off after the prompt is printed.
			if !eventually(func() bool { return strings.Contains(said.String(), step.prompt) && !echoes(t, tty) }) {
				t.Fatalf("no prompt %q: %q", step.prompt, said.String())
			}
			if _, err := io.WriteString(tty, step.answer+"\r"); err != nil {
				t.Fatal(err)
			}
			if !eventually(func() bool { return strings.Contains(said.String(), step.prompt+"\r\n") }) {
				t.Fatalf("no end of line after %q: %q", step.prompt, said.String())
			}
		}
		_ = cmd.Wait()
		<-copied
		_ = tty.Close()
		if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.Contains(said.String(), test.says) {
			t.Errorf("exit code %d and %q, want %d and %q", code, said.String(), test.code, test.says)
		}
		if strings.Contains(said.String(), "horse") {
			t.Errorf("the password was echoed: %q", said.String())
		}
	}
}

// echoes reports whether a terminal shows what is typed.
func echoes(t *testing.T, tty *os.File) bool {
	t.Helper()
	termios, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return termios.Lflag&unix.ECHO != 0
}
