// Package client is a small client of the Agent Host Protocol.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/coder/websocket"

	"tandem/ahp/wire"
)

const (
	// maxMessage is the largest message taken from a host, in bytes.
	maxMessage = 32 << 20

	// maxEvents is how many envelopes wait for Next before the socket is not read any more.
	maxEvents = 256
)

// ErrClosed reports a call on a connection that has ended.
var ErrClosed = errors.New("the connection to the host has ended")

// Options say who the client is.
type Options struct {
	ClientID   string       // names the client at the host, also when it comes back; required by Initialize and Reconnect
	Versions   []string     // offered; nil means 1.0.0
	Token      string       // sent as a bearer token, if any
	Header     http.Header  // sent as well, such as Origin and Cookie
	HTTPClient *http.Client // nil means http.DefaultClient
}

// Client is one connection to a host. Its methods are safe for concurrent use.
//
// Envelopes wait for Next. When many do, the socket is not read, so that nothing is dropped and the host sees that the
// client is slow; it also gets no answers to its pings then, and may end the connection. While a Call waits for its
// response the socket is read all the same.
type Client struct {
	opts   Options
	conn   *websocket.Conn
	stop   context.CancelFunc
	ended  chan struct{} // closed when the reader has ended
	acting sync.Mutex    // held while an action is numbered and sent, so that the numbers rise on the wire
	acts   int64         // the last action's number; guarded by acting

	mu      sync.Mutex // guards what follows
	changed sync.Cond  // of mu: what follows has changed
	queue   []wire.Envelope
	lastID  int64
	calls   map[string]chan wire.Message // waiting for their responses, by id
	closing bool
	err     error // why nothing more comes
}

// Dial connects to the host at url ("ws://…/ahp"). Initialize or Reconnect comes next. The caller must Close the Client.
func Dial(ctx context.Context, url string, opts Options) (*Client, error) {
	header := opts.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if opts.Token != "" {
		header.Set("Authorization", "Bearer "+opts.Token)
	}
	conn, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: header, HTTPClient: opts.HTTPClient})
	if err != nil {
		return nil, fmt.Errorf("connecting to the host: %w", err)
	}
	conn.SetReadLimit(maxMessage)
	reading, stop := context.WithCancel(context.Background())
	c := &Client{opts: opts, conn: conn, stop: stop, ended: make(chan struct{}), calls: map[string]chan wire.Message{}}
	c.changed.L = &c.mu
	go c.read(reading)
	return c, nil
}

// Close ends the connection. It blocks until the host has answered, at most some seconds, and the Client's goroutine has
// ended. What Next has not returned yet it still does.
func (c *Client) Close() {
	c.mu.Lock()
	c.closing = true
	c.changed.Broadcast()
	c.mu.Unlock()
	_ = c.conn.Close(websocket.StatusNormalClosure, "")
	c.stop()
	<-c.ended
}

// Next blocks until the host sends an action and returns it. Actions come in the order of their numbers. After the last
// one it returns ErrClosed with the reason.
func (c *Client) Next(ctx context.Context) (wire.Envelope, error) {
	defer context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})()
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 {
		switch {
		case c.err != nil:
			return wire.Envelope{}, c.err
		case ctx.Err() != nil:
			return wire.Envelope{}, ctx.Err()
		}
		c.changed.Wait()
	}
	e := c.queue[0]
	c.queue = c.queue[1:]
	c.changed.Broadcast()
	return e, nil
}

// Err returns why the connection ended; ErrClosed is in it. It is nil while the connection stands.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Call sends a request and blocks for its result, which it reads into result unless that is nil. An error of the host's is
// a *wire.Error. A ctx that ends while the request is being sent ends the connection.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	id, answered, err := c.await()
	if err != nil {
		return err
	}
	defer c.forget(id)
	if err := c.conn.Write(ctx, websocket.MessageText, wire.Request(json.RawMessage(id), method, params)); err != nil {
		return fmt.Errorf("sending %s: %w", method, err)
	}
	select {
	case m, ok := <-answered:
		switch {
		case !ok:
			return c.Err()
		case m.Error != nil:
			return m.Error
		case result == nil:
			return nil
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			return fmt.Errorf("reading the result of %s: %w", method, err)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Notify sends a notification. A ctx that ends meanwhile ends the connection.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	if err := c.conn.Write(ctx, websocket.MessageText, wire.Request(nil, method, params)); err != nil {
		return fmt.Errorf("sending %s: %w", method, err)
	}
	return nil
}

// await returns the id of a new request and what its response comes by.
func (c *Client) await() (id string, answered <-chan wire.Message, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return "", nil, c.err
	}
	c.lastID++
	id = strconv.FormatInt(c.lastID, 10)
	answer := make(chan wire.Message, 1)
	c.calls[id] = answer
	c.changed.Broadcast() // the socket is to be read
	return id, answer, nil
}

// forget ends the waiting for a response.
func (c *Client) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// read takes messages until the connection ends.
func (c *Client) read(ctx context.Context) {
	defer close(c.ended)
	for c.mayRead() {
		_, p, err := c.conn.Read(ctx)
		if err == nil {
			err = c.take(ctx, p)
		}
		if err != nil {
			// Whatever is wrong, nothing more can be taken.
			_ = c.conn.CloseNow()
			c.end(err)
			return
		}
	}
	c.end(errors.New("closed by this side"))
}

// mayRead blocks while enough envelopes wait and no call does. It reports false when the Client is closed.
func (c *Client) mayRead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) >= maxEvents && len(c.calls) == 0 && !c.closing {
		c.changed.Wait()
	}
	return !c.closing
}

// take takes one message.
func (c *Client) take(ctx context.Context, p []byte) error {
	m, malformed := wire.Parse(p)
	switch {
	case malformed != nil:
		return fmt.Errorf("reading a message of the host: %w", malformed)
	case m.Method == "":
		c.answer(m)
	case m.ID != nil:
		refusal := &wire.Error{Code: wire.MethodNotFound, Message: "this client serves no requests"}
		return c.conn.Write(ctx, websocket.MessageText, wire.Response(m.ID, nil, refusal))
	case m.Method == "action":
		var e wire.Envelope
		if err := e.UnmarshalJSON(m.Params); err != nil {
			return fmt.Errorf("reading an action: %w", err)
		}
		c.mu.Lock()
		c.queue = append(c.queue, e)
		c.changed.Broadcast()
		c.mu.Unlock()
	}
	return nil
}

// answer gives a response to the call that waits for it, if one still does.
func (c *Client) answer(m wire.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer := c.calls[string(m.ID)]; answer != nil {
		delete(c.calls, string(m.ID))
		answer <- m
	}
}

// end fails all calls, and Next after the last envelope.
func (c *Client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = fmt.Errorf("%w: %w", ErrClosed, err)
	for id, answer := range c.calls {
		close(answer)
		delete(c.calls, id)
	}
	c.changed.Broadcast()
}
