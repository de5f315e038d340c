package ptymgr

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// DefaultMaxRemote is how many live remote terminals a Manager allows when Config.MaxRemote is zero.
const DefaultMaxRemote = 10

// maxDir bounds the directory of a remote terminal, in bytes. It is PATH_MAX of Linux.
const maxDir = 4096

// remoteTitle is that of a remote terminal which was given none and has not set one itself.
const remoteTitle = "terminal"

// ErrRemote reports what only a terminal whose process runs here can do.
var ErrRemote = errors.New("the terminal runs elsewhere: type, and change its size, where it runs")

// LostCode is the exit code of a remote terminal that ended with nobody there to tell how.
const LostCode = -1

// RemoteSpec describes a terminal whose process runs elsewhere.
type RemoteSpec struct {
	Name string // title given by the person; sticks; at most 256 bytes; "" leaves it to the terminal's output
	Dir  string // current directory there, at most 4096 bytes, in the words of the system there; "" if unknown
	Size Size   // zero means 80×24
}

func (spec *RemoteSpec) check() error {
	if err := spec.Size.check(); err != nil {
		return &SpecError{"size", err}
	}
	if err := CheckName(spec.Name); err != nil {
		return &SpecError{"name", err}
	}
	switch dir := spec.Dir; {
	case len(dir) > maxDir:
		return &SpecError{"cwd", fmt.Errorf("longer than %d bytes", maxDir)}
	case !utf8.ValidString(dir) || strings.ContainsFunc(dir, isControl):
		return &SpecError{"cwd", errors.New("contains control characters or invalid UTF-8")}
	}
	return nil
}

// Feed is where a remote terminal's output comes in: what is written to it is what the terminal shows. Its methods are
// safe for concurrent use and never block.
type Feed struct {
	t *Terminal

	mu    sync.Mutex // makes its owner the log's appender; guards ended; taken before Manager.mu and log.mu
	ended bool
}

// CreateRemote makes a terminal whose process runs elsewhere, and returns what feeds it. The terminal is in the lists and
// is attached to, tapped and disposed of like any other, but nothing can be typed in it, viewers have no say in its size,
// and queries in its output are masked for all of them: whoever shows the terminal where it runs answers. It returns a
// *LimitError when Config.MaxRemote of them are live, which do not count among the others, a *SpecError, and ErrClosed after
// Close.
func (m *Manager) CreateRemote(spec RemoteSpec) (*Feed, error) {
	if spec.Size == (Size{}) {
		spec.Size = defaultSize
	}
	if err := spec.check(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	if m.remote >= m.cfg.MaxRemote {
		return nil, &LimitError{Limit: m.cfg.MaxRemote, Remote: true}
	}
	m.remote++
	f := &Feed{}
	f.t = &Terminal{
		id: newID(), created: time.Now(), remote: f, log: newLog(m.cfg.LogBytes, spec.Size), input: closedInput(ErrRemote),
		counters: &m.counters, name: spec.Name, ended: m.exited, pacing: newPacing(), closing: make(chan struct{}),
		live: liveState{altSince: -1}, shown: remoteTitle, dir: spec.Dir,
	}
	f.t.lastInput.Store(-int64(typingTime))
	m.terminals = append(m.terminals, f.t)
	m.cfg.Logger.Info("remote terminal started", "terminal", f.t.id)
	return f, nil
}

// Terminal returns the terminal that is fed.
func (f *Feed) Terminal() *Terminal { return f.t }

// Write appends p to the terminal's output in one piece. It returns ErrExited, and nothing is appended, after the end.
func (f *Feed) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return 0, ErrExited
	}
	t := f.t
	for rest := p; len(rest) > 0; {
		n := copy(t.log.space(), rest)
		t.append(n)
		rest = rest[n:]
	}
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	t.show("", "")
	return len(p), nil
}

// Resize says what size the terminal has where it runs. It returns ErrExited after the end, or an error outside
// 1..MaxCells.
func (f *Feed) Resize(size Size) error {
	if err := size.check(); err != nil {
		return err
	}
	t := f.t
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	if t.log.sealed {
		return ErrExited
	}
	t.setSize(size)
	return nil
}

// End says how the process ended: no more output comes. It returns ErrExited if it had ended before.
func (f *Feed) End(exit Exit) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return ErrExited
	}
	f.ended = true
	f.t.finish(exit)
	return nil
}

// Remote reports whether the terminal's process runs elsewhere.
func (t *Terminal) Remote() bool { return t.remote != nil }
