package ahp

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/coder/websocket"

	"tandem/ptymgr"
	"tandem/sharing"
)

// parcel is what is sent next: a response, or an event on a channel.
type parcel struct {
	message []byte // a response
	last    bool   // the socket is closed after it
	sub     *subscription
	name    string // of the channel, as the client spells it
	event   event  // of cuts, neighbours are merged
}

// send sends what there is, in the order of the numbers over all channels, until ctx ends or the socket fails. It
// returns nil after an answer that is the last one.
func (c *connection) send(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		c.host.mu.Lock()
		p, wait, ok := c.next(time.Now())
		c.host.mu.Unlock()
		if ok {
			if err := c.write(&p); err != nil {
				return err
			}
			if p.last {
				return nil
			}
			p = parcel{}
			if err := c.below.await(); err != nil {
				return err
			}
			continue
		}
		var expired <-chan time.Time
		if wait >= 0 {
			timer.Reset(wait)
			expired = timer.C
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.wake:
		case <-expired:
		}
	}
}

// next takes what is to be sent now; if nothing is, it says how long to wait for it, or -1 until woken. Host.mu is held.
func (c *connection) next(now time.Time) (p parcel, wait time.Duration, ok bool) {
	if c.host.paused && c.identity.Kind == sharing.Program {
		return c.nextWhilePaused()
	}
	if c.torn {
		for s := range c.subs {
			s.stale = true
		}
		c.torn = false
	}
	head := c.upcoming(now)
	if len(c.answers) > 0 && head.seq > c.answers[0].after {
		return c.nextAnswer(), 0, true
	}
	switch {
	case head.seq == noEvent, c.fence > 0 && head.seq > c.fence:
		return p, -1, false
	case head.seq <= c.flush:
	case head.due > 0:
		return p, head.due, false
	default:
		c.flush = c.host.seq
	}
	if head.sub == nil {
		return c.nextPrivate(), 0, true
	}
	return c.nextEvent(head, now), 0, true
}

// noEvent is the number of an event that there is not.
const noEvent = math.MaxInt64

// upcoming is what comes next on a connection, over all its channels.
type upcoming struct {
	seq    int64         // the lowest number that is to be sent; noEvent if there is none
	sub    *subscription // whose it is; nil for an event of the connection's own
	events []event       // of sub, from seq on
	other  int64         // the next number that is not sub's, or that is fenced off
	due    time.Duration // how long it may wait yet
}

// upcoming looks for what comes next.
func (c *connection) upcoming(now time.Time) upcoming {
	head := upcoming{seq: noEvent, other: noEvent, due: math.MaxInt64}
	for s := range c.subs {
		pending := s.pending()
		if len(pending) == 0 {
			continue
		}
		head.consider(pending[0].seq, s, pending)
		if len(s.redo) > 0 || s.channel.urgent > s.position() {
			head.due = 0
		} else {
			head.due = min(head.due, s.sent.Add(s.latency).Sub(now))
		}
	}
	if len(c.private) > 0 {
		head.consider(c.private[0].event.seq, nil, nil)
		head.due = 0
	}
	if len(c.answers) > 0 {
		head.due = 0
	}
	if c.fence > 0 {
		head.other = min(head.other, c.fence+1)
	}
	return head
}

// consider takes the event with this number if it comes before the others.
func (u *upcoming) consider(seq int64, sub *subscription, events []event) {
	if seq < u.seq {
		u.seq, u.sub, u.events, u.other = seq, sub, events, u.seq
	} else {
		u.other = min(u.other, seq)
	}
}

// nextEvent takes a subscription's next event, of output with the neighbouring cuts that have no other number between
// them.
func (c *connection) nextEvent(head upcoming, now time.Time) parcel {
	e := head.events[0]
	if e.isCut() {
		head.sub.sent = now
		for _, more := range head.events[1:] {
			if !more.isCut() || more.from != e.to || more.to-e.from > maxCut || more.seq >= head.other {
				break
			}
			e.to, e.seq = more.to, more.seq
		}
	}
	head.sub.taken(e.seq)
	c.sent = e.seq
	return parcel{sub: head.sub, name: head.sub.name, event: head.sub.allowed(e)}
}

// nextWhilePaused is next for a program while programs are paused: it is answered, and told nothing new. What it is
// told by number makes it miss what came before, so its subscriptions start anew afterwards.
func (c *connection) nextWhilePaused() (p parcel, wait time.Duration, ok bool) {
	switch {
	case len(c.answers) > 0 && (len(c.private) == 0 || c.private[0].event.seq > c.answers[0].after):
		c.skip(c.answers[0].after)
		return c.nextAnswer(), 0, true
	case len(c.private) > 0:
		c.skip(c.private[0].event.seq)
		c.torn = true
		return c.nextPrivate(), 0, true
	}
	return p, -1, false
}

// skip notes that the client is let know of a number before it has everything below.
func (c *connection) skip(seq int64) {
	if c.memory != nil && seq > c.sent {
		c.memory.tear(c.sent, seq+1)
	}
}

func (c *connection) nextAnswer() parcel {
	a := c.answers[0]
	c.answers[0] = answer{} // it may be large
	c.answers = c.answers[1:]
	c.sendable(len(a.message))
	return parcel{message: a.message, last: a.last}
}

func (c *connection) nextPrivate() parcel {
	e := c.private[0]
	c.private[0] = privateEvent{}
	c.private = c.private[1:]
	c.sendable(e.size)
	c.sent = e.event.seq
	return parcel{name: e.channel, event: e.event}
}

// sendable notes that so much less waits.
func (c *connection) sendable(bytes int) {
	c.waiting -= bytes
	signal(c.room)
}

// buffers are what messages are made in. A connection has one only while it sends.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// write sends p. An event that cannot be made any more, because the log has moved on, makes its subscription start
// anew.
func (c *connection) write(p *parcel) error {
	if p.message != nil {
		return c.conn.Write(context.Background(), websocket.MessageText, p.message)
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	message, err := c.render((*buf)[:0], p)
	*buf = message[:0]
	switch {
	case errors.Is(err, ptymgr.ErrOvertaken):
		c.host.mu.Lock()
		p.sub.stale = true
		c.host.mu.Unlock()
		return nil
	case len(message) == 0: // nothing that the client may see, or does not see already
		return nil
	}
	// No context: one that could end the write would cost an allocation, and closing the connection ends it as well.
	return c.conn.Write(context.Background(), websocket.MessageText, message)
}
