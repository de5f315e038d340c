package client

import (
	"context"
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

// Reconnect resumes the subscriptions of a client of the same id that had everything up to lastSeen. The result has what
// it missed, or, if its Type is "snapshot", the present. A *wire.Error says that the client has to Initialize.
func (c *Client) Reconnect(ctx context.Context, lastSeen int64, channels ...string) (wire.ReconnectResult, error) {
	params := wire.ReconnectParams{Channel: wire.RootChannel, ClientID: c.opts.ClientID, LastSeenServerSeq: &lastSeen}
	for _, name := range channels {
		params.Subscriptions = append(params.Subscriptions, wire.Subscription{Channel: name})
	}
	var result wire.ReconnectResult
	if err := c.Call(ctx, "reconnect", params, &result); err != nil {
		return wire.ReconnectResult{}, err
	}
	if result.Type != "replay" && result.Type != "snapshot" {
		return wire.ReconnectResult{}, fmt.Errorf("reconnect: unknown result %q", result.Type)
	}
	return result, nil
}

// Ping blocks until the host answers, which it does in order with what it sends: envelopes of before are there then.
func (c *Client) Ping(ctx context.Context) error {
	return c.Call(ctx, "ping", wire.ChannelParams{Channel: wire.RootChannel}, nil)
}

// Subscribe asks for a channel's actions, which come by Next, and returns its state. Latency is how long they may wait to
// be merged, in whole milliseconds; negative leaves it to the host. The snapshot of a channel without state has none.
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

// CreateTerminal starts a shell in a new terminal. A claim of no kind is one for the client itself.
func (c *Client) CreateTerminal(ctx context.Context, params wire.CreateTerminalParams) error {
	if params.Claim.Kind == "" {
		params.Claim = wire.Claim{Kind: wire.ClaimClient, ClientID: c.opts.ClientID}
	}
	return c.Call(ctx, "createTerminal", params, nil)
}

// DisposeTerminal ends a terminal and everything in it.
func (c *Client) DisposeTerminal(ctx context.Context, channel string) error {
	return c.Call(ctx, "disposeTerminal", wire.ChannelParams{Channel: channel}, nil)
}

// ListSessions returns the host's sessions, or as many as it lists at once.
func (c *Client) ListSessions(ctx context.Context) ([]wire.SessionSummary, error) {
	var result struct {
		Items []wire.SessionSummary `json:"items"`
	}
	err := c.Call(ctx, "listSessions", wire.ChannelParams{Channel: wire.RootChannel}, &result)
	return result.Items, err
}

// Dispatch sends an action and returns its number. If the host refuses it, an envelope with that number and a reason comes
// by Next.
func (c *Client) Dispatch(ctx context.Context, channel string, action wire.Action) (clientSeq int64, err error) {
	c.acting.Lock()
	defer c.acting.Unlock()
	c.acts++
	return c.acts, c.Notify(ctx, "dispatchAction", wire.DispatchActionParams{
		Channel: channel, ClientSeq: c.acts, Action: wire.AppendAction(nil, action),
	})
}
