package ahp

import (
	"encoding/json"
	"slices"

	"tandem/ahp/wire"
)

// missed is an event that a client which reconnects has not seen.
type missed struct {
	event
	sub *subscription
}

// replay subscribes the client to the channels and returns all that happened on them after lastSeen, if all of it is
// still there.
func (c *connection) replay(names []string, lastSeen int64) (wire.ReconnectReplayResult, bool) {
	result := wire.ReconnectReplayResult{Type: "replay", Actions: []json.RawMessage{}, Missing: []string{}}
	c.watch(names)
	h := c.host
	h.mu.Lock()
	if lastSeen > h.seq || lastSeen < h.born || c.memory.torn(lastSeen) {
		h.mu.Unlock()
		return result, false
	}
	var live []*subscription
	for _, name := range unique(names) {
		ch := c.lookUp(name)
		if ch == nil {
			result.Missing = append(result.Missing, name)
			continue
		}
		if slices.ContainsFunc(live, func(s *subscription) bool { return s.channel == ch }) {
			continue // by another spelling
		}
		if ch.terminal != nil {
			ch.terminal.advance()
		}
		if !c.mayReplay(ch, lastSeen) {
			h.mu.Unlock()
			return result, false
		}
		live = append(live, &subscription{conn: c, channel: ch, name: name, latency: DefaultLatency})
	}
	var events []missed
	for _, s := range live {
		if s.channel == h.rootChannel {
			c.list, c.listed = c.renderList(s.channel.upTo(lastSeen).list), lastSeen
		}
		after, _ := s.channel.after(lastSeen)
		for _, e := range after {
			events = append(events, missed{s.allowed(e), s})
		}
	}
	slices.SortFunc(events, func(a, b missed) int { return int(a.seq - b.seq) })
	for _, s := range live {
		c.add(s)
	}
	c.fence, c.sent = h.seq, h.seq
	h.mu.Unlock()
	for _, e := range events {
		message, err := c.renderEnvelope(nil, &parcel{sub: e.sub, name: e.sub.name, event: e.event})
		if err != nil { // overtaken meanwhile
			return result, false
		}
		if len(message) > 0 {
			result.Actions = append(result.Actions, message)
		}
	}
	return result, true
}

// unique returns names without repetitions, in their order.
func unique(names []string) []string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// lookUp returns the channel that the client calls name, or nil if there is none or the client may not see it. Host.mu
// is held.
func (c *connection) lookUp(name string) *channel {
	if len(name) > maxURI { // of which the root has as many spellings as one likes
		return nil
	}
	uri := name
	if wire.IsRoot(name) {
		uri = RootChannel // earlier versions spelled it otherwise
	}
	if ch := c.host.channels[uri]; ch != nil && ch.sees(c.identity) {
		return ch
	}
	return nil
}
