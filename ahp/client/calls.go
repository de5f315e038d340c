package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tandem/ahp/wire"
)

// Initialize begins the connection and subscribes to channels.
func (c *Client) Initialize(ctx context.Context, channels ...string) (wire.InitializeResult, error) {
	versions := c.opts.Versions
	if versions == nil {
		versions = []string{"1.0.0"}
	}
	var result wire.InitializeResult
	err := c.Call(ctx, "initialize", wire.InitializeParams{
		Channel: wire.RootChannel, ProtocolVersions: versions, ClientID: c.opts.ClientID, InitialSubscriptions: channels,
	}, &result)
	return result, err
}

// Reconnected is what a client that comes back is given: what it missed, or for Snapshots that are not nil the present.
type Reconnected struct {
	Actions   []wire.Envelope
	Missing   []string // channels that are gone
	Snapshots []wire.Snapshot
}

// Reconnect resumes the subscriptions of a client of the same id that had everything up to lastSeen. A *wire.Error says
// that it has to Initialize.
func (c *Client) Reconnect(ctx context.Context, lastSeen int64, channels ...string) (Reconnected, error) {
	params := wire.ReconnectParams{Channel: wire.RootChannel, ClientID: c.opts.ClientID, LastSeenServerSeq: &lastSeen}
	for _, name := range channels {
		params.Subscriptions = append(params.Subscriptions, wire.Subscription{Channel: name})
	}
	var result struct {
		Type string
		Reconnected
	}
	if err := c.Call(ctx, "reconnect", params, &result); err != nil {
		return Reconnected{}, err
	}
	if result.Type != "replay" && result.Type != "snapshot" {
		return Reconnected{}, fmt.Errorf("reconnect: unknown result %q", result.Type)
	}
	return result.Reconnected, nil
}

// Ping blocks until the host has carried out everything that was sent before.
func (c *Client) Ping(ctx context.Context) error {
	return c.Call(ctx, "ping", wire.ChannelParams{Channel: wire.RootChannel}, nil)
}

// Subscribe asks for a channel's actions, which come by Next, and returns its state. Latency is how long they may wait to
// be merged, in whole milliseconds; negative leaves it to the host.
func (c *Client) Subscribe(ctx context.Context, channel string, latency time.Duration) (wire.Snapshot, error) {
	params := wire.SubscribeParams{Channel: channel}
	if latency >= 0 {
		params.Delivery = &wire.Delivery{MaxLatencyMs: new(latency.Milliseconds())}
	}
	var result wire.SubscribeResult
	if err := c.Call(ctx, "subscribe", params, &result); err != nil {
		return wire.Snapshot{}, err
	}
	if result.Snapshot == nil {
		return wire.Snapshot{Resource: channel}, nil
	}
	return *result.Snapshot, nil
}

// Unsubscribe ends a subscription.
func (c *Client) Unsubscribe(ctx context.Context, channel string) error {
	return c.Notify(ctx, "unsubscribe", wire.ChannelParams{Channel: channel})
}

// CreateTerminal starts a shell in a new terminal.
func (c *Client) CreateTerminal(ctx context.Context, params wire.CreateTerminalParams) error {
	return c.Call(ctx, "createTerminal", params, nil)
}

// DisposeTerminal ends a terminal and everything in it.
func (c *Client) DisposeTerminal(ctx context.Context, channel string) error {
	return c.Call(ctx, "disposeTerminal", wire.ChannelParams{Channel: channel}, nil)
}

// ListSessions returns the host's sessions.
func (c *Client) ListSessions(ctx context.Context) (wire.ListSessionsResult, error) {
	var result wire.ListSessionsResult
	err := c.Call(ctx, "listSessions", wire.ChannelParams{Channel: wire.RootChannel}, &result)
	return result, err
}

// Dispatch sends an action and returns its number. If the host refuses it, an envelope with that number and a reason comes
// by Next.
func (c *Client) Dispatch(ctx context.Context, channel string, action wire.Action) (clientSeq int64, err error) {
	c.mu.Lock()
	c.lastSeq++
	clientSeq = c.lastSeq
	c.mu.Unlock()
	return clientSeq, c.Notify(ctx, "dispatchAction", wire.DispatchActionParams{
		Channel: channel, ClientSeq: clientSeq, Action: json.RawMessage(wire.AppendAction(nil, action)),
	})
}
