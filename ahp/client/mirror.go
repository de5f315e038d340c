package client

import (
	"encoding/json"
	"fmt"
	"strings"

	"tandem/ahp/wire"
)

// Mirror is the state of channels as snapshots and actions have it. The zero value is empty. It is to be given snapshots
// and envelopes in the order in which they came; it is not safe for concurrent use.
type Mirror struct {
	Root      wire.RootState
	Sharing   wire.SharingState
	Terminals map[string]*wire.TerminalState // by URI
	LastSeen  int64                          // everything up to this number is in, for Reconnect

	applied map[string]int64 // up to which number, by channel; those that are not in it are not mirrored
}

// Take replaces the state of one channel.
func (m *Mirror) Take(s wire.Snapshot) error {
	var err error
	switch {
	case wire.IsRoot(s.Resource):
		err = read(s, &m.Root)
	case s.Resource == wire.SharingChannel:
		err = read(s, &m.Sharing)
	default:
		state := &wire.TerminalState{}
		if err = read(s, state); err == nil {
			if m.Terminals == nil {
				m.Terminals = map[string]*wire.TerminalState{}
			}
			m.Terminals[s.Resource] = state
		}
	}
	if err != nil {
		return err
	}
	if m.applied == nil {
		m.applied = map[string]int64{}
	}
	m.applied[s.Resource] = s.FromSeq
	m.LastSeen = max(m.LastSeen, s.FromSeq)
	return nil
}

// read replaces *state, which keeps nothing of what it was, unless the snapshot cannot be read.
func read[S any](s wire.Snapshot, state *S) error {
	var fresh S
	if err := json.Unmarshal(s.State, &fresh); err != nil {
		return fmt.Errorf("reading the state of %s: %w", s.Resource, err)
	}
	*state = fresh
	return nil
}

// Apply applies an action. What the host refused changes nothing, and neither does what a snapshot has in it already, nor
// an action on a channel of which there was no snapshot.
func (m *Mirror) Apply(e wire.Envelope) {
	m.LastSeen = max(m.LastSeen, e.ServerSeq)
	if applied, ok := m.applied[e.Channel]; !ok || e.ServerSeq <= applied {
		return
	}
	m.applied[e.Channel] = e.ServerSeq
	switch {
	case e.RejectionReason != "":
	case wire.IsRoot(e.Channel):
		wire.ReduceRoot(&m.Root, e.Action)
	case e.Channel == wire.SharingChannel:
		wire.ReduceSharing(&m.Sharing, e.Action)
	default:
		wire.ReduceTerminal(m.Terminals[e.Channel], e.Action)
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
