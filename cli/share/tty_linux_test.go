package share

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func TestPanicRestoresTheTerminal(t *testing.T) {
	for _, where := range []string{"goroutine", "main"} {
		ptmx, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), panicEnv+"="+where)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		var reader sync.WaitGroup
		reader.Go(func() { _, _ = io.Copy(&said, ptmx) })
		err = cmd.Wait()
		after, _ := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
		_ = tty.Close() // nobody has it open now, which ends the reader
		reader.Wait()
		if err == nil || !strings.Contains(said.String(), "on purpose") {
			t.Errorf("%s: got %v and %q", where, err, said.String())
		}
		if *after != *before {
			t.Errorf("%s: the terminal is left in another mode", where)
		}
		if !strings.Contains(said.String(), "\x1b[?1049l") {
			t.Errorf("%s: the terminal is left on the other screen: %q", where, said.String())
		}
		_ = ptmx.Close()
	}
}

// A title is not put into the middle of a sequence or a character.
func TestTitleWaitsForTheEndOfASequence(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	tty := &tty{out: write}
	for _, piece := range []string{"a\x1b[3", "1", "mb\xe6", "\xbc\xa2c"} {
		_, _ = tty.Write([]byte(piece))
		if piece == "a\x1b[3" {
			tty.title("note")
		}
	}
	_ = write.Close()
	var got [100]byte
	n, _ := read.Read(got[:])
	if want := "a\x1b[31mb\xe6\xbc\xa2c\x1b]2;note\a"; string(got[:n]) != want {
		t.Errorf("got %q, want %q", got[:n], want)
	}
}
