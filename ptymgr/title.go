package ptymgr

import (
	"cmp"
	"time"

	"tandem/ptymgr/vt"
)

// titleEvery is the least time between two changes of the title that viewers are told of.
const titleEvery = 100 * time.Millisecond

// titleSettle is how long after the last output the foreground process is looked at once more: a program that was just
// started may print nothing.
const titleSettle = 400 * time.Millisecond

// liveState is what the program has said of itself by the end of the log. Guarded by log.mu.
type liveState struct {
	title    string // OSC 0 or 2; "" if none
	dir      string // told by the shell: OSC 7, or OSC 633;P;Cwd; "" if none
	altSince int64  // where the present alternate screen was entered; -1 while on the main screen
}

func (s *liveState) update(scan *vt.Scanner) {
	s.title, s.altSince = scan.Title(), scan.AltSince()
}

// title returns the title that viewers are to be told. log.mu is held.
func (t *Terminal) title() string {
	if t.name != "" {
		return t.name
	}
	return t.shown
}

// Rename sets the title for good; "" gives it back to the program.
func (t *Terminal) Rename(title string) {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	t.name = title
	t.retitled()
}

// titler keeps the shown title true while the terminal lives: the program's, else the name of what runs in the
// foreground. The latest wins.
func (t *Terminal) titler() {
	settle := time.NewTimer(0)
	defer settle.Stop()
	for {
		select {
		case <-t.closing:
			return
		case <-t.dirty:
			settle.Reset(titleSettle)
		case <-settle.C:
		}
		t.updateTitle()
		select {
		case <-t.closing:
			return
		case <-time.After(titleEvery):
		}
	}
}

func (t *Terminal) updateTitle() {
	name, pid, _ := t.foreground()
	dir := workingDir(pid)
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	t.show(name, dir)
}

// show tells viewers of the program's title and directory, or of these if it has not said any. log.mu is held.
func (t *Terminal) show(title, dir string) {
	title = cmp.Or(t.live.title, title, t.shown)
	dir = cmp.Or(t.live.dir, dir, t.dir)
	if t.shown != title || t.dir != dir {
		t.shown, t.dir = title, dir
		t.retitled()
	}
}

// retitled tells everybody that the title or directory may have changed. log.mu is held.
func (t *Terminal) retitled() {
	t.log.wakeAll()
	t.tapped(false)
}

// foreground returns the name and pid of the process in the foreground, and whether it is something other than the
// terminal's own process. In one whose process runs elsewhere nothing is.
func (t *Terminal) foreground() (name string, pid int, busy bool) {
	_ = t.child.control(func(fd uintptr) { name, pid, busy = foreground(fd, t.child.pid()) })
	return name, pid, busy
}
