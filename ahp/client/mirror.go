package client

import (
	"encoding/json"
	"fmt"
	"strings"

	"tandem/ahp/wire"
)

// Mirror is the state of channels as snapshots and actions have it.
type Mirror struct {
	Root      wire.RootState
	Sharing   wire.SharingState
	Terminals map[string]*wire.TerminalState // by URI
	LastSeen  int64                          // everything up to this number is in
}

// Take replaces the state of one channel.
func (m *Mirror) Take(s wire.Snapshot) error {
	var err error
	switch s.Resource {
	case wire.RootChannel:
		m.Root = wire.RootState{}
		err = json.Unmarshal(s.State, &m.Root)
	case wire.SharingChannel:
		m.Sharing = wire.SharingState{}
		err = json.Unmarshal(s.State, &m.Sharing)
	default:
		state := &wire.TerminalState{}
		err = json.Unmarshal(s.State, state)
		if m.Terminals == nil {
			m.Terminals = map[string]*wire.TerminalState{}
		}
		m.Terminals[s.Resource] = state
	}
	if err != nil {
		return fmt.Errorf("reading the state of %s: %w", s.Resource, err)
	}
	m.LastSeen = max(m.LastSeen, s.FromSeq)
	return nil
}

// Apply applies an action. What the host refused changes nothing, and neither do actions on channels that it knows
// nothing of.
func (m *Mirror) Apply(e wire.Envelope) {
	m.LastSeen = max(m.LastSeen, e.ServerSeq)
	if e.RejectionReason != "" {
		return
	}
	switch e.Channel {
	case wire.RootChannel:
		wire.ReduceRoot(&m.Root, e.Action)
	case wire.SharingChannel:
		wire.ReduceSharing(&m.Sharing, e.Action)
	default:
		if s := m.Terminals[e.Channel]; s != nil {
			wire.ReduceTerminal(s, e.Action)
		}
	}
}

// Text returns a terminal's output, of all its parts in a row.
func (m *Mirror) Text(channel string) string {
	var text strings.Builder
	if s := m.Terminals[channel]; s != nil {
		for _, p := range s.Content {
			text.WriteString(p.Value)
			text.WriteString(p.Output)
		}
	}
	return text.String()
}
