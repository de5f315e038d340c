package sharing

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tandem/ptymgr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait in these tests; none is expected to last long.
const patience = 20 * time.Second

// eventually waits for a state that nothing announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// clock stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var (
	me      = Identity{Kind: Person, ID: "desk", Name: "Firefox on Linux", Read: true, Write: true}
	mePhone = Identity{Kind: Person, ID: "phone", Name: "Safari on iOS", Read: true, Write: true}
	claude  = Identity{Kind: Program, ID: "A", Name: "claude", Read: true, Write: true}
	codex   = Identity{Kind: Program, ID: "B", Name: "codex", Read: true, Write: true}
	reader  = Identity{Kind: Program, ID: "R", Name: "reader", Read: true}
)

// stage is a Manager, and everybody who may play a part: the person at two devices, two clients of one program and one
// of another.
type stage struct {
	testing.TB
	m             *Manager
	clock         *clock
	desk, phone   *Client
	a, a2, b      *Client
	trusted       sync.Map
	told          *teller
	cannotTrust   error
	trustingCalls int
}

// setUp returns a stage whose clock stands still.
func setUp(t testing.TB, change ...func(*Config)) *stage {
	t.Helper()
	s := &stage{TB: t, clock: &clock{now: time.Now()}, told: &teller{}}
	cfg := Config{
		Terminals: ptymgr.Config{MaxTerminals: 200, Shell: "/bin/sh", Dir: "/", Logger: slog.New(slog.DiscardHandler)},
		Trusted: func(id string) bool {
			_, ok := s.trusted.Load(id)
			return ok
		},
		Trust: func(id string) error {
			s.trustingCalls++
			if s.cannotTrust == nil {
				s.trusted.Store(id, true)
			}
			return s.cannotTrust
		},
		now: s.clock.read,
	}
	for _, f := range change {
		f(&cfg)
	}
	s.m = New(cfg)
	s.m.Observe(s.told)
	t.Cleanup(func() {
		if err := s.m.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	s.desk, s.phone = s.join(me, "login-desk"), s.join(mePhone, "login-phone")
	s.a, s.a2, s.b = s.join(claude, "a"), s.join(claude, "a2"), s.join(codex, "b")
	return s
}

func (s *stage) join(i Identity, id string) *Client {
	s.Helper()
	c, err := s.m.Join(i, id)
	if err != nil {
		s.Fatalf("Join(%v, %q): %v", i, id, err)
	}
	return c
}

// open makes a terminal that runs cat.
func (s *stage) open(c *Client) *Terminal {
	s.Helper()
	return s.run(c, "cat")
}

func (s *stage) run(c *Client, command string, args ...string) *Terminal {
	s.Helper()
	t, err := s.m.Create(By{Client: c}, ptymgr.Spec{Command: command, Args: args}, nil)
	if err != nil {
		s.Fatalf("Create: %v", err)
	}
	return t
}

func (s *stage) mode(t *Terminal, mode Mode) {
	s.Helper()
	s.must(t.SetMode(By{Client: s.desk}, mode))
}

// hand has the person give the terminal away.
func (s *stage) hand(t *Terminal, c *Client) {
	s.Helper()
	s.must(t.Claim(By{Client: s.desk}, Claim{Client: c.name}))
}

// handSession gives the terminal to a session of c's.
func (s *stage) handSession(t *Terminal, c *Client) {
	s.Helper()
	s.hand(t, c)
	s.must(t.Claim(By{Client: c}, Claim{Session: &Session{URI: "ahp-session:/s", TurnID: "turn", ToolCallID: "call"}}))
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// refused checks that err is this refusal.
func (s *stage) refused(err error, want *Refusal) {
	s.Helper()
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Reason != want.Reason {
		s.Fatalf("got %v, want the refusal %q", err, want.Reason)
	}
}

func (s *stage) notFound(err error) {
	s.Helper()
	if !errors.Is(err, ErrNotFound) {
		s.Fatalf("got %v, want %v", err, ErrNotFound)
	}
}

// held checks who holds the terminal.
func (s *stage) held(t *Terminal, client string) {
	s.Helper()
	if got := s.claim(t).Client; got != client {
		s.Fatalf("held by client %q, want %q", got, client)
	}
}

func (s *stage) claim(t *Terminal) Claim {
	s.Helper()
	info, err := t.Info(s.desk)
	s.must(err)
	return info.Claim
}

func (s *stage) attach(t *Terminal, c *Client, since int64) *screen {
	s.Helper()
	v, err := t.Attach(c, since)
	s.must(err)
	s.Cleanup(v.Close)
	return &screen{TB: s.TB, v: v}
}

func (s *stage) overview() Overview {
	s.Helper()
	o, err := s.m.Overview(s.desk)
	s.must(err)
	return o
}

// onlyRequest returns the one request that waits for the person.
func (s *stage) onlyRequest() Request {
	s.Helper()
	o := s.overview()
	if len(o.Requests) != 1 {
		s.Fatalf("%d requests wait, want 1", len(o.Requests))
	}
	return o.Requests[0]
}

// screen is what a viewer was told.
type screen struct {
	testing.TB
	v      *Viewer
	text   strings.Builder
	events []ptymgr.Event
}

// until reads until the text contains something.
func (r *screen) until(what string) {
	r.Helper()
	r.untilEvent("the text "+what, func(ptymgr.Event) bool { return strings.Contains(r.text.String(), what) })
}

// untilEvent reads until an event that done takes.
func (r *screen) untilEvent(what string, done func(ptymgr.Event) bool) {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		ev, err := r.v.Next(ctx)
		if err != nil {
			r.Fatalf("waiting for %s: %v; got so far: %.300q", what, err, r.text.String())
		}
		r.text.Write(ev.Data)
		ev.Data = nil
		r.events = append(r.events, ev)
		if done(ev) {
			return
		}
	}
}

// end reads until the viewer ends, and returns why.
func (r *screen) end() error {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		ev, err := r.v.Next(ctx)
		if err != nil {
			return err
		}
		r.text.Write(ev.Data)
	}
}

// printed waits until the terminal's log contains text, and returns the log's end.
func (s *stage) printed(t *Terminal, text string) int64 {
	s.Helper()
	r := s.attach(t, s.desk, ptymgr.NoOffset)
	defer r.v.Close()
	r.until(text)
	_, head := t.pty.Bounds()
	return head
}

// teller remembers what the observer is told.
type teller struct {
	mu     sync.Mutex
	events []string
	by     []By
	last   Overview
}

func (o *teller) note(event string, by By) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events, o.by = append(o.events, event), append(o.by, by)
}

func describe(c Claim) string {
	if s := c.Session; s != nil {
		return s.URI + " " + s.TurnID + " " + s.ToolCallID
	}
	return c.Client
}

func (o *teller) Created(t *Terminal, claim Claim, a Access, by By) {
	o.note("created for "+describe(claim), by)
}
func (o *teller) Claimed(t *Terminal, claim Claim, by By) { o.note("claimed for "+describe(claim), by) }
func (o *teller) AccessChanged(t *Terminal, a Access) {
	if a.Sees(claude) {
		o.note("visible", By{})
	} else {
		o.note("hidden", By{})
	}
}
func (o *teller) Removing(t *Terminal) { o.note("removing", By{}) }
func (o *teller) Removed(t *Terminal)  { o.note("removed", By{}) }
func (o *teller) SharingChanged(overview Overview) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = overview
}
func (o *teller) PausedChanged(paused bool) {
	if paused {
		o.note("paused", By{})
	} else {
		o.note("unpaused", By{})
	}
}

// take returns what was told since it was last called.
func (o *teller) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	events := o.events
	o.events, o.by = nil, nil
	return events
}
