package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"time"

	"tandem/ahp/wire"
)

const terminal = `{"title":"sh","content":[],"claim":{"kind":"client","clientId":"c1"},"lifecycle":{"status":"running"}}`

// What each method sends, and what it makes of the answer.
func TestCalls(t *testing.T) {
	snapshot := wire.Snapshot{Resource: "ahp-terminal:/1", State: []byte(terminal), FromSeq: 7}
	const snapshotJSON = `{"resource":"ahp-terminal:/1","fromSeq":7,"state":` + terminal + `}`
	for _, test := range []struct {
		name   string
		opts   Options
		call   func(context.Context, *Client) (any, error)
		method string
		params string
		result string
		want   any
	}{
		{"initialize", Options{ClientID: "c1"},
			func(ctx context.Context, c *Client) (any, error) { return c.Initialize(ctx) },
			"initialize", `{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"c1"}`,
			`{"protocolVersion":"1.0.0","serverSeq":5,"snapshots":[],"new":1}`,
			wire.InitializeResult{ProtocolVersion: "1.0.0", ServerSeq: 5, Snapshots: []wire.Snapshot{}}},
		{"initialize with channels", Options{ClientID: "c1", Versions: []string{"0.6.0", "0.5.1"}},
			func(ctx context.Context, c *Client) (any, error) {
				return c.Initialize(ctx, wire.RootChannel, "ahp-terminal:/1")
			},
			"initialize", `{"channel":"ahp-root://","protocolVersions":["0.6.0","0.5.1"],"clientId":"c1","initialSubscriptions":["ahp-root://","ahp-terminal:/1"]}`,
			`{"protocolVersion":"0.6.0","serverSeq":7,"snapshots":[` + snapshotJSON + `],"serverInfo":{"name":"h"}}`,
			wire.InitializeResult{ProtocolVersion: "0.6.0", ServerSeq: 7, Snapshots: []wire.Snapshot{snapshot}, ServerInfo: &wire.Implementation{Name: "h"}}},
		{"reconnect with a replay", Options{ClientID: "c1"},
			func(ctx context.Context, c *Client) (any, error) {
				return c.Reconnect(ctx, 7, "ahp-terminal:/1", "gone")
			},
			"reconnect", `{"channel":"ahp-root://","clientId":"c1","lastSeenServerSeq":7,"subscriptions":["ahp-terminal:/1","gone"]}`,
			`{"type":"replay","actions":[{"channel":"ahp-terminal:/1","action":{"type":"terminal/data","data":"x"},"serverSeq":8}],"missing":["gone"]}`,
			wire.ReconnectResult{Type: "replay", Actions: []wire.Envelope{data(8, "x")}, Missing: []string{"gone"}}},
		{"reconnect with snapshots", Options{ClientID: "c1"},
			func(ctx context.Context, c *Client) (any, error) { return c.Reconnect(ctx, 0) },
			"reconnect", `{"channel":"ahp-root://","clientId":"c1","lastSeenServerSeq":0,"subscriptions":null}`,
			`{"type":"snapshot","snapshots":[` + snapshotJSON + `]}`,
			wire.ReconnectResult{Type: "snapshot", Snapshots: []wire.Snapshot{snapshot}}},
		{"ping", Options{},
			func(ctx context.Context, c *Client) (any, error) { return nil, c.Ping(ctx) },
			"ping", `{"channel":"ahp-root://"}`, `null`, nil},
		{"subscribe", Options{},
			func(ctx context.Context, c *Client) (any, error) { return c.Subscribe(ctx, "ahp-terminal:/1", -1) },
			"subscribe", `{"channel":"ahp-terminal:/1"}`, `{"snapshot":` + snapshotJSON + `}`, snapshot},
		{"subscribe with a latency", Options{},
			func(ctx context.Context, c *Client) (any, error) {
				return c.Subscribe(ctx, "ahp-terminal:/1", 20*time.Millisecond)
			},
			"subscribe", `{"channel":"ahp-terminal:/1","delivery":{"maxLatencyMs":20}}`, `{"snapshot":` + snapshotJSON + `}`, snapshot},
		{"subscribe at once to what has no state", Options{},
			func(ctx context.Context, c *Client) (any, error) { return c.Subscribe(ctx, "x:/1", 0) },
			"subscribe", `{"channel":"x:/1","delivery":{"maxLatencyMs":0}}`, `{}`, wire.Snapshot{Resource: "x:/1"}},
		{"create a terminal", Options{ClientID: "c1"},
			func(ctx context.Context, c *Client) (any, error) {
				return nil, c.CreateTerminal(ctx, wire.CreateTerminalParams{Channel: "ahp-terminal:/1", Name: "build", Cols: new(100)})
			},
			"createTerminal", `{"channel":"ahp-terminal:/1","claim":{"kind":"client","clientId":"c1"},"name":"build","cols":100}`, `null`, nil},
		{"create a terminal for a session", Options{ClientID: "c1"},
			func(ctx context.Context, c *Client) (any, error) {
				return nil, c.CreateTerminal(ctx, wire.CreateTerminalParams{
					Channel: "ahp-terminal:/1", Claim: wire.Claim{Kind: wire.ClaimSession, Session: "s:/1"}, Cwd: "file:///srv",
				})
			},
			"createTerminal", `{"channel":"ahp-terminal:/1","claim":{"kind":"session","session":"s:/1"},"cwd":"file:///srv"}`, `null`, nil},
		{"dispose a terminal", Options{},
			func(ctx context.Context, c *Client) (any, error) {
				return nil, c.DisposeTerminal(ctx, "ahp-terminal:/1")
			},
			"disposeTerminal", `{"channel":"ahp-terminal:/1"}`, `null`, nil},
		{"list sessions", Options{},
			func(ctx context.Context, c *Client) (any, error) { return c.ListSessions(ctx) },
			"listSessions", `{"channel":"ahp-root://"}`, `{"items":[{"resource":"s:/1","provider":"p","title":"t","status":41}]}`,
			[]wire.SessionSummary{{Resource: "s:/1", Provider: "p", Title: "t", Status: 41}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, h := dial(t, test.opts)
			var all sync.WaitGroup
			all.Go(func() {
				h.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, test.method, test.params))
				h.say(`{"jsonrpc":"2.0","id":1,"result":` + test.result + `}`)
				h.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":%s}`, test.method, test.params))
				h.say(`{"jsonrpc":"2.0","id":2,"error":{"code":-32008,"message":"not here","data":{"limit":10}}}`)
			})
			got, err := test.call(within(t), c)
			if err != nil {
				t.Error(err)
			} else if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			_, err = test.call(within(t), c)
			refusal, ok := errors.AsType[*wire.Error](err)
			if !ok || refusal.Code != wire.NotFound || refusal.Message != "not here" {
				t.Errorf("got %v, want the host's error", err)
			}
			all.Wait()
		})
	}
}

func TestReconnectTakesNoOtherResult(t *testing.T) {
	c, h := dial(t, Options{ClientID: "c1"})
	var all sync.WaitGroup
	all.Go(func() {
		h.expect(`{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{"channel":"ahp-root://","clientId":"c1","lastSeenServerSeq":1,"subscriptions":["a"]}}`)
		h.say(`{"jsonrpc":"2.0","id":1,"result":{"type":"other"}}`)
	})
	if result, err := c.Reconnect(within(t), 1, "a"); err == nil {
		t.Errorf("took %+v", result)
	}
	all.Wait()
}

func TestNotifications(t *testing.T) {
	c, h := dial(t, Options{})
	if err := c.Unsubscribe(within(t), "ahp-terminal:/1"); err != nil {
		t.Fatal(err)
	}
	h.expect(`{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"ahp-terminal:/1"}}`)
	for seq, action := range []wire.Action{wire.TerminalInput{Data: "ls\r"}, wire.TerminalCleared{}} {
		got, err := c.Dispatch(within(t), "ahp-terminal:/1", action)
		if err != nil {
			t.Fatal(err)
		}
		if got != int64(seq+1) {
			t.Errorf("the action's number is %d, want %d", got, seq+1)
		}
		h.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/1","clientSeq":%d,"action":%s}}`,
			seq+1, wire.AppendAction(nil, action)))
	}
}

// The numbers of actions rise on the wire, whoever dispatches them.
func TestDispatchTogether(t *testing.T) {
	c, h := dial(t, Options{})
	const clients, actions = 8, 50
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for range actions {
				if _, err := c.Dispatch(within(t), "a", wire.TerminalCleared{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for seq := range clients * actions {
		h.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"a","clientSeq":%d,"action":{"type":"terminal/cleared"}}}`, seq+1))
	}
	all.Wait()
}

func TestDialSaysWhoItIs(t *testing.T) {
	_, h := dial(t, Options{Token: "tandem_x", Header: http.Header{"Origin": {"http://page"}}})
	if got := h.request.Header.Get("Authorization"); got != "Bearer tandem_x" {
		t.Errorf("Authorization is %q", got)
	}
	if got := h.request.Header.Get("Origin"); got != "http://page" {
		t.Errorf("Origin is %q", got)
	}
}
