package share

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/ahp/client"
	"tandem/ahp/wire"
)

// timing is how patient a mirror is.
type timing struct {
	// pingEvery is how often a quiet connection is tried, and pingWithin how long an answer may take, what is on its way
	// before it included. Together they are how long it may go unnoticed that a connection is lost.
	pingEvery, pingWithin time.Duration

	// minPause and maxPause are between attempts to connect; the pause doubles.
	minPause, maxPause time.Duration
}

// patient suits a slow network: what may be on its way takes that long at 13 kB/s.
var patient = timing{pingEvery: 10 * time.Second, pingWithin: 20 * time.Second, minPause: 250 * time.Millisecond, maxPause: 10 * time.Second}

// Size is a terminal's, in cells.
type Size struct{ Cols, Rows int }

// mirror keeps a terminal on a server like the one here. open comes first, then write, resize and finish from one goroutine
// each; close ends it.
type mirror struct {
	server   Server
	name     string
	dir      string // URI of where the program starts
	clientID string // the terminal's own: whoever has it is the owner
	times    timing

	box      *outbox
	decode   decoder // used by write alone
	detached chan struct{}
	stop     context.CancelFunc
	all      sync.WaitGroup

	size   atomic.Pointer[Size]
	uri    string // of the terminal; connecting's own
	known  bool   // the host knows this client; connecting's own
	seen   atomic.Int64
	detach sync.Once
}

func newMirror(server Server, name string, size Size) *mirror {
	m := &mirror{
		server: server, name: name, clientID: "share-" + rand.Text(), times: patient, uri: newURI(),
		box: newOutbox(), detached: make(chan struct{}),
	}
	if dir, err := os.Getwd(); err == nil {
		m.dir = (&url.URL{Scheme: "file", Path: dir}).String()
	}
	m.size.Store(&size)
	m.box.rows = size.Rows
	return m
}

func newURI() string { return wire.TerminalScheme + ":/" + rand.Text() }

// open makes the terminal. ctx is for that alone.
func (m *mirror) open(ctx context.Context) error {
	c, err := m.join(ctx)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.Background())
	m.stop = stop
	m.all.Go(func() { m.run(running, c) })
	return nil
}

// close ends the mirroring, whatever the host has.
func (m *mirror) close() {
	m.stop()
	m.all.Wait()
}

// yieldTime is how long output waits that comes faster than it is sent, for each piece that a pty gives at once. A program
// still prints some MB in a second then, on any network, and a network that takes as much misses nothing.
const yieldTime = time.Millisecond

// write mirrors output. It blocks for yieldTime at most.
func (m *mirror) write(p []byte) {
	if m.box.write(m.decode.text(p)) {
		time.Sleep(yieldTime)
	}
}

// resize mirrors a size, in order with output.
func (m *mirror) resize(size Size) {
	m.size.Store(&size)
	m.box.act(wire.TerminalResized{Cols: size.Cols, Rows: size.Rows})
}

// finish says that the program has ended, after everything that was written, and waits until the host knows, for as long as
// that may take.
func (m *mirror) finish(ctx context.Context, code int, within time.Duration) {
	m.box.write(m.decode.end())
	m.box.act(wire.TerminalExited{ExitCode: &code})
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	m.box.drained(ctx)
	m.close()
}

// dispose takes the terminal away again, in which nothing ran.
func (m *mirror) dispose(ctx context.Context) error {
	m.close()
	c, err := connect(ctx, m.server, m.clientID)
	if err != nil {
		return err
	}
	defer c.close(false)
	if _, err := c.Initialize(ctx); err != nil {
		return err
	}
	return c.DisposeTerminal(ctx, m.uri)
}

// summary returns what the person is to know at the end.
func (m *mirror) summary() (notes []string) {
	select {
	case <-m.detached:
		return []string{"the terminal was closed in Tandem; since then it was not shared"}
	default:
	}
	if lost := m.box.dropped(); lost > 0 {
		notes = append(notes, bytesText(int(lost))+" of output are missing in Tandem: the connection was away for too long")
	}
	if actions, bytes := m.box.unconfirmed(); actions > 0 {
		notes = append(notes, fmt.Sprintf("the end, %s of output, did not reach Tandem: there was no connection", bytesText(bytes)))
	}
	return notes
}

// run keeps up the mirroring over connections, of which c is the first, until ctx ends or the terminal is disposed of.
func (m *mirror) run(ctx context.Context, c *connection) {
	for attempt := 0; ; attempt++ {
		if c != nil {
			attempt = 0
			err := m.serve(ctx, c)
			actions, _ := m.box.unconfirmed()
			over := err == errOver || ctx.Err() != nil
			c.close(!over || actions > 0)
			if over {
				return
			}
		}
		select {
		case <-time.After(m.pause(attempt)):
		case <-ctx.Done():
			return
		}
		c, _ = m.join(ctx) // why not is of no use to anybody yet
	}
}

// pause returns how long to wait after so many failed attempts: longer each time, and not all clients of a server together.
func (m *mirror) pause(attempt int) time.Duration {
	most := min(float64(m.times.minPause)*math.Pow(2, float64(attempt)), float64(m.times.maxPause))
	return time.Duration(most * (0.75 + mathrand.Float64()/4))
}

// errOver says that there is nothing more to mirror.
var errOver = errors.New("the terminal is over")

// join connects, and sees to it that the terminal is there. What is in the outbox can be sent then.
func (m *mirror) join(ctx context.Context) (*connection, error) {
	c, err := connect(ctx, m.server, m.clientID)
	if err != nil {
		return nil, err
	}
	if err := m.enter(ctx, c); err != nil {
		c.close(true)
		return nil, err
	}
	return c, nil
}

// enter does the handshake, and makes the terminal unless it is there.
func (m *mirror) enter(ctx context.Context, c *connection) error {
	ctx, cancel := context.WithTimeout(ctx, m.times.pingWithin)
	defer cancel()
	resumed, err := m.greet(ctx, c)
	if err != nil {
		return err
	}
	if m.known && !resumed {
		// The host is another, or has forgotten this client, and with it which numbers it has carried out.
		_ = c.DisposeTerminal(ctx, m.uri)
		m.uri = newURI()
	}
	m.known = true
	size := m.size.Load()
	err = c.CreateTerminal(ctx, wire.CreateTerminalParams{
		Channel: m.uri, Name: m.name, Cwd: m.dir, Cols: &size.Cols, Rows: &size.Rows, ExecutionTarget: wire.ExecutedByClient,
	})
	if refusal, ok := errors.AsType[*wire.Error](err); ok && resumed && refusal.Code == wire.AlreadyExists {
		m.box.rewind()
		return nil
	}
	if err != nil {
		return err
	}
	m.box.restart()
	return nil
}

// greet does the handshake, and reports whether the host goes on with what it knows.
func (m *mirror) greet(ctx context.Context, c *connection) (resumed bool, err error) {
	if m.known {
		_, err := c.Reconnect(ctx, m.seen.Load())
		refusal, ok := errors.AsType[*wire.Error](err)
		if err == nil || !ok || refusal.Code != wire.NotFound {
			return true, err
		}
	}
	result, err := c.Initialize(ctx)
	if err != nil {
		return false, err
	}
	if can, _ := result.Meta["tandem"].(map[string]any); can["clientExecutedTerminals"] != true {
		return false, errNoRemote
	}
	m.seen.Store(result.ServerSeq)
	return false, nil
}

// serve mirrors over one connection until it fails, or until the terminal or ctx is over.
func (m *mirror) serve(ctx context.Context, c *connection) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var sent atomic.Int64 // the last number that was sent
	fresh := make(chan struct{}, 1)
	var all sync.WaitGroup
	all.Go(func() { cancel(m.send(ctx, c.Client, &sent, fresh)) })
	all.Go(func() { cancel(m.confirm(ctx, c.Client, &sent, fresh)) })
	all.Go(func() { cancel(m.listen(ctx, c.Client)) })
	all.Wait()
	return context.Cause(ctx)
}

// send sends what there is.
func (m *mirror) send(ctx context.Context, c *client.Client, sent *atomic.Int64, fresh chan<- struct{}) error {
	for {
		seq, action, ok := m.box.take()
		if !ok {
			select {
			case <-m.box.wake:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		err := c.Notify(ctx, "dispatchAction", wire.DispatchActionParams{
			Channel: m.uri, ClientSeq: seq, Action: wire.AppendAction(nil, action),
		})
		if err != nil {
			return err
		}
		sent.Store(seq)
		poke(fresh)
	}
}

// confirm asks the host for an answer behind what was sent, one at a time, and now and then when there is nothing to
// confirm. The host answers in order, so that what was sent before has reached it then.
func (m *mirror) confirm(ctx context.Context, c *client.Client, sent *atomic.Int64, fresh <-chan struct{}) error {
	for {
		select {
		case <-fresh:
		case <-time.After(m.times.pingEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
		seq := sent.Load()
		within, cancel := context.WithTimeout(ctx, m.times.pingWithin)
		err := c.Ping(within)
		cancel()
		if err != nil {
			return err
		}
		m.box.confirm(seq)
	}
}

// listen takes what the host says of the terminal.
func (m *mirror) listen(ctx context.Context, c *client.Client) error {
	for {
		e, err := c.Next(ctx)
		if err != nil {
			return err
		}
		m.seen.Store(e.ServerSeq)
		own := e.Origin != nil && e.Origin.ClientID == m.clientID
		switch e.Action.(type) {
		case wire.TerminalExited:
			if e.Channel == m.uri && !own {
				m.detach.Do(func() { close(m.detached) })
				m.box.close()
				return errOver
			}
		case wire.TerminalOutput:
			if own && e.RejectionReason != "" {
				return fmt.Errorf("the host refuses output: %s", e.RejectionReason)
			}
		}
	}
}
