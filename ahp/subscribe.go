package ahp

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

// maxNames is how many channels one request may name.
const maxNames = 256

// checkNames returns the error for a request that names too many channels.
func checkNames(field string, n int) *wire.Error {
	if n > maxNames {
		return invalid(fmt.Sprintf("%s names %d channels: at most %d are taken", field, n, maxNames))
	}
	return nil
}

// subscribe adds a channel to what the client is sent and returns its state.
func (c *connection) subscribe(params json.RawMessage) (any, *wire.Error) {
	p, err := wire.ParseSubscribe(params)
	if err != nil {
		return nil, err
	}
	latency := DefaultLatency
	if p.Delivery != nil && p.Delivery.MaxLatencyMs != nil {
		latency = time.Duration(*p.Delivery.MaxLatencyMs) * time.Millisecond
	}
	if c.host.pausedFor(c.identity) {
		return nil, &wire.Error{Code: wire.PermissionDenied, Message: sharing.PausedReason}
	}
	c.watch([]string{p.Channel})
	snapshots, _ := c.snapshotsWithin([]string{p.Channel}, latency)
	if len(snapshots) == 0 {
		return nil, notFound(p.Channel)
	}
	return wire.SubscribeResult{Snapshot: &snapshots[0]}, nil
}

// unsubscribe takes a channel away again. A channel that is not subscribed is ignored.
func (c *connection) unsubscribe(params json.RawMessage) {
	p, err := wire.ParseChannel(params)
	if err != nil {
		return
	}
	h := c.host
	h.mu.Lock()
	ch := c.lookUp(p.Channel)
	if ch == nil { // also if it is gone: then there is no subscription any more
		h.mu.Unlock()
		return
	}
	if s := c.subscribed(ch); s != nil {
		c.drop(s)
	}
	h.mu.Unlock()
	if stop := c.stops[ch.uri]; stop != nil {
		stop()
		delete(c.stops, ch.uri)
	}
}

// watch lets the person know who reads which terminals, before they are read.
func (c *connection) watch(names []string) {
	c.unwatch()
	for _, name := range names {
		c.host.mu.Lock()
		ch := c.lookUp(name)
		c.host.mu.Unlock()
		if ch == nil || ch.terminal == nil || c.stops[ch.uri] != nil {
			continue
		}
		if stop, err := ch.terminal.shared.Watch(c.client); err == nil {
			c.stops[ch.uri] = stop
		}
	}
}

// unwatch ends the watching of what the client is not subscribed to any more, because it is gone or was private for a
// while.
func (c *connection) unwatch() {
	h := c.host
	var over []func()
	h.mu.Lock()
	for uri, stop := range c.stops {
		if ch := h.channels[uri]; ch == nil || c.subscribed(ch) == nil {
			over = append(over, stop)
			delete(c.stops, uri)
		}
	}
	h.mu.Unlock()
	for _, stop := range over {
		stop()
	}
}

// snapshots subscribes the client to the channels and returns their states and the number up to which these hold. Names
// without a channel are left out.
func (c *connection) snapshots(names []string) ([]wire.Snapshot, int64) {
	if c.host.pausedFor(c.identity) {
		names = nil
	}
	c.watch(names)
	return c.snapshotsWithin(names, DefaultLatency)
}

// snapshotsWithin is snapshots for channels that are watched, whose output may wait as long as latency.
func (c *connection) snapshotsWithin(names []string, latency time.Duration) ([]wire.Snapshot, int64) {
	names = unique(names)
	for {
		drafts, seq := c.cut(names, latency)
		snapshots := make([]wire.Snapshot, 0, len(drafts))
		for _, d := range drafts {
			if s, ok := c.renderSnapshot(d, seq); ok {
				snapshots = append(snapshots, s)
			}
		}
		if len(snapshots) == len(drafts) {
			return snapshots, seq
		} // else a log has moved on meanwhile
	}
}

// draft is a snapshot that is still to be rendered.
type draft struct {
	name     string
	root     *wire.RootState
	sharing  *wire.SharingState
	terminal *wire.TerminalState
	pty      *ptymgr.Terminal
	content  []stretch // the terminal's
}

// cut subscribes the client to the channels at one number, with everything that happened before. From then on nothing
// above the number is sent until the request was answered.
func (c *connection) cut(names []string, latency time.Duration) ([]draft, int64) {
	h := c.host
	h.mu.Lock()
	defer h.mu.Unlock()
	var drafts []draft
	var found []*subscription
	for _, name := range names {
		ch := c.lookUp(name)
		if ch == nil || slices.ContainsFunc(found, func(s *subscription) bool { return s.channel == ch }) {
			continue
		}
		s := c.subscribed(ch)
		if s == nil {
			s = &subscription{conn: c, channel: ch}
		}
		s.name, s.latency = name, latency
		found = append(found, s)
		if ch.terminal != nil {
			ch.terminal.advance()
		}
	}
	for _, s := range found {
		if _, again := c.subs[s]; again && len(s.pending()) > 0 {
			c.skip(h.seq) // these are not sent: the snapshot has them, which comes behind those of other channels
		}
		c.add(s)
		d := draft{name: s.name}
		switch ch := s.channel; {
		case ch.terminal != nil:
			state := ch.terminal.state()
			d.terminal, d.pty = &state, ch.terminal.pty
			d.content = ch.terminal.content(c.identity, contentBytes)
		case ch == h.sharingChannel:
			state := h.sharingState()
			d.sharing = &state
		default:
			list := h.list()
			d.root = &wire.RootState{Agents: []json.RawMessage{}, ActiveSessions: new(0), Terminals: visible(list, c.identity)}
			c.list, c.listed = c.renderList(list), h.seq
		}
		drafts = append(drafts, d)
	}
	if h.seq > 0 {
		c.fence = h.seq
	}
	return drafts, h.seq
}

// subscribed returns the client's subscription of a channel, or nil. Host.mu is held.
func (c *connection) subscribed(ch *channel) *subscription {
	for s := range c.subs {
		if s.channel == ch {
			return s
		}
	}
	return nil
}

// add makes the subscription one of the client's, from the present on. Host.mu is held.
func (c *connection) add(s *subscription) {
	s.from, s.redo, s.stale = c.host.seq, nil, false
	c.subs[s] = struct{}{}
	s.channel.subs[s] = struct{}{}
	if t := s.channel.terminal; t != nil {
		t.tap.WantOutput(true)
	}
}

// renderSnapshot renders a draft in the connection's version. It reports false if the content is gone.
func (c *connection) renderSnapshot(d draft, seq int64) (wire.Snapshot, bool) {
	var state any
	switch {
	case d.terminal != nil:
		content, err := parts(d.pty, d.content)
		if err != nil {
			return wire.Snapshot{}, false
		}
		d.terminal.Content = content
		state = d.terminal.For(c.version)
	case d.sharing != nil:
		state = d.sharing
	default:
		state = d.root.For(c.version)
	}
	return wire.NewSnapshot(d.name, state, seq), true
}

// pausedFor reports whether clients of this identity are to do and read nothing.
func (h *Host) pausedFor(i sharing.Identity) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.paused && i.Kind == sharing.Program
}
