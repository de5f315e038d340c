package sharing

import (
	"slices"
	"time"
)

// watch is one reason why a client counts as watching a terminal.
type watch struct{ client *Client }

// Watch makes the client one that watches the terminal, until stop is called, which may be done more than once. It is for
// doors that read the log by themselves; Attach does it too. It returns ErrNotFound or a *Refusal for a client that may
// not read the terminal.
func (t *Terminal) Watch(c *Client) (stop func(), err error) {
	m := t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := t.may(c, reading); err != nil {
		return nil, err
	}
	w := t.watch(c)
	m.changed()
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		t.unwatch(w)
	}, nil
}

// watch adds a watch. mu is held; the caller must tell of the change.
func (t *Terminal) watch(c *Client) *watch {
	w := &watch{c}
	t.watches = append(t.watches, w)
	return w
}

// unwatch ends a watch, unless it has ended. mu is held.
func (t *Terminal) unwatch(w *watch) {
	i := slices.Index(t.watches, w)
	if i < 0 {
		return
	}
	t.watches = slices.Delete(t.watches, i, i+1)
	if !t.gone {
		t.m.changed()
	}
}

// endForPrograms ends what those do with the terminal who may not see it any more, as its disposal would. mu is held; the caller must tell of
// the change.
func (t *Terminal) endForPrograms() {
	sees := t.access().Sees
	for v := range t.viewers {
		if !sees(v.client.identity) {
			v.end()
			delete(t.viewers, v)
		}
	}
	t.watches = slices.DeleteFunc(t.watches, func(w *watch) bool { return !sees(w.client.identity) })
}

// expiry returns when a grace of somebody who is away ends; ok is false while they are there. mu is held.
func (m *Manager) expiry(a *attendance, grace time.Duration) (at time.Time, ok bool) {
	switch {
	case a == nil: // forgotten, which takes at least the grace
		return time.Time{}, true
	case a.joined > 0:
		return time.Time{}, false
	default:
		return a.left.Add(grace), true
	}
}

// gone reports whether somebody has been away for longer than the grace. mu is held.
func (m *Manager) gone(a *attendance) bool { return m.awayFor(a, m.cfg.Grace) }

// awayFor is gone for another grace. mu is held.
func (m *Manager) awayFor(a *attendance, grace time.Duration) bool {
	at, away := m.expiry(a, grace)
	return away && !m.cfg.now().Before(at)
}

// attendance returns that of whoever drives the terminal: of a session, the program that acts for it. mu is held.
func (t *Terminal) attendance() *attendance {
	if t.holder.claim.Session != nil {
		return t.m.identities.all[t.holder.identity.Key()]
	}
	return t.m.clients.all[t.holder.claim.Client]
}

// free reports whether the holder, a program at a program's own terminal, has gone for good. mu is held.
func (t *Terminal) free() bool {
	return t.maker.identity.Kind == Program && t.holder.identity.Kind == Program && t.m.gone(t.attendance())
}

// returns reports whether the terminal comes back to the person once its holder has gone for good.
func (t *Terminal) returns() bool {
	return t.maker.identity.Kind == Person && t.holder.identity.Kind == Program
}

// expire does what is due because somebody is away: a program's claim on the person's terminal returns, what a program
// asked for is forgotten, and a terminal that ran at a client is removed.
func (m *Manager) expire() {
	m.remove(m.expired())
}

// expired is expire, but for terminals that are to be removed, which it returns.
func (m *Manager) expired() []*Terminal {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	for _, t := range m.terminals {
		if t.returns() && m.gone(t.attendance()) {
			t.give(t.back)
			t.announce(By{})
		}
	}
	waiting := len(m.requests)
	m.withdraw(func(r *request) bool { return m.gone(m.clients.all[r.asker]) })
	if len(m.requests) < waiting {
		m.changed()
	}
	orphans := m.endOrphans()
	m.schedule()
	return orphans
}

// schedule has expire called when it is next needed. mu is held.
func (m *Manager) schedule() {
	var next time.Time
	due := false
	consider := func(a *attendance, grace time.Duration) {
		if at, away := m.expiry(a, grace); away && (!due || at.Before(next)) {
			next, due = at, true
		}
	}
	for _, t := range m.terminals {
		switch {
		case t.livesElsewhere():
			consider(t.attendance(), m.cfg.RemoteGrace)
		case t.returns():
			consider(t.attendance(), m.cfg.Grace)
		}
	}
	for _, r := range m.requests {
		consider(m.clients.all[r.asker], m.cfg.Grace)
	}
	if !due || m.closed {
		m.timer.Stop()
		return
	}
	m.timer.Reset(max(next.Sub(m.cfg.now()), time.Millisecond))
}
