package share

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"tandem/ahp"
	"tandem/cli/share/networktest"
	"tandem/ptymgr"
	"tandem/sharing"
)

// patience bounds every wait in these tests; none is expected to last long.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv(panicEnv) != "" {
		panicInRawMode()
	}
	goleak.VerifyTestMain(m)
}

// panicEnv has the test binary panic in raw mode, as tandem might.
const panicEnv = "TANDEM_TEST_PANIC"

// panicInRawMode does what panicEnv says.
func panicInRawMode() {
	tty, err := openTTY(os.Stdin, os.Stdout)
	if err != nil {
		panic(err)
	}
	if err := tty.raw(); err != nil {
		panic(err)
	}
	_, _ = tty.Write([]byte("\x1b[?1049hin the midst"))
	done := make(chan struct{})
	go func() {
		defer tty.guard()
		defer close(done)
		if os.Getenv(panicEnv) == "goroutine" {
			panic("on purpose")
		}
	}()
	<-done
	defer tty.restore()
	panic("on purpose")
}

// eventually polls until done or out of patience.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// The identities that clients can have, by the token that they connect with.
var identities = map[string]sharing.Identity{
	"person": {Kind: sharing.Person, ID: "desk", Name: "laptop", Read: true, Write: true},
	"claude": {Kind: sharing.Program, ID: "t1", Name: "claude", Read: true, Write: true},
	"reader": {Kind: sharing.Program, ID: "t2", Name: "reader", Read: true},
}

// world is a host behind a network that can fail. It is the Server of its mirrors.
type world struct {
	t     *testing.T
	token string
	net   *networktest.Network

	manager *sharing.Manager
	stop    func()
}

// newWorld starts a host. Clients are of the identity of this token.
func newWorld(t *testing.T, token string, grace time.Duration) *world {
	t.Helper()
	w := &world{t: t, token: token, net: networktest.New(t)}
	w.start(grace)
	t.Cleanup(func() { w.stop() })
	return w
}

// start starts a host that knows nothing, at an address of its own.
func (w *world) start(grace time.Duration) {
	log := slog.New(slog.DiscardHandler)
	w.manager = sharing.New(sharing.Config{
		Terminals:   ptymgr.Config{Shell: "/bin/sh", Dir: w.t.TempDir(), LogBytes: 32 << 20, Logger: log},
		RemoteGrace: grace,
	})
	host := ahp.NewHost(ahp.Config{Sharing: w.manager, Version: "test", Logger: log})
	ctx, cancel := context.WithCancelCause(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		identity, ok := identities[r.Header.Get("Authorization")[len("Bearer "):]]
		if !ok {
			http.Error(rw, "who are you?", http.StatusUnauthorized)
			return
		}
		hijacked := &hijacker{ResponseWriter: rw}
		conn, err := websocket.Accept(hijacked, r, nil)
		if err == nil {
			host.Serve(ctx, conn, hijacked.conn, identity)
		}
	}))
	w.net.LeadTo(server.Listener.Addr().String())
	w.stop = sync.OnceFunc(func() {
		cancel(&ahp.CloseError{Code: websocket.StatusGoingAway, Reason: "test over"})
		within, done := context.WithTimeout(context.Background(), patience)
		defer done()
		if err := w.manager.Close(within); err != nil {
			w.t.Error(err)
		}
		server.Close()
		host.Wait()
	})
}

// restart replaces the host by a new one.
func (w *world) restart() {
	w.stop()
	w.start(0)
}

// Access is that of the world's token.
func (w *world) Access(context.Context) (Access, error) {
	return Access{URL: "http://" + w.net.Addr(), Token: w.token}, nil
}

func (w *world) String() string { return "the test's host" }

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

// person returns a client of the person, who sees everything.
func (w *world) person() *sharing.Client {
	w.t.Helper()
	c, err := w.manager.Join(identities["person"], "page")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Leave)
	return c
}

// terminal returns the only terminal of the host.
func (w *world) terminal() *sharing.Terminal {
	w.t.Helper()
	list, err := w.manager.List(w.person())
	if err != nil || len(list) != 1 {
		w.t.Fatalf("the host has %d terminals (%v), want 1", len(list), err)
	}
	return list[0]
}

// text returns what a terminal has printed.
func text(t *testing.T, shared *sharing.Terminal) string {
	t.Helper()
	from, to := shared.Pty().Bounds()
	p, err := shared.Pty().Text(nil, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}

// mirror returns one that is open, and impatient.
func (w *world) mirror() *mirror {
	w.t.Helper()
	m := newMirror(w, "", Size{80, 24})
	m.times = timing{pingEvery: 50 * time.Millisecond, pingWithin: 500 * time.Millisecond, minPause: 5 * time.Millisecond, maxPause: 50 * time.Millisecond}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.open(ctx); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(m.close)
	return m
}

// confirmed waits until the host has everything.
func confirmed(t *testing.T, m *mirror) {
	t.Helper()
	eventually(t, "the host has everything", func() bool { n, _ := m.box.unconfirmed(); return n == 0 })
}
