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

	// maxEvents is how many envelopes wait for Next. While that many do, the socket is not read: nothing is dropped,
	// and a host sees that the client is slow.
	maxEvents = 256
)

// ErrClosed reports a call on a connection that has ended.
var ErrClosed = errors.New("the connection to the host has ended")

// Options say who the client is.
type Options struct {
	ClientID   string       // names the client at the host, also when it comes back
	Versions   []string     // offered; nil means 1.0.0
	Token      string       // sent as a bearer token, if any
	Header     http.Header  // sent as well, such as Origin and Cookie
	HTTPClient *http.Client // nil means http.DefaultClient
}

// Client is one connection to a host. All methods but Next are safe for concurrent use; Next belongs to one goroutine,
// which must call it as long as there are subscriptions, else the calls of others get no answers.
type Client struct {
	opts   Options
	conn   *websocket.Conn
	events chan wire.Envelope
	ended  chan struct{} // closed when nothing more comes
	stop   context.CancelFunc

	mu      sync.Mutex // guards what follows
	lastID  int64
	lastSeq int64
	calls   map[string]chan wire.Message // by id
	err     error                        // why it ended
}

// Dial connects to the host at url ("ws://…/ahp"). Initialize or Reconnect comes next. The caller must Close it.
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
	c := &Client{
		opts: opts, conn: conn, stop: stop, events: make(chan wire.Envelope, maxEvents), ended: make(chan struct{}),
		calls: map[string]chan wire.Message{},
	}
	go c.read(reading)
	return c, nil
}

// Close ends the connection and waits for its goroutine.
func (c *Client) Close() {
	c.stop()
	_ = c.conn.CloseNow()
	<-c.ended
}

// read takes messages until the connection ends.
func (c *Client) read(ctx context.Context) {
	defer close(c.ended)
	for {
		_, p, err := c.conn.Read(ctx)
		if err == nil {
			err = c.take(ctx, p)
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

func (c *Client) take(ctx context.Context, p []byte) error {
	m, malformed := wire.Parse(p)
	switch {
	case malformed != nil:
		return malformed
	case m.Method == "action":
		var e wire.Envelope
		if err := json.Unmarshal(m.Params, &e); err != nil {
			return fmt.Errorf("reading an action: %w", err)
		}
		select {
		case c.events <- e:
		case <-ctx.Done():
			return ctx.Err()
		}
	case m.Method == "":
		c.mu.Lock()
		answer := c.calls[string(m.ID)]
		delete(c.calls, string(m.ID))
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
	return nil
}

// end fails all calls.
func (c *Client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = fmt.Errorf("%w: %w", ErrClosed, err)
	for id, answer := range c.calls {
		close(answer)
		delete(c.calls, id)
	}
}

// Err returns why the connection ended; ErrClosed is in it. It is nil while the connection stands.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Next blocks until the host sends an action and returns it. Actions come in the order of their numbers. After the last
// one it returns ErrClosed.
func (c *Client) Next(ctx context.Context) (wire.Envelope, error) {
	select {
	case e := <-c.events:
		return e, nil
	default:
	}
	select {
	case e := <-c.events:
		return e, nil
	case <-c.ended:
		select {
		case e := <-c.events:
			return e, nil
		default:
			return wire.Envelope{}, c.Err()
		}
	case <-ctx.Done():
		return wire.Envelope{}, ctx.Err()
	}
}

// Call sends a request and blocks for its result, which it reads into result unless that is nil. An error of the host's is
// a *wire.Error.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	answer := make(chan wire.Message, 1)
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	c.lastID++
	id := strconv.FormatInt(c.lastID, 10)
	c.calls[id] = answer
	c.mu.Unlock()
	if err := c.conn.Write(ctx, websocket.MessageText, wire.Request(json.RawMessage(id), method, params)); err != nil {
		return fmt.Errorf("sending %s: %w", method, err)
	}
	select {
	case m, ok := <-answer:
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

// Notify sends a notification.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	if err := c.conn.Write(ctx, websocket.MessageText, wire.Request(nil, method, params)); err != nil {
		return fmt.Errorf("sending %s: %w", method, err)
	}
	return nil
}
