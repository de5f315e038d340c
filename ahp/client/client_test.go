package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"tandem/ahp/wire"
)

func TestNextGivesEnvelopesInOrder(t *testing.T) {
	c, h := dial(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	waiting := make(chan error, 1)
	go func() {
		_, err := c.Next(ctx)
		waiting <- err
	}()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	h.tell(data(5, "a"))
	h.say(`{"jsonrpc":"2.0","method":"root/sessionAdded","params":{"channel":"ahp-root://"}}`)
	h.say(`{"jsonrpc":"2.0","method":"action","params":{"channel":"x","action":{"type":"future/a"},"serverSeq":6,"rejectionReason":"no","origin":{"clientId":"c","clientSeq":2}}}`)
	h.tell(data(9, "b"))
	next(t, c, 5)
	e := next(t, c, 6)
	if e.Action.Type() != "future/a" || e.RejectionReason != "no" || *e.Origin != (wire.Origin{ClientID: "c", ClientSeq: 2}) {
		t.Errorf("got %+v", e)
	}
	e = next(t, c, 9)
	if e.Action != (wire.TerminalData{Data: "b"}) {
		t.Errorf("got %+v", e)
	}
}

// What came before the end is still given, then the reason of the end.
func TestNextAfterTheEnd(t *testing.T) {
	c, h := dial(t, Options{})
	h.tell(data(1, "a"))
	h.tell(data(2, "b"))
	if err := h.conn.Close(4001, "login ended"); err != nil {
		t.Fatal(err)
	}
	next(t, c, 1)
	next(t, c, 2)
	for range 2 {
		_, err := c.Next(within(t))
		if !errors.Is(err, ErrClosed) || websocket.CloseStatus(err) != 4001 {
			t.Errorf("got %v", err)
		}
	}
	if err := c.Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := c.Ping(within(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestCloseIsPolite(t *testing.T) {
	c, h := dial(t, Options{})
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	h.tell(data(1, "a"))
	eventually(t, "the envelope waits", func() bool { return waiting(c) == 1 })
	heard := make(chan error, 1)
	go func() {
		_, _, err := h.conn.Read(within(t))
		heard <- err
	}()
	c.Close()
	if err := <-heard; websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("the host heard %v", err)
	}
	next(t, c, 1)
	if _, err := c.Next(within(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	c.Close() // again
}

// A client that does not take what comes reads no more of it, and loses none.
func TestSlowClientStopsReading(t *testing.T) {
	c, h := dial(t, Options{})
	const envelopes = 3 * maxEvents
	text := strings.Repeat("x", 4<<10) // those that may not wait are far more than the sockets buffer
	var sent atomic.Int64
	var all sync.WaitGroup
	all.Go(func() {
		for seq := range int64(envelopes) {
			h.tell(data(seq+1, text))
			sent.Add(1)
		}
	})
	last, since := int64(-1), time.Now()
	eventually(t, "the host is stopped", func() bool {
		if now := sent.Load(); now != last {
			last, since = now, time.Now()
		}
		return last == envelopes || last >= maxEvents && time.Since(since) > time.Second
	})
	if last == envelopes || waiting(c) != maxEvents {
		t.Errorf("the host has sent %d of %d, of which %d wait", last, envelopes, waiting(c))
	}
	for seq := range int64(envelopes) {
		e := next(t, c, seq+1)
		if e.Action != (wire.TerminalData{Data: text}) {
			t.Fatalf("number %d is not as it was sent", seq+1)
		}
	}
	all.Wait()
}

// waiting returns how many envelopes wait for Next.
func waiting(c *Client) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// A call is answered even if more envelopes come before than may wait.
func TestCallBehindMuch(t *testing.T) {
	c, h := dial(t, Options{})
	const envelopes = 4 * maxEvents
	var all sync.WaitGroup
	all.Go(func() {
		for seq := range int64(envelopes) {
			h.tell(data(seq+1, "x"))
		}
		h.expect(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)
		h.say(`{"jsonrpc":"2.0","id":1,"result":null}`)
	})
	eventually(t, "as many wait as may", func() bool { return waiting(c) >= maxEvents })
	if err := c.Ping(within(t)); err != nil {
		t.Fatal(err)
	}
	if n := waiting(c); n != envelopes {
		t.Errorf("%d wait, want %d", n, envelopes)
	}
	for seq := range int64(envelopes) {
		next(t, c, seq+1)
	}
	all.Wait()
}

// A client can be closed while its reader waits for Next.
func TestCloseWhileFull(t *testing.T) {
	c, h := dial(t, Options{})
	for seq := range int64(maxEvents + 10) {
		h.tell(data(seq+1, "x"))
	}
	eventually(t, "as many wait as may", func() bool { return waiting(c) >= maxEvents })
	go h.conn.Read(within(t)) // answers the close
	c.Close()
}

// Responses find their calls, in whatever order they come.
func TestCallsTogether(t *testing.T) {
	c, h := dial(t, Options{})
	const calls = 20
	var all sync.WaitGroup
	for n := range calls {
		all.Go(func() {
			var got string
			err := c.Call(within(t), "echo", map[string]int{"n": n}, &got)
			if want := fmt.Sprint(n); err != nil || got != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
	var answers []string
	for range calls {
		_, p, err := h.conn.Read(within(t))
		if err != nil {
			t.Fatal(err)
		}
		m, malformed := wire.Parse(p)
		if malformed != nil {
			t.Fatal(malformed)
		}
		n := anyJSON(t, m.Params).(map[string]any)["n"]
		answers = append(answers, string(wire.Response(m.ID, fmt.Sprint(n), nil)))
	}
	for n := range answers {
		h.say(answers[calls-1-n])
	}
	all.Wait()
}

// A call that is given up does no harm to the next ones.
func TestCallGivenUp(t *testing.T) {
	c, h := dial(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		h.expect(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)
		cancel()
		h.expect(`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"channel":"ahp-root://"}}`)
		h.say(`{"jsonrpc":"2.0","id":1,"result":null}`) // too late
		h.say(`{"jsonrpc":"2.0","id":9,"result":null}`) // never asked
		h.say(`{"jsonrpc":"2.0","id":2,"result":null}`)
	})
	if err := c.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := c.Ping(within(t)); err != nil {
		t.Error(err)
	}
	all.Wait()
	if n := len(c.calls); n != 0 {
		t.Errorf("%d calls still wait", n)
	}
}

func TestCallWhenTheConnectionIsLost(t *testing.T) {
	c, h := dial(t, Options{})
	var all sync.WaitGroup
	all.Go(func() {
		h.expect(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)
		_ = h.conn.CloseNow()
	})
	if err := c.Ping(within(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	all.Wait()
}

func TestRequestsOfTheHostAreAnswered(t *testing.T) {
	_, h := dial(t, Options{})
	h.say(`{"jsonrpc":"2.0","id":"h1","method":"resourceRead","params":{"uri":"virtual://a"}}`)
	h.expect(`{"jsonrpc":"2.0","id":"h1","error":{"code":-32601,"message":"this client serves no requests"}}`)
}

func TestRubbishEndsTheConnection(t *testing.T) {
	for _, test := range []struct{ name, frame, want string }{
		{"no JSON", `{`, "the message is not JSON"},
		{"no message", `[]`, "the message must be an object"},
		{"no envelope", `{"jsonrpc":"2.0","method":"action","params":{"channel":"x"}}`, "reading an action: action is missing"},
		{"no action", `{"jsonrpc":"2.0","method":"action","params":{"channel":"x","serverSeq":1,"action":{"type":"terminal/data","data":5}}}`,
			"reading an action: action.data must be a string"},
		{"no parameters", `{"jsonrpc":"2.0","method":"action"}`, "reading an action"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, h := dial(t, Options{})
			h.tell(data(1, "before"))
			h.say(test.frame)
			next(t, c, 1)
			_, err := c.Next(within(t))
			if !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if _, _, err := h.conn.Read(within(t)); err == nil {
				t.Error("the connection still stands")
			}
		})
	}
}

func TestDialIsRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "who are you?", http.StatusUnauthorized)
	}))
	defer server.Close()
	c, err := Dial(within(t), server.URL, Options{HTTPClient: server.Client()})
	if err == nil {
		c.Close()
		t.Fatal("connected")
	}
	if !strings.Contains(err.Error(), "401") {
		t.Errorf("got %v", err)
	}
}
