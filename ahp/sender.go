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
	var (
		first  *subscription // whose event comes next
		events []event
		seq    = int64(math.MaxInt64) // its number
		other  = seq                  // the next number that is not the first subscription's
		due    = time.Duration(math.MaxInt64)
	)
	for s := range c.subs {
		pending := s.pending()
		if len(pending) == 0 {
			continue
		}
		if n := pending[0].seq; n < seq {
			first, events, seq, other = s, pending, n, seq
		} else {
			other = min(other, n)
		}
		if len(s.redo) > 0 || s.channel.urgent > s.position() {
			due = 0
		} else {
			due = min(due, s.sent.Add(s.latency).Sub(now))
		}
	}
	if len(c.private) > 0 {
		due = 0
		if n := c.private[0].event.seq; n < seq {
			first, seq, other = nil, n, seq
		} else {
			other = min(other, n)
		}
	}
	if c.fence > 0 {
		other = min(other, c.fence+1)
	}
	if len(c.answers) > 0 {
		if a := c.answers[0]; seq > a.after {
			return c.nextAnswer(), 0, true
		}
		due = 0
	}
	switch {
	case seq == math.MaxInt64, c.fence > 0 && seq > c.fence:
		return p, -1, false
	case seq <= c.flush:
	case due > 0:
		return p, due, false
	default:
		c.flush = c.host.seq
	}
	if first == nil {
		return c.nextPrivate(), 0, true
	}
	p.sub, p.name, p.event = first, first.name, events[0]
	if p.event.isCut() {
		first.sent = now
		for _, e := range events[1:] {
			if !e.isCut() || e.from != p.event.to || e.to-p.event.from > maxCut || e.seq >= other {
				break
			}
			p.event.to, p.event.seq = e.to, e.seq
		}
	}
	first.taken(p.event.seq)
	c.sent = p.event.seq
	p.event = first.allowed(p.event)
	return p, 0, true
}

// nextWhilePaused is next for a program while programs are paused: it is answered, and told nothing new. What it is
// told by number makes it miss what came before, so its subscriptions start anew afterwards.
func (c *connection) nextWhilePaused() (p parcel, wait time.Duration, ok bool) {
	switch {
	case len(c.answers) > 0 && (len(c.private) == 0 || c.private[0].event.seq > c.answers[0].after):
		return c.nextAnswer(), 0, true
	case len(c.private) > 0:
		c.torn = true
		return c.nextPrivate(), 0, true
	}
	return p, -1, false
}

func (c *connection) nextAnswer() parcel {
	a := c.answers[0]
	c.answers = c.answers[1:]
	c.sendable(len(a.message))
	return parcel{message: a.message, last: a.last}
}

func (c *connection) nextPrivate() parcel {
	e := c.private[0]
	c.private = c.private[1:]
	c.sendable(e.event.size())
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
