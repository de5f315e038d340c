package ptymgr

import (
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

// nudgeTime is how long a nudge lasts: long enough for a program to see it and draw.
const nudgeTime = 50 * time.Millisecond

// fit gives the terminal the smallest size among the viewers that show it and have said theirs; while none does, the
// size stays. log.mu is held; sizer tells the pty.
func (t *Terminal) fit() {
	var size Size
	for v := range t.pacing.viewers {
		switch {
		case !v.visible || v.size == Size{}:
		case size == Size{}:
			size = v.size
		default:
			size = Size{min(size.Cols, v.size.Cols), min(size.Rows, v.size.Rows)}
		}
	}
	if size != (Size{}) && size != t.log.size() && !t.log.sealed {
		t.log.resize(size)
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
			size := t.sizeNow()
			if size.Rows > 1 {
				size.Rows--
			} else {
				size.Rows++
			}
			t.setPtySize(size)
			select {
			case <-t.closing:
				return
			case <-time.After(nudgeTime):
			}
		}
		t.setPtySize(t.sizeNow())
	}
}

// nudge makes the program draw its whole screen again: the pty alone is a row smaller for a moment. It never blocks.
func (t *Terminal) nudge() { signal(t.nudged) }

func (t *Terminal) sizeNow() Size {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return t.log.size()
}

// setPtySize sets the window size, which sends SIGWINCH when it differs. A pty that is closed by now needs no size.
func (t *Terminal) setPtySize(size Size) {
	_ = t.control(func(fd uintptr) {
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
