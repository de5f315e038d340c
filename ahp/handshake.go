package ahp

import (
	"encoding/json"

	"tandem/ahp/wire"
	"tandem/sharing"
)

// initialize says who the client is and what version both speak, and subscribes it to the channels it names.
func (c *connection) initialize(params json.RawMessage) (any, *wire.Error) {
	if c.client != nil {
		return nil, &wire.Error{Code: wire.InvalidRequest, Message: "already initialized"}
	}
	p, err := wire.ParseInitialize(params)
	if err != nil {
		return nil, err
	}
	if err := checkNames("initialSubscriptions", len(p.InitialSubscriptions)); err != nil {
		return nil, err
	}
	chosen, version, err := wire.Negotiate(p.ProtocolVersions)
	if err != nil {
		return nil, err
	}
	client, joinErr := c.host.cfg.Sharing.Join(c.identity, p.ClientID)
	if joinErr != nil {
		return nil, &wire.Error{Code: wire.InvalidParams, Message: "clientId: " + joinErr.Error()}
	}
	h := c.host
	h.mu.Lock()
	c.version = version
	c.key = keyOf(c.identity, p.ClientID)
	c.memory = h.clients.begin(c.key, version, h.number())
	h.mu.Unlock()
	c.client, c.last = client, 0
	snapshots, seq := c.snapshots(p.InitialSubscriptions)
	result := wire.InitializeResult{
		ProtocolVersion: chosen, ServerSeq: seq, Snapshots: snapshots,
		DefaultDirectory: fileURI(c.host.cfg.Sharing.Dir()),
	}
	if version.AtLeast(0, 5, 2) {
		result.ServerInfo = &wire.Implementation{Name: "tandem", Version: c.host.cfg.Version}
	}
	if version.AtLeast(0, 8, 0) {
		result.Meta = map[string]any{"tandem": map[string]bool{"clientExecutedTerminals": true}}
	}
	return result, nil
}

// reconnect resumes a client's subscriptions: with everything that it missed, or, if not all of that is there any more,
// with snapshots of what is.
func (c *connection) reconnect(params json.RawMessage) (any, *wire.Error) {
	if c.client != nil {
		return nil, &wire.Error{Code: wire.InvalidRequest, Message: "already initialized"}
	}
	p, err := wire.ParseReconnect(params)
	if err != nil {
		return nil, err
	}
	if err := checkNames("subscriptions", len(p.Subscriptions)); err != nil {
		return nil, err
	}
	h := c.host
	if h.pausedFor(c.identity) {
		return nil, &wire.Error{Code: wire.PermissionDenied, Message: sharing.PausedReason}
	}
	unknown := &wire.Error{Code: wire.NotFound, Message: "this client is not known here: initialize again"}
	key := keyOf(c.identity, p.ClientID)
	names, lastSeen := p.Names()
	if !h.clear(key, lastSeen) {
		return nil, unknown
	}
	client, joinErr := h.cfg.Sharing.Join(c.identity, p.ClientID)
	if joinErr != nil {
		return nil, unknown
	}
	h.mu.Lock()
	c.memory = h.clients.resume(key)
	if c.memory == nil {
		h.mu.Unlock()
		client.Leave()
		return nil, unknown
	}
	c.key, c.version, c.last = key, c.memory.version, c.memory.last
	h.mu.Unlock()
	c.client = client
	if replay, ok := c.replay(names, lastSeen); ok {
		return replay, nil
	}
	snapshots, _ := c.snapshots(names)
	return wire.ReconnectSnapshotResult{Type: "snapshot", Snapshots: snapshots}, nil
}

// clear makes way for a client that comes back, and reports whether it is known. One that reconnects has given its earlier
// connections up, though they may not know yet: what they still carry must not come after what it sends now. Those of
// several clients with one id, as windows of a browser are, stay.
func (h *Host) clear(key clientKey, lastSeen int64) bool {
	h.mu.Lock()
	known := h.clients.find(key, lastSeen)
	var earlier []*connection
	for c := range h.connections {
		if known != nil && c.memory == known && !known.several {
			earlier = append(earlier, c)
		}
	}
	h.mu.Unlock()
	for _, c := range earlier {
		signal(c.replace)
		<-c.left
	}
	return known != nil
}

// mayReplay reports whether a client that has everything up to seq can be sent just what came after it on the channel.
// Host.mu is held.
func (c *connection) mayReplay(ch *channel, seq int64) bool {
	if _, complete := ch.after(seq); !complete {
		return false
	}
	t := ch.terminal
	if t == nil {
		return true
	}
	if c.identity.Kind == sharing.Program && seq < t.opened {
		return false
	}
	tail, _ := t.pty.Bounds()
	bytes := int64(0)
	events, _ := ch.after(seq)
	for _, e := range events {
		if e.isCut() {
			bytes += e.to - e.from
			if e.from < tail || bytes > contentBytes {
				return false // gone, or more than a snapshot
			}
		}
	}
	return true
}
