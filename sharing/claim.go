package sharing

import (
	"cmp"
	"errors"
	"time"
	"unicode/utf8"
)

// typingTime is how long after a person's key programs claim nothing.
const typingTime = 2 * time.Second

// maxSessionField is the longest part of a session's claim, in bytes.
const maxSessionField = 1024

// Claim says what drives a terminal: exactly one of a client and a session.
type Claim struct {
	Client  string // a client id
	Session *Session
}

// Session is an agent's session in a claim. It is never changed once it is in one.
type Session struct {
	URI        string
	Chat       string // of the session; may be ""
	TurnID     string // with ToolCallID, for what the session uses the terminal; both "" while it only keeps it
	ToolCallID string
}

// By is who does something, and the client's own number for it, 0 for none. The zero By is the host itself.
type By struct {
	Client *Client
	Seq    int64
}

// check returns why the claim is none.
func (c Claim) check() error {
	if (c.Client == "") == (c.Session == nil) {
		return errors.New("a claim names a client or a session")
	}
	if s := c.Session; s != nil {
		if s.URI == "" {
			return errors.New("a session's claim needs the session's URI")
		}
		for _, field := range []string{s.URI, s.Chat, s.TurnID, s.ToolCallID} {
			if len(field) > maxSessionField || !utf8.ValidString(field) {
				return errors.New("a session's claim has parts of at most 1024 bytes of text")
			}
		}
	}
	return nil
}

// holder is a claim and whom it makes act: the client's identity, or the one that acts for the session.
type holder struct {
	claim    Claim
	identity Identity
}

// kind returns what the holder is in the table.
func (h holder) kind() holderKind {
	switch {
	case h.claim.Session != nil:
		return sessionHolds
	case h.identity.Kind == Program:
		return programHolds
	default:
		return personHolds
	}
}

// Claim gives the terminal to a client or a session. It returns a *Refusal when it may not be, with AskedReason when the
// person was asked; if they consent, the claim is made then. A terminal that runs at a client stays that client's.
func (t *Terminal) Claim(by By, claim Claim) error {
	if err := claim.check(); err != nil {
		return err
	}
	c, m := by.Client, t.m
	trusted := m.trusts(c)
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.gone {
		return ErrNotFound
	}
	s := t.situation(c)
	s.mode = t.modeFor(c, trusted)
	if err := s.admits(claiming); err != nil {
		return err
	}
	if t.Remote() {
		return errStays
	}
	next, to, err := t.aim(c, claim)
	if err != nil {
		return err
	}
	err = s.mayClaim(to)
	if err != nil && err != errAsked {
		return err
	}
	if s.guarded(to) {
		if t.pty.AsksPassword() {
			return errPassword
		}
		if err == errAsked {
			return t.ask(c, next)
		}
		if !t.giveUnlessTyping(next) {
			return errTyping
		}
	} else {
		t.give(next)
	}
	t.announce(by)
	return nil
}

// trusts reports whether the client's program need not ask. It may block.
func (m *Manager) trusts(c *Client) bool {
	return !c.isPerson() && m.cfg.Trusted != nil && m.cfg.Trusted(c.identity.ID)
}

// aim returns the holder that a claim of the client's makes, and whom it is for. mu is held.
func (t *Terminal) aim(c *Client, claim Claim) (holder, target, error) {
	if claim.Session != nil {
		session := *claim.Session
		if now := t.holder.claim.Session; now != nil && now.URI == session.URI && (c.isPerson() || c.acts(t.holder)) {
			session.Chat = cmp.Or(session.Chat, now.Chat)
			to := sameSession
			if session.TurnID == "" && session.ToolCallID == "" {
				to = narrower
			}
			return holder{Claim{Session: &session}, t.holder.identity}, to, nil
		}
		return holder{Claim{Session: &session}, c.identity}, ownSession, nil
	}
	known := t.m.clients.all[claim.Client]
	if known == nil || known.identity.Kind == Program && t.m.gone(known) {
		return holder{}, 0, errNoClient
	}
	next := holder{claim, known.identity}
	switch {
	case !known.identity.reads() || !known.identity.writes():
		return holder{}, 0, errCannotDrive
	case known.identity.Kind == Program && t.mode == Private:
		return holder{}, 0, errPrivate
	case c.acts(next):
		return next, ownClient, nil
	case known.identity.Kind == Person:
		return next, personClient, nil
	default:
		return next, otherClient, nil
	}
}

// acts reports whether the holder is of the client's identity.
func (c *Client) acts(h holder) bool { return h.identity.Key() == c.identity.Key() }

// give makes next the holder. mu is held; the caller must announce it.
func (t *Terminal) give(next holder) {
	t.keys.Lock()
	defer t.keys.Unlock()
	t.hold(next)
}

// giveUnlessTyping is give, unless the person has just typed.
func (t *Terminal) giveUnlessTyping(next holder) bool {
	t.keys.Lock()
	defer t.keys.Unlock()
	if t.typing() {
		return false
	}
	t.hold(next)
	return true
}

// hold sets the holder. mu and keys are held.
func (t *Terminal) hold(next holder) {
	t.holder = next
	if next.kind() == personHolds {
		t.back = next
	}
	t.takesBack = next.kind() == programHolds
}

// typing reports whether the person typed just now. keys is held.
func (t *Terminal) typing() bool { return t.m.cfg.now().Sub(t.typed) < typingTime }

// typingNow is typing for callers that do not hold keys.
func (t *Terminal) typingNow() bool {
	t.keys.Lock()
	defer t.keys.Unlock()
	return t.typing()
}

// announce lets everybody know who holds the terminal now. mu is held.
func (t *Terminal) announce(by By) {
	m, key := t.m, t.holder.identity.Key()
	m.withdraw(func(r *request) bool { return r.terminal == t && r.next.identity.Key() == key }) // it has what it asked for
	for v := range t.viewers {
		v.inner.SetWritable(t.writable(v.client))
	}
	m.observer.Claimed(t, t.holder.claim, by)
	m.schedule()
	m.changed()
}
