package ahp

import (
	"bytes"
	"strconv"

	"tandem/ahp/wire"
)

const (
	beforeEnvelope = `{"jsonrpc":"2.0","method":"action","params":`
	afterEnvelope  = `}`
)

// render appends the notification of p's event, or nothing if there is nothing to tell.
func (c *connection) render(dst []byte, p *parcel) ([]byte, error) {
	start := len(dst)
	dst = append(dst, beforeEnvelope...)
	before := len(dst)
	dst, err := c.renderEnvelope(dst, p)
	if err != nil || len(dst) == before {
		return dst[:start], err
	}
	return append(dst, afterEnvelope...), nil
}

// renderEnvelope appends p's event as the connection's version has it, or nothing if there is nothing to tell.
func (c *connection) renderEnvelope(dst []byte, p *parcel) ([]byte, error) {
	e := &p.event
	if e.isCut() {
		return c.renderOutput(dst, p)
	}
	action := e.action
	if e.list != nil {
		list := c.renderList(e.list)
		if !c.news(list, e.seq) {
			return dst, nil // what changed is not this client's to see
		}
		action = wire.Unknown{Raw: list}
	}
	return wire.AppendEnvelope(dst, wire.Envelope{
		Channel: p.name, Action: wire.ActionFor(action, c.version), ServerSeq: e.seq, Origin: e.origin, RejectionReason: e.reject,
	}), nil
}

// renderOutput appends the envelope of output. This is the path of every byte of it, so the JSON is put together by
// hand.
func (c *connection) renderOutput(dst []byte, p *parcel) ([]byte, error) {
	t := p.sub.channel.terminal
	if t.owner == c.key && t.shared.Remote() {
		return dst, nil // its own output
	}
	scratch := buffers.Get().(*[]byte)
	defer buffers.Put(scratch)
	text, err := t.pty.Text((*scratch)[:0], p.event.from, p.event.to)
	*scratch = text[:0]
	if err != nil || len(text) == 0 {
		return dst, err
	}
	dst = append(dst, `{"channel":`...)
	dst = wire.AppendString(dst, []byte(p.name))
	dst = append(dst, `,"action":{"type":"terminal/data","data":`...)
	dst = wire.AppendString(dst, text)
	dst = append(dst, `},"serverSeq":`...)
	dst = strconv.AppendInt(dst, p.event.seq, 10)
	return append(dst, '}'), nil
}

// renderList returns the action for a root list, as this client may see it.
func (c *connection) renderList(list []listed) []byte {
	return wire.AppendAction(nil, wire.RootTerminalsChanged{Terminals: visible(list, c.identity)}.For(c.version))
}

// news reports whether a root list differs from the one that the client has, and notes it. One that is older than the
// client's is no news.
func (c *connection) news(list []byte, seq int64) bool {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	if seq <= c.listed || bytes.Equal(list, c.list) {
		return false
	}
	c.list, c.listed = list, seq
	return true
}
