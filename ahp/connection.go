package ahp

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"sync"
	"time"

	"github.com/coder/websocket"

	"tandem/ahp/wire"
	"tandem/sharing"
)

const (
	// maxMessage is the largest message taken from a client, in bytes; a larger one closes the socket with 1009.
	maxMessage = 2 << 20

	// keepMessage is the largest read buffer that is kept between messages, in bytes.
	keepMessage = 4 << 10

	// maxWaiting is how much may wait to be sent in answer to a client's own messages, in bytes. Beyond it no more is
	// read from the client.
	maxWaiting = 64 << 10

	// pingEvery keeps proxies from cutting an idle socket; a client that has not answered by the next ping is gone.
	pingEvery = 20 * time.Second

	// closeWithin is how long a client may take to answer a close.
	closeWithin = 3 * time.Second
)

// CloseError, as the cause of the context that Serve is given, says how to close the socket.
type CloseError struct {
	Code   websocket.StatusCode
	Reason string
}

func (e *CloseError) Error() string { return e.Reason }

// connection is one client's socket. Its reader carries out messages one after the other, its sender sends what is
// new on the channels and the answers. Neither waits for the other but when a client does not take its answers.
type connection struct {
	host     *Host
	conn     *websocket.Conn
	below    transport
	identity sharing.Identity
	wake     chan struct{} // one slot: there may be something to send
	room     chan struct{} // one slot: answers were sent
	replace  chan struct{} // one slot: the client has come back on another connection
	left     chan struct{} // closed when nothing of the connection is left

	// The reader's own.
	client  *sharing.Client   // nil before the handshake
	last    int64             // the highest clientSeq that was carried out
	stops   map[string]func() // ends the watching of a terminal, by channel
	reading bytes.Buffer

	// Guarded by host.mu.
	version wire.Version // set by the handshake, like memory
	memory  *memory      // what outlives the connection
	key     clientKey    // whose that is
	subs    map[*subscription]struct{}
	sent    int64 // everything up to this number was sent, on all channels
	fence   int64 // nothing above this number is sent now; 0 for no fence
	flush   int64 // everything up to this number is to be sent without waiting
	answers []answer
	private []privateEvent // rejections, and echoes of input: ascending
	waiting int            // bytes of answers and private
	list    []byte         // the root list that the client has, as an action
	listed  int64          // its number
	torn    bool           // something was sent while programs were paused: all subscriptions are stale
}

// answer is a response, to be sent once everything up to the number was.
type answer struct {
	after   int64
	message []byte
	last    bool // the socket is closed then
}

// Serve speaks the protocol on conn with a client that was authenticated as identity, until either side ends it or ctx
// does; then it closes conn, as the *CloseError that is ctx's cause says, and returns the close code. below is what conn
// writes to. All it started has ended by then.
func (h *Host) Serve(ctx context.Context, conn *websocket.Conn, below net.Conn, identity sharing.Identity) websocket.StatusCode {
	c := &connection{
		host: h, conn: conn, below: newTransport(below), identity: identity, wake: make(chan struct{}, 1), room: make(chan struct{}, 1),
		replace: make(chan struct{}, 1), left: make(chan struct{}),
		stops: map[string]func(){}, subs: map[*subscription]struct{}{},
	}
	conn.SetReadLimit(maxMessage)
	h.mu.Lock()
	h.connections[c] = struct{}{}
	h.mu.Unlock()
	inner, cancel := context.WithCancel(ctx)
	ended := websocket.StatusCode(-1)
	var once sync.Once
	end := func(code websocket.StatusCode, reason string, ours bool) {
		once.Do(func() {
			ended = code
			cancel()
			// Not left to Close: that reads a message which is coming in to its end, however long it is.
			_ = below.SetDeadline(time.Now().Add(closeWithin))
			if ours {
				_ = conn.Close(code, reason)
			}
			_ = conn.CloseNow()
		})
	}
	var all sync.WaitGroup
	all.Go(func() { end(websocket.CloseStatus(c.receive(inner)), "", false) })
	all.Go(func() {
		if c.keepAlive(inner) != nil {
			end(websocket.StatusPolicyViolation, "no answer to pings", true)
		}
	})
	all.Go(func() {
		select {
		case <-c.replace:
			end(websocket.StatusPolicyViolation, "", false)
		case <-inner.Done():
		}
		if closing, ok := context.Cause(ctx).(*CloseError); ok {
			end(closing.Code, closing.Reason, true)
		}
		end(websocket.StatusGoingAway, "", true)
	})
	if c.send(inner) == nil {
		end(websocket.StatusNormalClosure, "no version of the protocol in common", true)
	}
	<-inner.Done()
	all.Wait()
	c.leave()
	return ended
}

// leave takes the connection out of everything.
func (c *connection) leave() {
	h := c.host
	h.mu.Lock()
	delete(h.connections, c)
	for s := range c.subs {
		c.drop(s)
	}
	if c.memory != nil {
		c.memory.disconnected()
	}
	h.mu.Unlock()
	for _, stop := range c.stops {
		stop()
	}
	if c.client != nil {
		c.client.Leave()
	}
	close(c.left)
}

// drop ends a subscription. Host.mu is held.
func (c *connection) drop(s *subscription) {
	delete(c.subs, s)
	delete(s.channel.subs, s)
	if t := s.channel.terminal; t != nil {
		t.tap.WantOutput(len(s.channel.subs) > 0)
	}
}

// receive carries out messages until the connection ends, and returns why it did.
func (c *connection) receive(ctx context.Context) error {
	for {
		_, r, err := c.conn.Reader(context.Background())
		if err != nil {
			return err
		}
		if _, err := c.reading.ReadFrom(r); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.handle(ctx, c.reading.Bytes())
		c.reading.Reset()
		if c.reading.Cap() > keepMessage {
			c.reading = bytes.Buffer{}
		}
		if err := c.awaitRoom(ctx); err != nil {
			return err
		}
	}
}

// awaitRoom blocks while too much waits for a client that does not read.
func (c *connection) awaitRoom(ctx context.Context) error {
	for {
		c.host.mu.Lock()
		full := c.waiting > maxWaiting
		c.host.mu.Unlock()
		if !full {
			return nil
		}
		select {
		case <-c.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// respond sends the response to a request once everything that happened before was sent. Nothing is sent to requests
// without an id, which are notifications.
func (c *connection) respond(id json.RawMessage, result any, err *wire.Error) {
	if id == nil && err == nil {
		return
	}
	message := wire.Response(id, result, err)
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	after := c.host.seq
	if c.fence > 0 {
		after = c.fence // what has come since then is not in the snapshots of the response
	}
	c.answer(answer{after: after, message: message, last: err != nil && err.Code == wire.UnsupportedProtocolVersion})
}

// answer queues a response. Host.mu is held.
func (c *connection) answer(a answer) {
	c.answers = append(c.answers, a)
	c.waiting += len(a.message)
	c.fence = 0
	signal(c.wake)
}

// keepAlive pings the client until ctx ends, or returns an error when an answer fails to come.
func (c *connection) keepAlive(ctx context.Context) error {
	every := c.host.cfg.PingEvery
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		ping, cancel := context.WithTimeout(ctx, every)
		err := c.conn.Ping(ping)
		cancel()
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}
