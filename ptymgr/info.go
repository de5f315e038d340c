package ptymgr

import (
	"cmp"
	"time"
)

// Info is a snapshot of a terminal for lists.
type Info struct {
	ID         string
	Title      string // given by the person, else set by the program, else the foreground process
	Dir        string // current directory: as the shell told, else of the foreground process; "" if unknown
	Size       Size
	PID        int  // 0 for a remote terminal
	Remote     bool // its process runs elsewhere
	Created    time.Time
	Viewers    int
	Foreground string // name of the foreground process; "" after exit
	Busy       bool   // whether something other than the shell itself runs in the foreground
	Command    string // line of the command that runs, as its shell marked it; "" if none
	Exit       *Exit  // nil while the process runs
}

// Info returns a snapshot for lists. It reads /proc while the process runs.
func (t *Terminal) Info() Info {
	var foreground, dir string
	var busy bool
	if !t.hasExited() {
		var pid int
		foreground, pid, busy = t.foreground()
		dir = workingDir(pid)
	}
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	info := Info{
		ID: t.id, Title: t.title(), Dir: cmp.Or(t.live.dir, dir, t.dir), Size: l.size(), PID: t.child.pid(), Remote: t.Remote(), Created: t.created,
		Viewers: len(t.pacing.viewers), Foreground: foreground, Busy: busy, Exit: t.exit,
	}
	if c := t.commands.running(); c != nil {
		info.Command = c.Line
	}
	if info.Title == "" {
		info.Title = foreground
	}
	return info
}

func (t *Terminal) hasExited() bool {
	select {
	case <-t.closing:
		return true
	default:
		return false
	}
}

func (t *Terminal) viewers() int {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return len(t.pacing.viewers)
}
