package ahp

import (
	"tandem/ahp/wire"
	"tandem/sharing"
)

// sharingState returns the state of the sharing channel. Host.mu is held.
func (h *Host) sharingState() wire.SharingState {
	state := wire.SharingState{Paused: h.overview.Paused, Terminals: map[string]wire.SharedTerminal{}, Requests: []wire.SharingRequest{}}
	uris := map[string]string{} // by id
	for _, t := range h.terminals {
		uris[t.shared.ID()] = t.channel.uri
	}
	for _, o := range h.overview.Terminals {
		uri := uris[o.ID]
		if uri == "" {
			continue
		}
		shown := wire.SharedTerminal{
			ID: o.ID, Mode: o.Mode.String(), Created: o.Created,
			Maker:    wire.Party{Kind: o.Maker.Kind, Name: o.Maker.Name, Client: o.Maker.Client},
			Holder:   wire.Party{Kind: o.Holder.Kind, Name: o.Holder.Name, Client: o.Holder.Client},
			Watchers: []wire.Party{},
		}
		for _, w := range o.Watchers {
			shown.Watchers = append(shown.Watchers, wire.Party{Kind: w.Kind, Name: w.Name, Client: w.Client})
		}
		state.Terminals[uri] = shown
	}
	for _, r := range h.overview.Requests {
		if uri := uris[r.Terminal]; uri != "" {
			state.Requests = append(state.Requests, wire.SharingRequest{
				ID: r.ID, Resource: uri, Program: r.Program, Session: r.Session, Created: r.Created,
			})
		}
	}
	return state
}

// performOnSharing carries out what the person decides.
func (c *connection) performOnSharing(action wire.Action, by sharing.By, origin *wire.Origin) error {
	h := c.host
	var err error
	switch action := action.(type) {
	case wire.SharingModeSet:
		h.mu.Lock()
		ch := c.lookUp(action.Resource)
		h.mu.Unlock()
		if ch == nil || ch.terminal == nil {
			return &sharing.Refusal{Reason: "resource not found"}
		}
		mode, parseErr := sharing.ParseMode(action.Mode)
		if parseErr != nil {
			return parseErr
		}
		err = ch.terminal.shared.SetMode(by, mode)
	case wire.SharingPausedSet:
		err = h.cfg.Sharing.SetPaused(by, action.Paused)
	case wire.SharingRequestAnswered:
		answer, parseErr := sharing.ParseAnswer(action.Answer)
		if parseErr != nil {
			return parseErr
		}
		err = h.cfg.Sharing.Answer(by, action.Request, answer)
	default:
		return errNotDispatchable
	}
	if err != nil {
		return &sharing.Refusal{Reason: reasonOf(err)} // to a person, not found is a reason too
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sharingChannel.record(event{action: wire.SharingChanged{State: h.sharingState()}, origin: origin})
	return nil
}
