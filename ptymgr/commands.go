package ptymgr

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"time"

	"tandem/ptymgr/vt"
)

// maxCommands is how many commands of a terminal are kept.
const maxCommands = 1000

// Command is one command that a shell ran, as its marks (OSC 633 or OSC 133) tell. It is a copy that never changes.
type Command struct {
	ID       string        // "c1", "c2", …: unique in the terminal, in the order of the commands
	Line     string        // command line: valid UTF-8, no controls but newline and tab; "" if unknown
	Dir      string        // directory it was started in, an absolute path; "" if unknown
	Start    int64         // its output is [Start, End) of the log, which may have dropped it
	End      int64         // -1 while it runs
	Started  time.Time     // when it started, by the server's clock
	Duration time.Duration // 0 while it runs
	Exit     *int          // exit status; nil while it runs, and if unknown; never changed
}

// Commands returns the newest 1000 commands, oldest first, but for those that ended and whose output was cleared.
func (t *Terminal) Commands() []Command {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Command
	for _, c := range t.commands.newest() {
		if c.runs() || c.Start >= l.floor {
			list = append(list, c)
		}
	}
	return list
}

// Command returns the command with this id, if it is among Commands.
func (t *Terminal) Command(id string) (Command, bool) {
	list := t.Commands()
	i := slices.IndexFunc(list, func(c Command) bool { return c.ID == id })
	if i < 0 {
		return Command{}, false
	}
	return list[i], true
}

func (c *Command) runs() bool { return c.End < 0 }

// history holds a terminal's newest commands. At most the last one runs. Guarded by log.mu.
type history struct {
	nonce    string    // what makes marks true; "" if any are
	detected int64     // offset of the first one
	detects  bool      // there was one
	line     string    // of the command to come
	dir      string    // where the shell is, as its marks tell; "" if they do not
	kept     []Command // oldest first; a few more than maxCommands, so that dropping the oldest costs little
	dropped  int       // commands before those
}

// take changes the commands as a mark says, whose bytes start at offset base, and reports whether there is anything to
// tell.
func (h *history) take(m *vt.Mark, base int64, dir string, now time.Time) bool {
	told := h.total()
	running := h.running()
	first := !h.detects
	if first {
		h.detects, h.detected = true, base+int64(m.From)
	}
	switch m.Kind {
	case vt.MarkPrompt:
		h.line = ""
	case vt.MarkLine:
		h.line = m.Line
	case vt.MarkExecuted:
		h.finish(base+int64(m.From), nil, now)
		h.start(Command{Line: cmp.Or(h.line, m.Line), Dir: dir, Start: base + int64(m.To), End: -1, Started: now})
		h.line = ""
	case vt.MarkFinished:
		h.finish(base+int64(m.From), m.Code, now)
	}
	return first || h.total() != told || h.running() != running
}

func (h *history) start(c Command) {
	if len(h.kept) == maxCommands+maxCommands/4 {
		h.dropped += len(h.kept) - maxCommands
		h.kept = slices.Delete(h.kept, 0, len(h.kept)-maxCommands)
	}
	id := [20]byte{'c'}
	c.ID = string(strconv.AppendInt(id[:1], int64(h.total()+1), 10))
	h.kept = append(h.kept, c)
}

// finish ends the command that runs, if one does.
func (h *history) finish(at int64, exit *int, now time.Time) {
	if c := h.running(); c != nil {
		c.End, c.Exit, c.Duration = at, exit, max(now.Sub(c.Started), 0)
	}
}

// running returns the command that runs, or nil.
func (h *history) running() *Command {
	if n := len(h.kept); n > 0 && h.kept[n-1].runs() {
		return &h.kept[n-1]
	}
	return nil
}

// newest returns the commands that count.
func (h *history) newest() []Command { return h.kept[max(len(h.kept)-maxCommands, 0):] }

// total returns how many commands there were.
func (h *history) total() int { return h.dropped + len(h.kept) }

// commandCursor is a reader's place among the starts and ends of commands.
type commandCursor struct {
	next int      // number of the command whose start comes next, from 0
	open *Command // told to have started, and not to have finished
}

// atEnd returns the cursor of a reader that has been told of everything but the command that runs.
func (h *history) atEnd() commandCursor {
	if h.running() != nil {
		return commandCursor{next: h.total() - 1}
	}
	return commandCursor{next: h.total()}
}

// at returns the cursor of a reader that knows nothing, and reads the log from offset on. It will be told of the command
// that runs there, if that started at or after floor.
func (h *history) at(offset, floor int64) commandCursor {
	i := h.search(offset)
	if i > 0 && h.kept[i-1].Start >= floor && (h.kept[i-1].runs() || h.kept[i-1].End > offset) {
		i--
	}
	return commandCursor{next: h.dropped + i}
}

// after returns the cursor of a reader that knows what happened before offset. Of what was at offset it may not.
func (h *history) after(offset, floor int64) commandCursor {
	i := h.search(offset)
	c := commandCursor{next: h.dropped + i}
	if i > 0 && h.kept[i-1].Start >= floor && (h.kept[i-1].runs() || h.kept[i-1].End >= offset) {
		c.open = h.kept[i-1].asStarted()
	}
	return c
}

// search returns the index of the first command that is kept and started at or after offset.
func (h *history) search(offset int64) int {
	return sort.Search(len(h.kept), func(i int) bool { return h.kept[i].Start >= offset })
}

// asStarted returns the command as it was when it started.
func (c *Command) asStarted() *Command {
	started := *c
	started.End, started.Duration, started.Exit = -1, 0, nil
	return &started
}

// upcoming returns the offset of what the reader is to be told next, and whether it is a start. It is beyond every offset
// if there is nothing, and before if what it would be is not kept any more.
func (h *history) upcoming(c *commandCursor) (offset int64, start bool) {
	if c.open != nil {
		switch i := c.next - 1 - h.dropped; {
		case i < 0:
			return 0, false
		case h.kept[i].runs():
			return math.MaxInt64, false
		default:
			return h.kept[i].End, false
		}
	}
	c.next = max(c.next, h.dropped)
	if c.next == h.total() {
		return math.MaxInt64, false
	}
	return h.kept[c.next-h.dropped].Start, true
}

// tell returns what is upcoming, and moves the cursor past it. A command whose end is not kept any more ends at offset
// pos, where the reader is.
func (h *history) tell(c *commandCursor, pos int64) *Command {
	if c.open == nil {
		c.open = h.kept[c.next-h.dropped].asStarted()
		c.next++
		return c.open
	}
	told := *c.open
	if i := c.next - 1 - h.dropped; i >= 0 {
		told = h.kept[i]
	} else {
		told.End = pos
	}
	c.open = nil
	return &told
}

// marked takes in the marks that were just found in what the log got from offset base on. log.mu is held.
func (t *Terminal) marked(base int64) {
	marks := t.log.found.Marks
	if len(marks) == 0 {
		return
	}
	h, now, news := &t.commands, time.Now(), false
	for i := range marks {
		m := &marks[i]
		switch {
		case m.Kind == vt.MarkURI:
			t.live.dir = m.Cwd
			continue
		case h.nonce != "" && m.Nonce != h.nonce:
			continue // anybody could have printed it
		case m.Kind == vt.MarkProperty && m.Cwd != "":
			h.dir = m.Cwd
			t.moved(h.dir)
		case m.Kind == vt.MarkPrompt && h.nonce != "" && h.dir != "":
			t.moved(h.dir) // back from whatever told of another
		}
		if h.take(m, base, cmp.Or(t.live.dir, h.dir, t.dir), now) {
			news = true
		}
	}
	if news {
		t.tapped(false)
	}
}

// moved takes in the directory that the shell marked. It is told at once if that cannot be somebody who changes it all the
// time. log.mu is held.
func (t *Terminal) moved(dir string) {
	if t.live.dir != dir {
		t.live.dir = dir
		if t.commands.nonce != "" {
			t.show("", "")
		}
	}
}
