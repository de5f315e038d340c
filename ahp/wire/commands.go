package wire

import (
	"encoding/json"
	"time"
)

// MaxLatency is the longest that Delivery.MaxLatencyMs says; more is as good.
const MaxLatency = time.Hour

// InitializeParams are the parameters of initialize.
type InitializeParams struct {
	Channel              string          `json:"channel"` // the RootChannel; may be absent
	ProtocolVersions     []string        `json:"protocolVersions"`
	ClientID             string          `json:"clientId"`
	ClientInfo           *Implementation `json:"clientInfo,omitempty"`
	InitialSubscriptions []string        `json:"initialSubscriptions,omitempty"`
}

// Implementation is the name of a client or host program, for people to read.
type Implementation struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Title   string `json:"title,omitempty"`
}

// InitializeResult is the result of initialize.
type InitializeResult struct {
	ProtocolVersion       string          `json:"protocolVersion"` // one of those offered, as it was written
	ServerSeq             int64           `json:"serverSeq"`       // the highest number so far
	Snapshots             []Snapshot      `json:"snapshots"`       // never nil
	ServerInfo            *Implementation `json:"serverInfo,omitempty"`
	DefaultDirectory      string          `json:"defaultDirectory,omitempty"` // URI
	Meta                  map[string]any  `json:"_meta,omitempty"`            // from 0.8 on
	TerminalCommandPrefix string          `json:"terminalCommandPrefix,omitempty"`
	TCPConnections        json.RawMessage `json:"tcpConnections,omitzero"` // of hosts that forward ports
}

// ReconnectParams are the parameters of reconnect.
type ReconnectParams struct {
	Channel           string          `json:"channel"`
	ClientID          string          `json:"clientId"`
	LastSeenServerSeq *int64          `json:"lastSeenServerSeq,omitempty"` // nil only if each subscription has its own
	Subscriptions     []Subscription  `json:"subscriptions"`
	Windows           json.RawMessage `json:"windows,omitzero"` // of windowed delivery, which hosts may leave out
}

// Subscription is a channel that is to be subscribed again.
type Subscription struct {
	Channel string

	// LastSeenServerSeq is the channel's own, in a variant of the protocol where each subscription is an object; nil where
	// it is a string.
	LastSeenServerSeq *int64
}

// Names returns the channels, and the number up to which the client has seen everything on all of them: without one of
// the whole connection, the least of the channels'.
func (p ReconnectParams) Names() (names []string, lastSeen int64) {
	least := p.LastSeenServerSeq
	for _, s := range p.Subscriptions {
		names = append(names, s.Channel)
		if own := s.LastSeenServerSeq; own != nil && (least == nil || *own < *least) {
			least = own
		}
	}
	return names, orZero(least)
}

// ReconnectReplayResult is the result of reconnect when everything that was missed is still there.
type ReconnectReplayResult struct {
	Type    string            `json:"type"`    // "replay"
	Actions []json.RawMessage `json:"actions"` // envelopes in the order of their numbers; never nil
	Missing []string          `json:"missing"` // channels that are gone; never nil
}

// ReconnectSnapshotResult is the result of reconnect when not everything is.
type ReconnectSnapshotResult struct {
	Type      string     `json:"type"`      // "snapshot"
	Snapshots []Snapshot `json:"snapshots"` // of the channels that are still there; never nil
}

// ReconnectResult is any result of reconnect, as clients read it.
type ReconnectResult struct {
	Type      string            `json:"type,omitempty"` // "replay" or "snapshot"; "" in the variant with Channels
	Actions   []Envelope        `json:"actions,omitzero"`
	Missing   []string          `json:"missing,omitzero"`
	Snapshots []Snapshot        `json:"snapshots,omitzero"`
	Channels  []ChannelRecovery `json:"channels,omitzero"`
	Windows   json.RawMessage   `json:"windows,omitzero"`
}

// ChannelRecovery is what became of one subscription, in the variant of reconnect with a number for each.
type ChannelRecovery struct {
	Kind     string     `json:"kind"` // "replay", "snapshot" or "missing"
	Channel  string     `json:"channel"`
	Actions  []Envelope `json:"actions,omitzero"`
	Snapshot *Snapshot  `json:"snapshot,omitempty"`
}

// SubscribeParams are the parameters of subscribe.
type SubscribeParams struct {
	Channel     string          `json:"channel"`
	Delivery    *Delivery       `json:"delivery,omitempty"`
	FlowControl json.RawMessage `json:"flowControl,omitzero"` // an offer of windowed delivery, which hosts may leave out
}

// Delivery is how a subscriber wants to be told.
type Delivery struct {
	// MaxLatencyMs is how long the host may hold something back to send it with more, in milliseconds; nil leaves that to
	// the host. What ParseSubscribe returns is from 0 to MaxLatency.
	MaxLatencyMs *int64 `json:"maxLatencyMs,omitempty"`
}

// SubscribeResult is the result of subscribe.
type SubscribeResult struct {
	Snapshot    *Snapshot       `json:"snapshot,omitempty"` // nil if the channel has no state
	FlowControl json.RawMessage `json:"flowControl,omitzero"`
}

// ChannelParams are the parameters of what needs no more than a channel: unsubscribe, disposeTerminal, ping and
// listSessions.
type ChannelParams struct {
	Channel string `json:"channel"`
}

// DispatchActionParams are the parameters of dispatchAction.
type DispatchActionParams struct {
	Channel   string          `json:"channel"`
	ClientSeq int64           `json:"clientSeq"` // rises
	Action    json.RawMessage `json:"action"`    // for UnmarshalAction; at least an object
}

// CreateTerminalParams are the parameters of createTerminal.
type CreateTerminalParams struct {
	Channel string `json:"channel"` // the new terminal's URI
	Claim   Claim  `json:"claim"`   // who holds it
	Name    string `json:"name,omitempty"`
	Cwd     string `json:"cwd,omitempty"`  // URI
	Cols    *int   `json:"cols,omitempty"` // 1 or more
	Rows    *int   `json:"rows,omitempty"`

	ExecutionTarget string `json:"executionTarget,omitempty"` // "server", which is the default, or ExecutedByClient
}

// ListSessionsResult is the result of listSessions.
type ListSessionsResult struct {
	Items      []json.RawMessage `json:"items"` // a SessionSummary each; never nil
	NextCursor string            `json:"nextCursor,omitempty"`
}

// SessionSummary is a session of an agent in a list.
type SessionSummary struct {
	Resource         string          `json:"resource"` // URI
	Provider         string          `json:"provider"`
	Title            string          `json:"title"`
	Status           int             `json:"status"`    // bits
	CreatedAt        string          `json:"createdAt"` // ISO 8601, like ModifiedAt
	ModifiedAt       string          `json:"modifiedAt"`
	Activity         string          `json:"activity,omitempty"`
	WorkingDirectory string          `json:"workingDirectory,omitempty"` // URI
	Project          json.RawMessage `json:"project,omitzero"`
}
