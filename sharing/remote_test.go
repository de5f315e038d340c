package sharing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/ptymgr"
)

// share makes a remote terminal that runs at this client.
func (s *stage) share(c *Client) *Terminal {
	s.Helper()
	t, err := s.m.CreateRemote(By{Client: c}, ptymgr.RemoteSpec{}, nil)
	s.must(err)
	return t
}

func (s *stage) output(t *Terminal, c *Client, text string) {
	s.Helper()
	s.must(t.Output(By{Client: c}, []byte(text)))
}

// exit returns how the terminal ended, nil while it lives.
func (t *Terminal) exit() *ptymgr.Exit { return t.pty.Info().Exit }

// remoteTable says who may do what at a terminal that runs at a client: the columns are that client, another client of the
// same program, the person, and another program.
var remoteTable = []struct {
	act                           string
	owner, sibling, person, other *Refusal // nil for yes
}{
	{"read", nil, nil, nil, nil},
	{"output", nil, errElsewhere, errElsewhere, errElsewhere},
	{"exit", nil, errElsewhere, errElsewhere, errElsewhere},
	{"resize", nil, errElsewhere, errElsewhere, errElsewhere},
	{"clear", nil, errElsewhere, errElsewhere, errElsewhere},
	{"type", errElsewhere, errElsewhere, errElsewhere, errElsewhere},
	{"rename", nil, errElsewhere, nil, errElsewhere},
	{"claim", errStays, errStays, errStays, errStays},
	{"dispose of", nil, nil, nil, errNotMade},
	{"change the mode", errPersonOnly, errPersonOnly, nil, errPersonOnly},
}

// performRemote does something in every way there is, and returns how each went.
func performRemote(s *stage, act string, c *Client, t *Terminal) map[string]error {
	by := By{Client: c}
	switch act {
	case "output":
		return map[string]error{"output": t.Output(by, []byte("x"))}
	case "exit":
		return map[string]error{"exited": t.Exited(by, nil)}
	case "resize":
		size := ptymgr.Size{Cols: 100, Rows: 30}
		err := t.Resize(by, size)
		if got := t.pty.Info().Size; (got == size) != (err == nil) {
			s.Errorf("Resize returned %v, and the size is %v", err, got)
		}
		return map[string]error{"resize": err}
	case "claim":
		session := &Session{URI: "ahp-session:/s"}
		return map[string]error{
			"own":     t.Claim(by, Claim{Client: c.name}),
			"same":    t.Claim(by, Claim{Client: "a"}),
			"person":  t.Claim(by, Claim{Client: "login-desk"}),
			"session": t.Claim(by, Claim{Session: session}),
		}
	case "dispose of":
		return map[string]error{"dispose": s.m.Dispose(context.Background(), by, t.ID())}
	default:
		return perform(s, act, c, t)
	}
}

func TestRemoteTable(t *testing.T) {
	for _, row := range remoteTable {
		for name, col := range map[string]struct {
			who  func(*stage) *Client
			want *Refusal
		}{
			"owner": {first, row.owner}, "owner by a door without client ids": {nameless, row.owner}, "sibling": {second, row.sibling},
			"desk": {desk, row.person}, "phone": {phone, row.person}, "other": {another, row.other},
		} {
			t.Run(row.act+"/"+name, func(t *testing.T) {
				s := setUp(t)
				for _, mode := range []string{"as made", "watch", "ask", "share"} {
					terminal := s.share(s.a)
					if mode != "as made" {
						set, err := ParseMode(mode)
						s.must(err)
						s.mode(terminal, set)
					}
					errs := performRemote(s, row.act, col.who(s), terminal)
					if len(errs) == 0 {
						t.Fatal("nothing is done")
					}
					for door, err := range errs {
						var refusal *Refusal
						if !errors.As(err, &refusal) && err != nil || refusal != col.want {
							t.Errorf("mode %s, %s: got %v, want %v", mode, door, err, col.want)
						}
					}
					if row.act != "dispose of" {
						s.held(terminal, "a")
					}
				}
			})
		}
	}
}

// A person's own remote terminal is no different: what they are elsewhere is a client like any other.
func TestRemoteTerminalOfAPerson(t *testing.T) {
	s := setUp(t)
	terminal := s.share(s.phone)
	s.output(terminal, s.phone, "x")
	for _, act := range []string{"output", "exit", "resize", "clear", "type"} {
		for _, c := range []*Client{s.desk, s.a} {
			for _, err := range performRemote(s, act, c, terminal) {
				s.refused(err, errElsewhere)
			}
		}
	}
	for _, err := range performRemote(s, "type", s.phone, terminal) {
		s.refused(err, errElsewhere)
	}
	for _, c := range []*Client{s.phone, s.desk, s.a} {
		s.refused(terminal.Claim(By{Client: c}, Claim{Client: c.name}), errStays)
	}
	s.refused(s.m.Dispose(context.Background(), By{Client: s.a}, terminal.ID()), errNotMade)
	shared := s.overview().Terminals[0]
	if shared.Mode != Ask || !shared.Remote || shared.Holder != (Party{"person", "Safari on iOS", "login-phone"}) {
		t.Errorf("got %+v", shared)
	}
	s.must(s.m.Dispose(context.Background(), By{Client: s.desk}, terminal.ID()))
}

func TestCreateRemote(t *testing.T) {
	s := setUp(t)
	make := func(c *Client, claim *Claim) (*Terminal, error) {
		return s.m.CreateRemote(By{c, 7}, ptymgr.RemoteSpec{Name: "laptop", Dir: "/home/me"}, claim)
	}
	for _, c := range []*Client{s.desk, s.a, s.join(claude, "")} {
		terminal, err := make(c, nil)
		s.must(err)
		s.held(terminal, c.name)
		if !terminal.Remote() {
			t.Error("it is not remote")
		}
	}
	want := []string{"created for login-desk", "created for a", "created for token-A"}
	if got := s.told.take(); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	terminal, err := make(s.a, &Claim{Client: "a2"}) // which owns it then
	s.must(err)
	s.held(terminal, "a2")
	s.output(terminal, s.a2, "x")
	s.refused(terminal.Output(By{Client: s.a}, []byte("x")), errElsewhere)
	info, err := terminal.Info(s.b)
	s.must(err)
	if !info.Remote || info.Title != "laptop" || info.Dir != "/home/me" || info.Mode != Watch || info.Maker != claude || info.Claim.Client != "a2" {
		t.Errorf("got %+v", info)
	}
	if s.open(s.a).Remote() {
		t.Error("an ordinary terminal is remote")
	}

	var invalid *InvalidClaimError
	if _, err := make(s.a, &Claim{Session: &Session{URI: "ahp-session:/s"}}); !errors.As(err, &invalid) {
		t.Errorf("a session's claim: got %v", err)
	}
	for _, id := range []string{"b", "login-desk", "nobody"} {
		var refusal *Refusal
		if _, err := make(s.a, &Claim{Client: id}); !errors.As(err, &refusal) {
			t.Errorf("made for %q: got %v, want a refusal", id, err)
		}
	}
	_, err = make(s.join(reader, "r"), nil)
	s.refused(err, errReadsOnly)
	var spec *ptymgr.SpecError
	if _, err := s.m.CreateRemote(By{Client: s.a}, ptymgr.RemoteSpec{Size: ptymgr.Size{Cols: -1, Rows: 1}}, nil); !errors.As(err, &spec) {
		t.Errorf("got %v, want a *ptymgr.SpecError", err)
	}
	s.must(s.m.SetPaused(By{Client: s.desk}, true))
	_, err = make(s.a, nil)
	s.refused(err, errPaused)
}

func TestRemoteLimit(t *testing.T) {
	s := setUp(t, func(cfg *Config) { cfg.Terminals.MaxTerminals, cfg.Terminals.MaxRemote = 3, 2 })
	s.share(s.a)
	s.share(s.b)
	for _, c := range []*Client{s.a, s.desk} {
		var limit *ptymgr.LimitError
		if _, err := s.m.CreateRemote(By{Client: c}, ptymgr.RemoteSpec{}, nil); !errors.As(err, &limit) || !limit.Remote || limit.Limit != 2 {
			t.Fatalf("got %v", err)
		}
	}
	s.open(s.a) // of the three, two are kept for people
	s.open(s.desk)
	s.open(s.desk)
	if s.m.Limit() != 3 {
		t.Errorf("limit %d", s.m.Limit())
	}
}

// What only a client says of its terminal is said of none that runs here, by nobody.
func TestNothingIsReportedOfOtherTerminals(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.a)
	for _, c := range []*Client{s.a, s.b, s.desk} {
		s.refused(terminal.Output(By{Client: c}, []byte("x")), errHere)
		s.refused(terminal.Exited(By{Client: c}, nil), errHere)
	}
	s.mode(terminal, Private)
	s.notFound(terminal.Output(By{Client: s.b}, []byte("x")))
}

func TestRemoteTerminalEnds(t *testing.T) {
	s := setUp(t)
	for want, code := range map[int]*int{-1: nil, 0: new(0), 3: new(3)} {
		terminal := s.share(s.a)
		watching := s.attach(terminal, s.desk, ptymgr.NoOffset)
		s.output(terminal, s.a, "bye")
		s.must(terminal.Exited(By{Client: s.a}, code))
		watching.untilEvent("the exit", func(ev ptymgr.Event) bool { return ev.Kind == ptymgr.EventExit && ev.Exit.Code == want })
		if got := watching.text.String(); !strings.HasSuffix(got, "bye") {
			t.Errorf("saw %q", got)
		}
		for what, err := range map[string]error{
			"output": terminal.Output(By{Client: s.a}, []byte("late")), "exit": terminal.Exited(By{Client: s.a}, code),
			"resize": terminal.Resize(By{Client: s.a}, ptymgr.Size{Cols: 90, Rows: 20}),
		} {
			if !errors.Is(err, ptymgr.ErrExited) {
				t.Errorf("%s after the end: %v", what, err)
			}
		}
		s.refused(terminal.Input(By{Client: s.desk}, []byte("x")), errElsewhere)
		if _, err := s.m.Get(s.b, terminal.ID()); err != nil {
			t.Errorf("it went with its end: %v", err)
		}
	}
}

// Viewers have no say in the size, and what the person types is no key that takes anything back.
func TestViewersOfARemoteTerminal(t *testing.T) {
	s := setUp(t)
	terminal := s.share(s.a)
	for _, c := range []*Client{s.desk, s.a, s.b} {
		viewer := s.attach(terminal, c, ptymgr.NoOffset)
		viewer.untilEvent("ready", func(ev ptymgr.Event) bool {
			return ev.Kind == ptymgr.EventReady && !ev.Writable && ev.Size == ptymgr.Size{Cols: 80, Rows: 24}
		})
		s.must(viewer.v.Resize(ptymgr.Size{Cols: 40, Rows: 12}))
		s.refused(viewer.v.Input([]byte("x")), errElsewhere)
		s.refused(viewer.v.Answer([]byte("x")), errElsewhere)
		s.output(terminal, s.a, "for "+c.name)
		viewer.until("for " + c.name)
	}
	if size := terminal.Pty().Info().Size; size != (ptymgr.Size{Cols: 80, Rows: 24}) {
		t.Errorf("size %v", size)
	}
	s.must(terminal.Resize(By{Client: s.a}, ptymgr.Size{Cols: 100, Rows: 30})) // though browsers show it
	s.held(terminal, "a")
	if n := len(s.overview().Terminals[0].Watchers); n != 3 {
		t.Errorf("%d watch", n)
	}
}

func TestRemoteModes(t *testing.T) {
	s := setUp(t)
	terminal := s.share(s.a)
	s.output(terminal, s.a, "shown first.")
	other, own := s.attach(terminal, s.b, ptymgr.NoOffset), s.attach(terminal, s.a, ptymgr.NoOffset)
	other.until("first.")
	s.told.take()

	s.mode(terminal, Private)
	if err := other.end(); !errors.Is(err, ptymgr.ErrDisposed) {
		t.Fatalf("another program's viewer: %v", err)
	}
	s.held(terminal, "a")
	for door, err := range perform(s, "read", s.b, terminal) {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("another program, %s: %v", door, err)
		}
	}
	for _, act := range []string{"output", "exit", "resize", "clear", "type", "rename", "claim", "dispose of"} {
		for _, err := range performRemote(s, act, s.b, terminal) {
			s.notFound(err)
		}
	}
	// From the program where it runs nothing is hidden.
	for door, err := range perform(s, "read", s.a, terminal) {
		if err != nil {
			t.Errorf("the owner, %s: %v", door, err)
		}
	}
	s.output(terminal, s.a, "private.")
	own.until("private.")
	s.must(terminal.Resize(By{Client: s.a}, ptymgr.Size{Cols: 100, Rows: 30}))
	s.attach(terminal, s.desk, ptymgr.NoOffset).until("private.")

	s.mode(terminal, Ask)
	if got := s.told.take(); !slices.Equal(got, []string{"visible", "visible"}) { // to whom it always is
		t.Errorf("told %q", got)
	}
	s.output(terminal, s.a, "shown again.")
	other = s.attach(terminal, s.b, 0)
	other.until("again.")
	if got := other.text.String(); strings.Contains(got, "first") || strings.Contains(got, "private") {
		t.Errorf("another program sees %q", got)
	}
	own = s.attach(terminal, s.a, 0)
	own.until("again.")
	if got := own.text.String(); got != "shown first.private.shown again." {
		t.Errorf("the owner sees %q", got)
	}
	s.refused(terminal.Claim(By{Client: s.b}, Claim{Client: "b"}), errStays)
	if n := len(s.overview().Requests); n > 0 {
		t.Error("the person was asked")
	}
}

// While programs are paused they read nothing, but what happens elsewhere is still told.
func TestRemoteTerminalGoesOnWhilePaused(t *testing.T) {
	s := setUp(t)
	terminal := s.share(s.a)
	s.must(s.m.SetPaused(By{Client: s.desk}, true))
	s.output(terminal, s.a, "lines\r\nand more")
	s.must(terminal.Resize(By{Client: s.a}, ptymgr.Size{Cols: 101, Rows: 31}))
	s.must(terminal.Clear(By{Client: s.a}))
	s.printed(terminal, "and more")
	for _, act := range []string{"output", "exit", "resize", "clear"} {
		for _, c := range []*Client{s.a2, s.b} {
			for _, err := range performRemote(s, act, c, terminal) {
				s.refused(err, errPaused)
			}
		}
	}
	s.refused(terminal.Rename(By{Client: s.a}, "name"), errPaused)
	_, err := terminal.Attach(s.a, 0)
	s.refused(err, errPaused)
	s.refused(s.m.Dispose(context.Background(), By{Client: s.a}, terminal.ID()), errPaused)
	s.must(terminal.Exited(By{Client: s.a}, new(0)))
}

// A terminal whose owner stays away ends and is removed, told in this order.
func TestOwnerGone(t *testing.T) {
	s := setUp(t)
	terminal := s.share(s.a)
	watching := s.attach(terminal, s.desk, ptymgr.NoOffset)
	s.told.take()
	s.a.Leave()
	s.clock.advance(DefaultRemoteGrace - 1)
	s.m.expire()
	if terminal.exit() != nil {
		t.Fatal("it ended too early")
	}
	s.clock.advance(1)
	s.m.expire()
	if got := s.told.take(); !slices.Equal(got, []string{"removing", "removed"}) {
		t.Errorf("told %q", got)
	}
	if exit := terminal.exit(); exit == nil || *exit != (ptymgr.Exit{Code: -1}) {
		t.Errorf("it ended with %v", exit)
	}
	_, err := s.m.Get(s.desk, terminal.ID())
	s.notFound(err)
	if err := watching.end(); !errors.Is(err, ptymgr.ErrDisposed) {
		t.Errorf("who watches is told %v", err)
	}
	again := s.join(claude, "a")
	s.notFound(terminal.Output(By{Client: again}, []byte("x")))
	s.notFound(terminal.Exited(By{Client: again}, nil))
	if s.m.Stats().Remote != 0 {
		t.Error("its place is taken")
	}
}

// An owner that comes back in time, or is there with another connection, keeps it; other clients of its program do not count.
func TestOwnerComesBack(t *testing.T) {
	s := setUp(t)
	terminal := s.share(s.a)
	second := s.join(claude, "a")
	s.a.Leave()
	s.clock.advance(3 * DefaultRemoteGrace)
	s.m.expire()
	s.output(terminal, second, "by the second.")
	second.Leave()
	s.clock.advance(DefaultRemoteGrace - 1)
	s.m.expire()
	if _, err := s.m.Join(codex, "a"); !errors.As(err, new(*TakenError)) {
		t.Fatalf("another program as its owner: %v", err)
	}
	third := s.join(claude, "a")
	s.clock.advance(3 * DefaultRemoteGrace)
	s.m.expire()
	s.output(terminal, third, "by the third.")
	s.printed(terminal, "by the second.by the third.")
	third.Leave()
	s.clock.advance(DefaultRemoteGrace)
	s.m.expire() // a2 is still there
	_, err := s.m.Get(s.desk, terminal.ID())
	s.notFound(err)
}

// What has ended stays, whoever goes.
func TestEndedRemoteTerminalStays(t *testing.T) {
	s := setUp(t)
	terminal := s.share(s.a)
	s.output(terminal, s.a, "the result")
	s.must(terminal.Exited(By{Client: s.a}, new(0)))
	s.a.Leave()
	s.clock.advance(2 * DefaultRemoteGrace)
	s.m.expire()
	s.printed(terminal, "the result")
	if exit := terminal.exit(); *exit != (ptymgr.Exit{}) {
		t.Errorf("it ended with %v", exit)
	}
}

// The graces are apart: a remote terminal may outlast what a client has claimed, or go before it.
func TestRemoteGraceIsItsOwn(t *testing.T) {
	for _, grace := range []time.Duration{DefaultGrace / 2, DefaultGrace * 2, -1} {
		t.Run(fmt.Sprint(grace), func(t *testing.T) {
			s := setUp(t, func(cfg *Config) { cfg.RemoteGrace = grace })
			terminal, claimed := s.share(s.a), s.open(s.desk)
			s.hand(claimed, s.a)
			s.a.Leave()
			if grace > 0 {
				s.clock.advance(grace - 1)
				s.m.expire()
				if terminal.exit() != nil {
					t.Fatal("it ended too early")
				}
				s.clock.advance(1)
			}
			s.m.expire()
			_, err := s.m.Get(s.desk, terminal.ID())
			s.notFound(err)
			if returned := s.claim(claimed).Client == "login-desk"; returned != (grace > DefaultGrace) {
				t.Errorf("the claim has returned: %v", returned)
			}
		})
	}
}

// The clock that runs when no test stops it.
func TestRemoteGraceInRealTime(t *testing.T) {
	for name, grace := range map[string]time.Duration{"short": 20 * time.Millisecond, "none": -1} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, func(cfg *Config) { cfg.RemoteGrace, cfg.now = grace, nil })
			terminal, other := s.share(s.a), s.share(s.b)
			s.a.Leave()
			eventually(t, "the end", func() bool { _, err := s.m.Get(s.desk, terminal.ID()); return err != nil })
			left := s.share(s.a) // by one that is gone before it is made
			eventually(t, "its end", func() bool { _, err := s.m.Get(s.desk, left.ID()); return err != nil })
			s.output(other, s.b, "x")
		})
	}
}

// Whoever removes it, it has ended when that is told, so that its owner can be.
func TestRemovingTellsTheEnd(t *testing.T) {
	for name, remove := range map[string]func(*stage, *Terminal){
		"the person": func(s *stage, t *Terminal) { s.must(s.m.Dispose(context.Background(), By{Client: s.desk}, t.ID())) },
		"the owner":  func(s *stage, t *Terminal) { s.must(s.m.Dispose(context.Background(), By{Client: s.a}, t.ID())) },
		"the end":    func(s *stage, t *Terminal) { s.must(s.m.Close(context.Background())) },
		"the grace":  func(s *stage, t *Terminal) { s.a.Leave(); s.clock.advance(DefaultRemoteGrace); s.m.expire() },
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t)
			seen := &witness{teller: s.told}
			s.m.Observe(seen)
			terminal := s.share(s.a)
			seen.tap = terminal.Pty().Tap(func() {})
			s.output(terminal, s.a, "output")
			remove(s, terminal)
			want := []ptymgr.StepKind{ptymgr.StepOutput, ptymgr.StepExited}
			var got []ptymgr.StepKind
			for _, step := range seen.steps {
				got = append(got, step.Kind)
			}
			if !slices.Equal(got, want) || seen.steps[1].Exit.Code != -1 {
				t.Errorf("when it was removed there were the steps %v, want %v", got, want)
			}
		})
	}
}

// witness takes a Tap's steps when its terminal is about to be removed.
type witness struct {
	*teller
	tap   *ptymgr.Tap
	steps []ptymgr.Step
}

func (w *witness) Removing(*Terminal) { w.steps = w.tap.Steps(nil) }

// Many connections of the owner tell at once, while others try to and it is disposed of.
func TestRemoteTerminalUnderLoad(t *testing.T) {
	s := setUp(t)
	terminal := s.share(s.a)
	reading := s.attach(terminal, s.desk, ptymgr.NoOffset)
	var all sync.WaitGroup
	tell := func(c *Client) {
		for i := 0; ; i++ {
			err := terminal.Output(By{c, int64(i)}, []byte(strings.Repeat("x", 500)+"\r\n"))
			if errors.Is(err, ErrNotFound) {
				return
			}
			if err != nil && !errors.Is(err, ptymgr.ErrExited) {
				t.Errorf("Output: %v", err)
				return
			}
		}
	}
	for range 3 {
		c := s.join(claude, "a")
		all.Go(func() { tell(c) })
	}
	all.Go(func() {
		for {
			err := terminal.Output(By{Client: s.b}, []byte("forged"))
			if errors.Is(err, ErrNotFound) {
				return
			}
			if err != errElsewhere {
				t.Errorf("another program's output: %v", err)
				return
			}
		}
	})
	all.Go(func() {
		for i := range 50 {
			s.must(terminal.SetMode(By{Client: s.desk}, []Mode{Watch, Share, Ask}[i%3]))
		}
	})
	reading.until("xx\r\nxx")
	for range 50 {
		reading.untilEvent("output", func(ev ptymgr.Event) bool { return ev.Kind == ptymgr.EventOutput })
	}
	s.must(s.m.Dispose(context.Background(), By{Client: s.desk}, terminal.ID()))
	all.Wait()
	if err := reading.end(); !errors.Is(err, ptymgr.ErrDisposed) {
		t.Errorf("the viewer ends with %v", err)
	}
	if strings.Contains(reading.text.String(), "forged") {
		t.Error("another program's output was taken")
	}
}
