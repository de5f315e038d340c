package ahp

import (
	"tandem/ahp/wire"
	"tandem/sharing"
)

// observer is the Host as the sharing.Manager knows it. Its methods are called one at a time, with the Manager's lock
// held.
type observer Host

var _ sharing.Observer = (*observer)(nil)

func (o *observer) lock() *Host {
	h := (*Host)(o)
	h.mu.Lock()
	return h
}

// Created opens the terminal's channel.
func (o *observer) Created(shared *sharing.Terminal, claim sharing.Claim, access sharing.Access, by sharing.By) {
	h := o.lock()
	defer h.mu.Unlock()
	uri := h.naming[by.Client]
	if uri == "" {
		uri = wire.TerminalScheme + ":/" + shared.ID()
	}
	c := h.newChannel(uri, maxEvents)
	t := &terminal{
		channel: c, shared: shared, pty: shared.Pty(), dirty: make(chan struct{}, 1), gone: make(chan struct{}),
		claim: claim, access: access, opened: h.seq,
	}
	if shared.Remote() {
		t.owner = keyOf(by.Client.Identity(), claim.Client)
	}
	c.terminal = t
	t.tap = t.pty.Tap(func() { signal(t.dirty) })
	t.start, _ = t.pty.Bounds()
	t.cut = t.tap.From()
	info := t.pty.Info()
	t.title, t.dir, t.size, t.exit = info.Title, info.Dir, info.Size, info.Exit
	h.terminals = append(h.terminals, t)
	h.byTerminal[shared] = t
	h.recordList()
	h.follows.Go(t.follow)
}

// Claimed tells who holds the terminal now.
func (o *observer) Claimed(shared *sharing.Terminal, claim sharing.Claim, by sharing.By) {
	h := o.lock()
	defer h.mu.Unlock()
	t := h.byTerminal[shared]
	if t == nil {
		return
	}
	t.advance()
	t.claim = claim
	t.channel.record(event{action: wire.TerminalClaimed{Claim: wireClaim(claim)}, origin: originOf(by)})
	h.recordList()
}

// AccessChanged ends the subscriptions of those who may not see the terminal any more: for them it is gone.
func (o *observer) AccessChanged(shared *sharing.Terminal, access sharing.Access) {
	h := o.lock()
	defer h.mu.Unlock()
	t := h.byTerminal[shared]
	if t == nil {
		return
	}
	t.advance()
	if program := (sharing.Identity{Kind: sharing.Program}); access.Floor(program) != t.access.Floor(program) {
		t.opened = h.seq
	}
	t.access = access
	for s := range t.channel.subs {
		if !access.Sees(s.conn.identity) {
			s.conn.drop(s)
		}
	}
	h.recordList()
}

// Removing tells the owner of a terminal that runs at a client, and those who watch it, that it has ended.
func (o *observer) Removing(shared *sharing.Terminal) {
	h := o.lock()
	defer h.mu.Unlock()
	t := h.byTerminal[shared]
	if t == nil || !shared.Remote() {
		return
	}
	t.advance()
	if t.exit == nil {
		return
	}
	e := event{seq: h.number(), action: wire.TerminalExited{ExitCode: &t.exit.Code}}
	for c := range h.connections {
		s := c.subscribed(t.channel)
		switch {
		case s != nil:
			if s.position() < t.ended {
				c.tellLocked(s.name, e, 0)
			}
			c.drop(s) // this is the last thing that is told
		case c.key == t.owner:
			c.tellLocked(t.channel.uri, e, 0)
		}
	}
}

// Removed closes the terminal's channel.
func (o *observer) Removed(shared *sharing.Terminal) {
	h := o.lock()
	defer h.mu.Unlock()
	if t := h.byTerminal[shared]; t != nil {
		h.remove(t)
		h.recordList()
	}
}

// SharingChanged tells the person's clients.
func (o *observer) SharingChanged(overview sharing.Overview) {
	h := o.lock()
	defer h.mu.Unlock()
	h.overview = overview
	h.sharingChannel.record(event{action: wire.SharingChanged{State: h.sharingState()}})
}

// PausedChanged stops what programs are sent, or lets it go on.
func (o *observer) PausedChanged(paused bool) {
	h := o.lock()
	defer h.mu.Unlock()
	h.paused = paused
	for c := range h.connections {
		signal(c.wake)
	}
}

// originOf returns the origin of what a client did, nil for what the host did by itself or what came by another door.
func originOf(by sharing.By) *wire.Origin {
	if by.Client == nil || by.Seq == 0 {
		return nil
	}
	return &wire.Origin{ClientID: by.Client.ID(), ClientSeq: by.Seq}
}
