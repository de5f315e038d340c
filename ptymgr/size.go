package ptymgr

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Size is a terminal size in cells.
type Size struct{ Cols, Rows int }

// MaxCells bounds Cols and Rows; both start at 1.
const MaxCells = 1000

// defaultSize is that of a terminal which nobody has shown yet.
var defaultSize = Size{80, 24}

func (s Size) check() error {
	if s.Cols < 1 || s.Cols > MaxCells || s.Rows < 1 || s.Rows > MaxCells {
		return fmt.Errorf("%d×%d is not a size: columns and rows go from 1 to %d", s.Cols, s.Rows, MaxCells)
	}
	return nil
}

// A nudge lasts until the program has drawn, which is looked for every nudgeTime; a program that draws nothing gets the
// terminal's size back after nudgeLooks.
const (
	nudgeTime  = 50 * time.Millisecond
	nudgeLooks = 10
)

// ErrShown reports that the viewers which show a terminal decide on its size.
var ErrShown = errors.New("the browsers that show the terminal decide on its size")

// Resize gives the terminal a size, for those who have no viewer. The size holds until a viewer that shows the terminal
// says its own. It returns ErrShown while one does that is no program's, ErrExited, ErrRemote, or an error outside
// 1..MaxCells.
func (t *Terminal) Resize(size Size) error {
	if err := size.check(); err != nil {
		return err
	}
	if t.Remote() {
		return ErrRemote
	}
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	if t.log.sealed {
		return ErrExited
	}
	if t.shownSize(false) != (Size{}) {
		return ErrShown
	}
	t.setSize(size)
	return nil
}

// fit gives the terminal the smallest size among the viewers that show it and have said theirs. Programs count only
// where there is nobody else. While nobody shows it, the size stays, and a remote terminal's always does. log.mu is held.
func (t *Terminal) fit() {
	if t.Remote() {
		return
	}
	size := t.shownSize(false)
	if size == (Size{}) {
		size = t.shownSize(true)
	}
	if size != (Size{}) && !t.log.sealed {
		t.setSize(size)
	}
}

// shownSize returns the smallest size among the viewers that show the terminal, of programs that may type or of people;
// zero if none does.
func (t *Terminal) shownSize(program bool) Size {
	var size Size
	for v := range t.pacing.viewers {
		switch {
		case !v.visible, v.size == Size{}, v.program != program, program && !v.writable:
		case size == Size{}:
			size = v.size
		default:
			size = Size{min(size.Cols, v.size.Cols), min(size.Rows, v.size.Rows)}
		}
	}
	return size
}

// setSize records the size, if it is another than before. log.mu is held; sizer tells the pty.
func (t *Terminal) setSize(size Size) {
	if size != t.log.size() {
		t.log.resize(size)
		t.recordStep(Step{Kind: StepResized, From: t.log.clean, Size: size})
		signal(t.resized)
	}
}

// sizer keeps the pty at the terminal's size until the terminal ends. A size is in the log before the pty has it, so
// what the program draws for it always comes after it.
func (t *Terminal) sizer() {
	for {
		select {
		case <-t.closing:
			return
		case <-t.resized:
		case <-t.nudged:
			size, head := t.sizeNow()
			if size.Rows > 1 {
				size.Rows--
			} else {
				size.Rows++
			}
			t.setPtySize(size)
			if !t.awaitDrawing(head) {
				return
			}
		}
		size, _ := t.sizeNow()
		t.setPtySize(size)
	}
}

// awaitDrawing waits for output after head, for as long as a nudge may last and nothing else changes the size. It reports
// false when the terminal ends.
func (t *Terminal) awaitDrawing(head int64) bool {
	for range nudgeLooks {
		select {
		case <-t.closing:
			return false
		case <-t.resized:
			return true
		case <-time.After(nudgeTime):
		}
		if _, now := t.sizeNow(); now > head {
			break
		}
	}
	return true
}

// nudge makes the program draw its whole screen again: the pty alone is a row smaller for a moment. It never blocks.
func (t *Terminal) nudge() { signal(t.nudged) }

// sizeNow returns the terminal's size and the end of its log.
func (t *Terminal) sizeNow() (size Size, head int64) {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return t.log.size(), t.log.clean
}

// setPtySize sets the window size, which sends SIGWINCH when it differs. A pty that is closed by now needs no size.
func (t *Terminal) setPtySize(size Size) {
	_ = t.child.control(func(fd uintptr) {
		_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(size.Cols), Row: uint16(size.Rows)})
	})
}

// signal fills a one-slot channel. It never blocks.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
