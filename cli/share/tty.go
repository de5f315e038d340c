package share

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"tandem/ptymgr/vt"
)

// tty is the person's terminal. What it shows is followed, so that nothing of ours gets into the middle of a sequence.
type tty struct {
	in  *os.File
	out *os.File

	restoring sync.Mutex // guards before
	before    *term.State

	mu      sync.Mutex // guards what follows, and writing to out
	shown   vt.Scanner
	offset  int64
	rest    []byte // the end of what was written, if that is in the middle of a sequence
	pending string // a title that waits for the end of a sequence
}

func openTTY(in, out *os.File) (*tty, error) {
	if !term.IsTerminal(int(in.Fd())) {
		return nil, ErrNoTerminal
	}
	return &tty{in: in, out: out}, nil
}

// size returns the terminal's size, in cells.
func (t *tty) size() (Size, error) {
	cols, rows, err := term.GetSize(int(t.in.Fd()))
	if err != nil {
		return Size{}, fmt.Errorf("ask the terminal for its size: %w", err)
	}
	if cols < 1 || rows < 1 {
		cols, rows = 80, 24 // as on a serial line, which does not know
	}
	return Size{cols, rows}, nil
}

// raw passes on every key. It may be called again, after the process was stopped and goes on.
func (t *tty) raw() error {
	t.restoring.Lock()
	defer t.restoring.Unlock()
	before, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("switch the terminal to raw mode: %w", err)
	}
	if t.before == nil {
		t.before = before
	}
	return nil
}

// restore undoes raw. Programs that were killed may have left the screen theirs: then it is the person's again too.
func (t *tty) restore() {
	t.mu.Lock()
	if t.shown.AltSince() >= 0 {
		_, _ = io.WriteString(t.out, leaveScreen)
		t.shown = vt.Scanner{}
	}
	t.mu.Unlock()
	t.restoring.Lock()
	defer t.restoring.Unlock()
	if t.before != nil {
		_ = term.Restore(int(t.in.Fd()), t.before)
		t.before = nil
	}
}

// leaveScreen ends the alternate screen, reports of the mouse and of focus, bracketed paste, keypad modes, a hidden cursor
// and styles.
const leaveScreen = "\x18\x1b[?1049l\x1b[?9;1000;1002;1003;1004;1005;1006;1015;2004;1l\x1b>\x1b[?25h\x1b[m"

// guard is deferred in every goroutine: a panic would leave the terminal raw.
func (t *tty) guard() {
	if p := recover(); p != nil {
		t.restore()
		panic(p)
	}
}

// Write shows output.
func (t *tty) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.out.Write(p)
	t.rest = append(t.rest, p[:n]...)
	taken := t.shown.Scan(t.rest, t.offset, nil)
	t.offset += int64(taken)
	t.rest = append(t.rest[:0], t.rest[taken:]...)
	t.tell()
	return n, err
}

// title shows a note in the terminal's title, as soon as that is not in the middle of a sequence.
func (t *tty) title(note string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = note
	t.tell()
}

// tell shows the title that waits. mu is held.
func (t *tty) tell() {
	if t.pending != "" && len(t.rest) == 0 {
		_, _ = fmt.Fprintf(t.out, "\x1b]2;%s\a", t.pending)
		t.pending = ""
	}
}

// keys reads what is typed, until interrupted ends, with io.EOF when the terminal is gone.
type keys struct {
	fd   int
	wake *os.File // readable when it is over
}

var errInterrupted = errors.New("nobody reads any more")

// Read waits for keys. A blocking read could not be ended, and would take a key that is typed after the end.
func (k keys) Read(p []byte) (int, error) {
	for {
		ready := []unix.PollFd{{Fd: int32(k.fd), Events: unix.POLLIN}, {Fd: int32(k.wake.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(ready, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case ready[1].Revents != 0:
			return 0, errInterrupted
		}
		n, err := unix.Read(k.fd, p)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil || n <= 0:
			return 0, io.EOF // EIO after a hangup
		}
		return n, nil
	}
}
