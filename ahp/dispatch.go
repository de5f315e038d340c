package ahp

import (
	"encoding/json"
	"errors"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

// privateEvent is an event for one connection alone, on the channel as its client spells it.
type privateEvent struct {
	channel string
	event   event
	size    int // roughly what it takes to keep, in bytes
}

// dispatch carries out a client's action, or refuses it with a reason. An action on a channel that does not exist is
// ignored, as the protocol has it, and so is one that was carried out before the client lost its connection.
func (c *connection) dispatch(params json.RawMessage) {
	p, err := wire.ParseDispatchAction(params)
	if err != nil {
		return
	}
	h := c.host
	h.mu.Lock()
	ch := c.lookUp(p.Channel)
	if ch == nil || p.ClientSeq <= c.last {
		h.mu.Unlock()
		return
	}
	c.last = p.ClientSeq
	c.memory.carriedOut(c.last)
	h.mu.Unlock()
	origin := &wire.Origin{ClientID: c.client.ID(), ClientSeq: p.ClientSeq}
	action, malformed := wire.UnmarshalAction(p.Action)
	refuse := func(reason string) {
		if malformed != nil {
			action = wire.Unknown{Raw: p.Action}
		}
		c.tell(p.Channel, event{action: action, origin: origin, reject: reason}, len(p.Action))
	}
	if malformed != nil {
		refuse(malformed.Error())
		return
	}
	by := sharing.By{Client: c.client, Seq: p.ClientSeq}
	switch done := c.perform(ch, p.Channel, action, by, origin); {
	case done == nil:
	case errors.Is(done, sharing.ErrNotFound): // just now
	default:
		refuse(reasonOf(done))
	}
}

// reasonOf returns what a client is told of why its action was refused.
func reasonOf(err error) string {
	var refusal *sharing.Refusal
	if errors.As(err, &refusal) {
		return refusal.Reason
	}
	return err.Error()
}

// perform carries out an action on a channel.
func (c *connection) perform(ch *channel, name string, action wire.Action, by sharing.By, origin *wire.Origin) error {
	switch {
	case ch.terminal != nil:
		return c.performOnTerminal(ch.terminal, name, action, by, origin)
	case ch == c.host.sharingChannel:
		return c.performOnSharing(action, by, origin)
	}
	return errNotDispatchable
}

var errNotDispatchable = errors.New("clients do not dispatch this action on this channel")

func (c *connection) performOnTerminal(t *terminal, name string, action wire.Action, by sharing.By, origin *wire.Origin) error {
	switch action := action.(type) {
	case wire.TerminalInput:
		if err := t.shared.Input(by, []byte(action.Data)); err != nil {
			return err
		}
		c.acknowledge(t.channel, name, action, origin)
		return nil
	case wire.TerminalOutput:
		if err := t.shared.Output(by, []byte(action.Data)); err != nil {
			return err
		}
		c.acknowledge(t.channel, name, action, origin)
		return nil
	case wire.TerminalExited:
		return t.performed(t.shared.Exited(by, action.ExitCode), action, origin)
	case wire.TerminalClaimed:
		claim, err := claimOf(action.Claim)
		if err != nil {
			return err
		}
		return t.shared.Claim(by, claim) // the Manager tells everybody
	case wire.TerminalResized:
		err := t.shared.Resize(by, ptymgr.Size{Cols: action.Cols, Rows: action.Rows})
		return t.performed(err, action, origin)
	case wire.TerminalTitleChanged:
		err := t.shared.Rename(by, action.Title)
		return t.performed(err, action, origin)
	case wire.TerminalCleared:
		err := t.shared.Clear(by)
		return t.performed(err, action, origin)
	}
	return errNotDispatchable
}

// performed numbers what a client has just done to the terminal, as its own. What changed nothing is acknowledged all
// the same, with how things are.
func (t *terminal) performed(err error, own wire.Action, origin *wire.Origin) error {
	if err != nil {
		return err
	}
	h := t.channel.host
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.advanceFor(own, origin) {
		return nil
	}
	switch own.(type) {
	case wire.TerminalExited:
		return nil // it was told already
	case wire.TerminalResized:
		own = wire.TerminalResized{Cols: t.size.Cols, Rows: t.size.Rows}
	case wire.TerminalTitleChanged:
		own = wire.TerminalTitleChanged{Title: t.title}
	}
	t.channel.record(event{action: own, origin: origin})
	if _, cleared := own.(wire.TerminalCleared); cleared {
		t.recordOutput(t.start, t.cut)
	}
	return nil
}

// acknowledge sends input, or output, back to its sender alone. What people type may be secret, and is in no replay; what a
// client's program printed comes to others as data.
func (c *connection) acknowledge(ch *channel, name string, action wire.Action, origin *wire.Origin) {
	c.host.mu.Lock()
	subscribed := c.subscribed(ch) != nil
	c.host.mu.Unlock()
	if subscribed {
		c.tell(name, event{action: action, origin: origin}, len(wire.AppendAction(nil, action)))
	}
}

// tell sends an event, whose action takes so many bytes, to this client alone.
func (c *connection) tell(channel string, e event, size int) {
	h := c.host
	h.mu.Lock()
	defer h.mu.Unlock()
	e.seq = h.number()
	c.tellLocked(channel, e, size)
}

// tellLocked is tell for an event that has a number. Host.mu is held.
func (c *connection) tellLocked(channel string, e event, size int) {
	const around = 256 // the envelope and what holds it
	c.private = append(c.private, privateEvent{channel, e, size + around})
	c.waiting += size + around
	signal(c.wake)
}

// claimOf returns the claim that a client asks for.
func claimOf(w wire.Claim) (sharing.Claim, error) {
	switch w.Kind {
	case wire.ClaimClient:
		return sharing.Claim{Client: w.ClientID}, nil
	default:
		return sharing.Claim{Session: &sharing.Session{URI: w.Session, Chat: w.Chat, TurnID: w.TurnID, ToolCallID: w.ToolCallID}}, nil
	}
}
