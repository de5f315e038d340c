package ahp

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"tandem/ahp/client"
	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// patience bounds every wait in these tests; none is expected to last long.
const patience = 20 * time.Second

// world is a host on a real socket.
type world struct {
	t       testing.TB
	host    *Host
	sharing *sharing.Manager
	url     string
}

// The identities that clients of a world can have, by the name they connect with.
var identities = map[string]sharing.Identity{
	"person":   {Kind: sharing.Person, ID: "desk", Name: "Firefox on Linux", Read: true, Write: true},
	"claude":   {Kind: sharing.Program, ID: "t1", Name: "claude", Read: true, Write: true},
	"other":    {Kind: sharing.Program, ID: "t2", Name: "other", Read: true, Write: true},
	"readonly": {Kind: sharing.Program, ID: "t3", Name: "readonly", Read: true},
}

// newWorld starts a host. change adapts its configuration.
func newWorld(t testing.TB, change func(*sharing.Config)) *world {
	t.Helper()
	cfg := sharing.Config{
		Terminals: ptymgr.Config{Shell: "/bin/sh", Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)},
	}
	if change != nil {
		change(&cfg)
	}
	manager := sharing.New(cfg)
	host := NewHost(Config{
		Sharing: manager, Version: "test", Logger: cfg.Terminals.Logger,
		PingEvery: time.Hour, // a machine that is busy with tests may let a client wait for long
	})
	ctx, cancel := context.WithCancelCause(context.Background())
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hijacked := &hijacker{ResponseWriter: w}
		conn, err := websocket.Accept(hijacked, r, nil)
		if err != nil {
			return
		}
		if r.URL.Query().Has("tight") { // little is on its way to the client at a time
			_ = hijacked.conn.(*net.TCPConn).SetWriteBuffer(16 << 10)
		}
		host.Serve(ctx, conn, hijacked.conn, identities[r.URL.Query().Get("as")])
	}))
	server.Start()
	t.Cleanup(func() {
		cancel(&CloseError{websocket.StatusGoingAway, "test over"})
		within, done := context.WithTimeout(context.Background(), patience)
		defer done()
		if err := manager.Close(within); err != nil {
			t.Error(err)
		}
		server.Close()
		host.Wait()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return &world{t, host, manager, "ws" + strings.TrimPrefix(server.URL, "http")}
}

// hijacker keeps the connection that Accept takes over.
type hijacker struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack is called by Accept.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn = conn
	return conn, rw, err
}

// peer is a client with a mirror of what it is shown.
type peer struct {
	*client.Client
	client.Mirror
	t    testing.TB
	seen []wire.Envelope // all that came, in order
}

// dial connects a client of an identity. It has not said anything yet.
func (w *world) dial(as, clientID string, versions ...string) *peer {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Dial(ctx, w.url+"?as="+as, client.Options{ClientID: clientID, Versions: versions})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return &peer{Client: c, t: w.t}
}

// join connects a client that subscribes to channels.
func (w *world) join(as, clientID string, channels ...string) *peer {
	w.t.Helper()
	p := w.dial(as, clientID)
	p.initialize(channels...)
	return p
}

func (p *peer) within() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	p.t.Cleanup(cancel)
	return ctx
}

func (p *peer) initialize(channels ...string) wire.InitializeResult {
	p.t.Helper()
	result, err := p.Initialize(p.within(), channels...)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, s := range result.Snapshots {
		p.take(s)
	}
	return result
}

func (p *peer) take(s wire.Snapshot) {
	p.t.Helper()
	if err := p.Mirror.Take(s); err != nil {
		p.t.Fatal(err)
	}
}

// subscribe adds a channel to the mirror.
func (p *peer) subscribe(channel string) wire.Snapshot {
	p.t.Helper()
	s, err := p.Subscribe(p.within(), channel, -1)
	if err != nil {
		p.t.Fatal(err)
	}
	p.take(s)
	return s
}

// create makes a terminal that the peer holds.
func (p *peer) create(channel string, clientID string) {
	p.t.Helper()
	err := p.CreateTerminal(p.within(), wire.CreateTerminalParams{
		Channel: channel, Claim: wire.Claim{Kind: wire.ClaimClient, ClientID: clientID},
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// dispatch sends an action.
func (p *peer) dispatch(channel string, a wire.Action) int64 {
	p.t.Helper()
	seq, err := p.Dispatch(p.within(), channel, a)
	if err != nil {
		p.t.Fatal(err)
	}
	return seq
}

// input types text into a terminal.
func (p *peer) input(channel, text string) int64 {
	p.t.Helper()
	return p.dispatch(channel, wire.TerminalInput{Data: text})
}

// next takes one envelope into the mirror.
func (p *peer) next() wire.Envelope {
	p.t.Helper()
	e, err := p.Next(p.within())
	if err != nil {
		p.t.Fatal(err)
	}
	if n := len(p.seen); n > 0 && e.ServerSeq <= p.seen[n-1].ServerSeq {
		p.t.Fatalf("number %d came after %d", e.ServerSeq, p.seen[n-1].ServerSeq)
	}
	p.seen = append(p.seen, e)
	p.Apply(e)
	return e
}

// until takes envelopes until one is as wanted, and returns that.
func (p *peer) until(wanted func(wire.Envelope) bool) wire.Envelope {
	p.t.Helper()
	for {
		if e := p.next(); wanted(e) {
			return e
		}
	}
}

// untilText takes envelopes until the terminal's text contains the words.
func (p *peer) untilText(channel, words string) {
	p.t.Helper()
	for !strings.Contains(p.Text(channel), words) {
		p.next()
	}
}

// sync takes everything that was sent before now.
func (p *peer) sync() {
	p.t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.Ping(p.within()) }()
	for {
		select {
		case err := <-done:
			if err != nil {
				p.t.Fatal(err)
			}
			for {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				e, err := p.Next(ctx)
				if err != nil {
					return
				}
				p.seen = append(p.seen, e)
				p.Apply(e)
			}
		default:
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			if e, err := p.Next(ctx); err == nil {
				p.seen = append(p.seen, e)
				p.Apply(e)
			}
			cancel()
		}
	}
}

// fixtures returns the folder of the protocol's shared test data, or skips.
func fixtures(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("TANDEM_PROTOCOL_DATA"); dir != "" {
		return dir
	}
	const dir = "../../shared/protocol/ahp-data"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the protocol's shared test data is not here")
	}
	return dir
}

// rawState returns a snapshot's state as it was written.
func rawState(t testing.TB, s wire.Snapshot) map[string]json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(s.State, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}
