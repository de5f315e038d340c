package sharing

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"tandem/ptymgr"
)

// Terminal is a ptymgr.Terminal by the rules of sharing. All methods are safe for concurrent use. Those that a client
// may not call return ErrNotFound if it may not know of the terminal, else a *Refusal.
type Terminal struct {
	m       *Manager
	pty     *ptymgr.Terminal
	feed    *ptymgr.Feed // of a terminal that runs at a client, its holder; nil for all others
	created time.Time
	maker   holder // as it was when the terminal was made: a client's claim

	// Guarded by Manager.mu.
	holder  holder // changed with keys held as well
	back    holder // the person's client that held the terminal last or made it; zero before one did
	mode    Mode
	modeSet bool                 // by the person
	floor   int64                // offset before which programs are shown nothing
	allowed map[string]bool      // programs, by key, that need not ask for it
	refused map[string]time.Time // programs, by key, that must not ask for it until then
	watches []*watch
	viewers map[*Viewer]struct{} // programs'
	gone    bool

	keys      sync.Mutex // guards what follows; taken after Manager.mu, and never while calling the observer
	takesBack bool       // the person's next key does
	typed     time.Time  // when the person typed last
}

// Info is a snapshot of a terminal for lists.
type Info struct {
	ptymgr.Info
	Claim Claim
	Mode  Mode
	Maker Identity
}

// ID returns the terminal's id. It takes no lock.
func (t *Terminal) ID() string { return t.pty.ID() }

// Pty returns the terminal itself, for doors that read its log: they must heed its Access. It takes no lock.
func (t *Terminal) Pty() *ptymgr.Terminal { return t.pty }

// Info returns a snapshot of the terminal for the client.
func (t *Terminal) Info(c *Client) (Info, error) {
	shown := t.pty.Info() // it reads files: not with the lock held
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if err := t.may(c, reading); err != nil {
		return Info{}, err
	}
	return Info{shown, t.holder.claim, t.mode, t.maker.identity}, nil
}

// situation returns what decides what the client may do here. mu is held.
func (t *Terminal) situation(c *Client) situation {
	s := t.m.situation(c)
	s.held, s.mode = t.holder.kind(), t.modeFor(c, false)
	s.made, s.free = c.acts(t.maker), t.free()
	s.remote, s.owns = t.Remote(), t.owns(c)
	switch {
	case c.isPerson() || !c.acts(t.holder):
	case s.held == sessionHolds:
		s.who = sessionSide
	case c.id == "" || c.id == t.holder.claim.Client:
		s.who = holding
	}
	return s
}

// may returns why the client may not do this, or nil. mu is held.
func (t *Terminal) may(c *Client, a act) error {
	if t.gone {
		return ErrNotFound
	}
	return t.situation(c).may(a)
}

// Input types p. The person's first key takes the terminal back from a program's client, before it is delivered. It
// never blocks. It returns ptymgr.ErrInputFull or ptymgr.ErrExited as well.
func (t *Terminal) Input(by By, p []byte) error {
	if t.typesFreely(by.Client, p) {
		return t.pty.Input(p)
	}
	return t.drive(by.Client, p, t.pty.Input)
}

// typesFreely reports whether the client may type without further ado, and notes that the person does.
func (t *Terminal) typesFreely(c *Client, p []byte) bool {
	if !c.isPerson() || t.Remote() {
		return false
	}
	t.keys.Lock()
	defer t.keys.Unlock()
	if len(p) > 0 {
		t.typed = t.m.cfg.now()
	}
	return !t.takesBack
}

// drive is Input for everybody. The lock is held while p is delivered, so that nothing a program types comes after the
// key that takes the terminal back.
func (t *Terminal) drive(c *Client, p []byte, deliver func([]byte) error) error {
	m := t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := t.may(c, typing); err != nil {
		return err
	}
	if t.situation(c).takesBack() && len(p) > 0 && t.alive() {
		t.give(c.holder())
		t.announce(By{})
	}
	return deliver(p)
}

// alive reports whether the terminal takes input.
func (t *Terminal) alive() bool {
	select {
	case <-t.pty.Done():
		return false
	default:
		return true
	}
}

// Resize sets the terminal's size, for doors that do not show it. It is refused while a browser shows the terminal, unless
// the terminal runs at the client that says so.
func (t *Terminal) Resize(by By, size ptymgr.Size) error {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if err := t.may(by.Client, resizing); err != nil {
		return err
	}
	if t.Remote() {
		return t.feed.Resize(size)
	}
	err := t.pty.Resize(size)
	if errors.Is(err, ptymgr.ErrShown) {
		return errShown
	}
	return err
}

// Clear drops the scrollback before the current line for everybody.
func (t *Terminal) Clear(by By) error {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if err := t.may(by.Client, clearing); err != nil {
		return err
	}
	t.pty.Clear()
	return nil
}

// Rename sets the title; "" gives it back to what runs in the terminal. It returns an error for a title that
// ptymgr.CheckName does not take.
func (t *Terminal) Rename(by By, title string) error {
	if err := ptymgr.CheckName(title); err != nil {
		return fmt.Errorf("title: %w", err)
	}
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if err := t.may(by.Client, renaming); err != nil {
		return err
	}
	t.pty.Rename(title)
	return nil
}
