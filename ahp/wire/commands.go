package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Implementation names a client or host.
type Implementation struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Title   string `json:"title,omitempty"`
}

// InitializeParams begin a connection.
type InitializeParams struct {
	Channel              string          `json:"channel"`
	ProtocolVersions     []string        `json:"protocolVersions"`
	ClientID             string          `json:"clientId"`
	ClientInfo           *Implementation `json:"clientInfo,omitempty"`
	InitialSubscriptions []string        `json:"initialSubscriptions,omitempty"`
}

// InitializeResult answers them.
type InitializeResult struct {
	ProtocolVersion       string          `json:"protocolVersion"`
	ServerSeq             int64           `json:"serverSeq"`
	Snapshots             []Snapshot      `json:"snapshots"`
	ServerInfo            *Implementation `json:"serverInfo,omitempty"` // from 0.5.2 on
	DefaultDirectory      string          `json:"defaultDirectory,omitempty"`
	TerminalCommandPrefix *string         `json:"terminalCommandPrefix,omitempty"`
	TCPConnections        json.RawMessage `json:"tcpConnections,omitempty"`
}

// SubscribeParams ask for a channel.
type SubscribeParams struct {
	Channel  string    `json:"channel"`
	Delivery *Delivery `json:"delivery,omitempty"`
}

// Delivery says how a subscriber wants to be served.
type Delivery struct {
	MaxLatencyMs *int64 `json:"maxLatencyMs,omitempty"` // how long updates may wait to be merged, 0 or more
}

// SubscribeResult has the snapshot of a channel with state.
type SubscribeResult struct {
	Snapshot *Snapshot `json:"snapshot,omitempty"`
}

// ChannelParams name a channel and nothing else.
type ChannelParams struct {
	Channel string `json:"channel"`
}

// ReconnectParams resume a client.
type ReconnectParams struct {
	Channel           string         `json:"channel"`
	ClientID          string         `json:"clientId"`
	LastSeenServerSeq int64          `json:"lastSeenServerSeq"`
	Subscriptions     []Subscription `json:"subscriptions"`
}

// Subscription is a channel to resume: a URI, or in a proposed form an object with a number of its own.
type Subscription struct {
	Channel           string
	LastSeenServerSeq *int64
}

// UnmarshalJSON reads either form.
func (s *Subscription) UnmarshalJSON(p []byte) error {
	if json.Unmarshal(p, &s.Channel) == nil {
		return nil
	}
	var cursor struct {
		Channel           *string `json:"channel"`
		LastSeenServerSeq *int64  `json:"lastSeenServerSeq"`
	}
	if json.Unmarshal(p, &cursor) != nil || cursor.Channel == nil || cursor.LastSeenServerSeq == nil {
		return errors.New("a subscription is a URI")
	}
	s.Channel, s.LastSeenServerSeq = *cursor.Channel, cursor.LastSeenServerSeq
	return nil
}

// MarshalJSON writes the form that was read.
func (s Subscription) MarshalJSON() ([]byte, error) {
	if s.LastSeenServerSeq == nil {
		return appendJSON(nil, s.Channel), nil
	}
	return appendJSON(nil, map[string]any{"channel": s.Channel, "lastSeenServerSeq": *s.LastSeenServerSeq}), nil
}

// Names returns the channels, and the number up to which the client has everything: of cursors, the lowest.
func (p *ReconnectParams) Names() (names []string, lastSeen int64) {
	lastSeen = p.LastSeenServerSeq
	for i, s := range p.Subscriptions {
		names = append(names, s.Channel)
		if s.LastSeenServerSeq != nil && (i == 0 || *s.LastSeenServerSeq < lastSeen) {
			lastSeen = *s.LastSeenServerSeq
		}
	}
	return names, lastSeen
}

// ReconnectReplayResult has everything that the client missed.
type ReconnectReplayResult struct {
	Type    string            `json:"type"` // "replay"
	Actions []json.RawMessage `json:"actions"`
	Missing []string          `json:"missing"`
}

// ReconnectSnapshotResult has the present states.
type ReconnectSnapshotResult struct {
	Type      string     `json:"type"` // "snapshot"
	Snapshots []Snapshot `json:"snapshots"`
}

// CreateTerminalParams ask for a new terminal.
type CreateTerminalParams struct {
	Channel string `json:"channel"` // chosen by the client
	Claim   Claim  `json:"claim"`
	Name    string `json:"name,omitempty"`
	Cwd     string `json:"cwd,omitempty"` // URI
	Cols    *int   `json:"cols,omitempty"`
	Rows    *int   `json:"rows,omitempty"`
}

// DispatchActionParams ask for an action.
type DispatchActionParams struct {
	Channel   string          `json:"channel"`
	ClientSeq int64           `json:"clientSeq"`
	Action    json.RawMessage `json:"action"`
}

// ListSessionsResult lists sessions.
type ListSessionsResult struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

// ParseInitialize reads the params of initialize.
func ParseInitialize(p []byte) (params InitializeParams, err *Error) {
	if err = decode(p, &params, "protocolVersions", "clientId"); err == nil && params.ClientID == "" {
		err = invalid("clientId: must not be empty")
	}
	return params, err
}

// ParseReconnect reads the params of reconnect.
func ParseReconnect(p []byte) (params ReconnectParams, err *Error) {
	if err = decode(p, &params, "clientId"); err == nil && params.ClientID == "" {
		err = invalid("clientId: must not be empty")
	}
	return params, err
}

// ParseSubscribe reads the params of subscribe.
func ParseSubscribe(p []byte) (params SubscribeParams, err *Error) {
	if err = decode(p, &params, "channel"); err == nil && params.Delivery != nil && params.Delivery.MaxLatencyMs != nil &&
		(*params.Delivery.MaxLatencyMs < 0 || *params.Delivery.MaxLatencyMs > maxLatency) {
		err = invalid("delivery.maxLatencyMs: must be a whole number from 0 to 3600000")
	}
	return params, err
}

// maxLatency is the longest that a subscriber may let updates wait, in milliseconds.
const maxLatency = 3_600_000

// ParseChannel reads the params of unsubscribe and disposeTerminal.
func ParseChannel(p []byte) (params ChannelParams, err *Error) {
	err = decode(p, &params, "channel")
	return params, err
}

// ParseCreateTerminal reads the params of createTerminal.
func ParseCreateTerminal(p []byte) (params CreateTerminalParams, err *Error) {
	err = decode(p, &params, "channel", "claim")
	return params, err
}

// ParseDispatchAction reads the params of dispatchAction.
func ParseDispatchAction(p []byte) (params DispatchActionParams, err *Error) {
	err = decode(p, &params, "channel", "clientSeq", "action")
	return params, err
}

// decode reads an object into v. Unknown fields are ignored, and null is as good as absent; required ones must be there.
func decode(p []byte, v any, required ...string) *Error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(p, &fields) != nil || fields == nil {
		return invalid("must be an object")
	}
	for _, name := range required {
		if raw, ok := fields[name]; !ok || string(raw) == "null" {
			return invalid(name + ": is missing")
		}
	}
	err := json.Unmarshal(p, v)
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return invalid(fmt.Sprintf("%s: must be a %s, not a %s", mistyped.Field, mistyped.Type.Kind(), mistyped.Value))
	default:
		return invalid(err.Error())
	}
}

// UnmarshalJSON reads a claim and checks that it is one.
func (c *Claim) UnmarshalJSON(p []byte) error {
	type plain Claim
	var read plain
	if err := json.Unmarshal(p, &read); err != nil {
		return err
	}
	switch {
	case read.Kind == ClaimClient && read.ClientID == "":
		return errors.New("claim: a client's needs a clientId")
	case read.Kind == ClaimSession && read.Session == "":
		return errors.New("claim: a session's needs the session")
	case read.Kind != ClaimClient && read.Kind != ClaimSession:
		return errors.New(`claim: kind must be "client" or "session"`)
	}
	*c = Claim(read)
	return nil
}
