package client

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"tandem/ahp/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait in these tests; none is expected to last long.
const patience = 20 * time.Second

// socketBuffer is the size of the buffers of both ends' sockets, in bytes; the kernel takes some more.
const socketBuffer = 128 << 10

// host is the other end of a client's socket: it says and expects what a test writes, to the letter.
type host struct {
	t       *testing.T
	conn    *websocket.Conn
	request *http.Request // the upgrade
}

// dial connects a client to a host.
func dial(t *testing.T, opts Options) (*Client, *host) {
	t.Helper()
	accepted := make(chan *host, 1)
	over := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			t.Error(err)
			return
		}
		accepted <- &host{t, conn, r}
		<-over
	}))
	// With small buffers, a client that does not read is soon felt.
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew {
			_ = conn.(*net.TCPConn).SetWriteBuffer(socketBuffer)
		}
	}
	server.Start()
	transport := server.Client().Transport.(*http.Transport)
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(socketBuffer)
		}
		return conn, err
	}
	opts.HTTPClient = server.Client()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := Dial(ctx, server.URL+"/ahp", opts)
	if err != nil {
		t.Fatal(err)
	}
	h := <-accepted
	t.Cleanup(func() {
		_ = h.conn.CloseNow() // before the client's Close, which then need not wait for an answer
		c.Close()
		close(over)
		server.Close()
	})
	return c, h
}

// within returns a context for one step of a test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// say sends one text frame.
func (h *host) say(frame string) {
	h.t.Helper()
	if err := h.conn.Write(within(h.t), websocket.MessageText, []byte(frame)); err != nil {
		h.t.Error(err)
	}
}

// tell sends an envelope.
func (h *host) tell(e wire.Envelope) { h.t.Helper(); h.say(string(wire.Request(nil, "action", e))) }

// expect reads one frame, which must be the same JSON.
func (h *host) expect(frame string) {
	h.t.Helper()
	_, got, err := h.conn.Read(within(h.t))
	if err != nil {
		h.t.Errorf("%v, want %s", err, frame)
		return
	}
	if !reflect.DeepEqual(anyJSON(h.t, got), anyJSON(h.t, []byte(frame))) {
		h.t.Errorf("the client sent %s, want %s", got, frame)
	}
}

func anyJSON(t *testing.T, p []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(p, &v); err != nil {
		t.Errorf("%v in %s", err, p)
	}
	return v
}

// next expects an envelope with this number.
func next(t *testing.T, c *Client, seq int64) wire.Envelope {
	t.Helper()
	e, err := c.Next(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if e.ServerSeq != seq {
		t.Fatalf("number %d came, want %d", e.ServerSeq, seq)
	}
	return e
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// data is an envelope with output.
func data(seq int64, text string) wire.Envelope {
	return wire.Envelope{Channel: "ahp-terminal:/1", Action: wire.TerminalData{Data: text}, ServerSeq: seq}
}
