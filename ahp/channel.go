package ahp

import (
	"time"

	"tandem/sharing"
)

// channel is something clients can subscribe to. All of it but uri is guarded by Host.mu.
type channel struct {
	journal
	host     *Host
	uri      string
	subs     map[*subscription]struct{}
	terminal *terminal // nil for the root and sharing channels
}

// newChannel opens a channel that keeps as many events as keep. mu is held.
func (h *Host) newChannel(uri string, keep int) *channel {
	c := &channel{host: h, uri: uri, subs: map[*subscription]struct{}{}}
	c.max, c.dropped = keep, h.seq
	h.channels[uri] = c
	return c
}

// sees reports whether clients of this identity may know of the channel. Host.mu is held.
func (c *channel) sees(i sharing.Identity) bool {
	switch {
	case c.terminal != nil:
		return c.terminal.access.Sees(i)
	case c == c.host.sharingChannel:
		return i.Kind == sharing.Person
	default:
		return true
	}
}

// record numbers an event, keeps it, and lets the subscribers know. Host.mu is held.
func (c *channel) record(e event) {
	e.seq = c.host.number()
	c.append(e)
	for s := range c.subs {
		signal(s.conn.wake)
	}
}

// subscription is one connection's on one channel. Guarded by Host.mu.
type subscription struct {
	conn    *connection
	channel *channel
	name    string        // the URI as the client spells it
	latency time.Duration // how long output may wait to be merged with more
	from    int64         // events above this number are for it, once they are above what the connection was sent
	sent    time.Time     // when it was last sent output
	redo    []event       // after it was overtaken: fresh events that bring it to the present
	stale   bool          // it missed something: redo is to be made
}

// position returns the number up to which the subscription has everything. Host.mu is held.
func (s *subscription) position() int64 { return max(s.from, s.conn.sent) }

// pending returns the subscription's next events, ascending, the first of which is to be sent next. Host.mu is held.
func (s *subscription) pending() []event {
	if s.stale {
		s.catchUp()
	}
	if len(s.redo) > 0 {
		return s.redo
	}
	events, complete := s.channel.after(s.position())
	if !complete {
		s.catchUp()
		return s.redo
	}
	return events
}

// catchUp makes redo, with numbers of its own at the head: what the subscription missed is gone, and this is what there
// is now. A client that was sent a part of it and reconnects gets a snapshot: its last number covers nothing.
func (s *subscription) catchUp() {
	h := s.channel.host
	s.stale = false
	s.redo = s.redo[:0]
	for _, e := range s.channel.present(s.conn.identity) {
		e.seq = h.number()
		s.redo = append(s.redo, e)
	}
	s.from = h.seq
	s.conn.memory.tear(s.conn.sent, h.seq)
	h.resyncs.Add(1)
}

// allowed returns the event with what of it the subscriber may read. Output that was printed while a terminal was private
// can be in the first cut after that. Host.mu is held.
func (s *subscription) allowed(e event) event {
	if t := s.channel.terminal; t != nil && e.isCut() {
		e.from = min(max(e.from, t.access.Floor(s.conn.identity)), e.to)
	}
	return e
}

// taken notes that events up to and with seq are being sent. Host.mu is held.
func (s *subscription) taken(seq int64) {
	n := 0
	for n < len(s.redo) && s.redo[n].seq <= seq {
		n++
	}
	s.redo = s.redo[n:]
}

// signal fills a one-slot channel. It never blocks.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
