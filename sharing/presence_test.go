package sharing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tandem/ptymgr"
)

// A program that leaves the person's terminal gives it back when its grace is over.
func TestClaimReturns(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.phone)
	s.hand(terminal, s.a)
	s.a.Leave()
	s.clock.advance(DefaultGrace - 1)
	s.m.expire()
	s.held(terminal, "a")
	s.told.take()
	s.clock.advance(1)
	s.m.expire()
	s.held(terminal, "login-phone") // who made it: nobody of the person's held it since
	if got := s.told.take(); !slices.Equal(got, []string{"claimed for login-phone"}) {
		t.Errorf("told %q", got)
	}
}

// It returns to the person's client that held it last.
func TestClaimReturnsToTheLast(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.must(terminal.Claim(By{Client: s.phone}, Claim{Client: "login-phone"}))
	s.hand(terminal, s.a)
	s.a.Leave()
	s.clock.advance(DefaultGrace)
	s.m.expire()
	s.held(terminal, "login-phone")
}

// A program that comes back in time, or is there with another connection of that client, keeps it.
func TestClaimKept(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.hand(terminal, s.a)
	again := s.join(claude, "a")
	s.a.Leave()
	s.clock.advance(2 * DefaultGrace)
	s.m.expire()
	s.held(terminal, "a")
	again.Leave()
	s.clock.advance(DefaultGrace - 1)
	s.a = s.join(claude, "a")
	s.clock.advance(DefaultGrace)
	s.m.expire()
	s.held(terminal, "a")
	s.must(terminal.Input(By{Client: s.a}, []byte("x")))
}

// A session is there while any client of its program is.
func TestSessionReturns(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.handSession(terminal, s.a)
	s.a.Leave()
	s.clock.advance(2 * DefaultGrace)
	s.m.expire()
	if s.claim(terminal).Session == nil {
		t.Fatal("the session lost the terminal while its program was there")
	}
	s.a2.Leave()
	s.clock.advance(DefaultGrace)
	s.m.expire()
	s.held(terminal, "login-desk")
}

// On its own terminal a program that is gone keeps its claim, which is free to take: for programs of the same token, and for
// others by mode.
func TestFreeToTake(t *testing.T) {
	s := setUp(t)
	leave := func(make func(*stage, *Terminal)) *Terminal {
		c := s.join(claude, fmt.Sprint("gone", len(s.overview().Terminals)))
		terminal := s.open(c)
		if make != nil {
			make(s, terminal)
		}
		c.Leave()
		return terminal
	}
	own, watched, asked, shared := leave(nil), leave(nil), leave(nil), leave(nil)
	s.mode(watched, Watch)
	s.mode(asked, Ask)
	s.mode(shared, Share)
	claim := func(t *Terminal, c *Client) error { return t.Claim(By{Client: c}, Claim{Client: c.name}) }
	s.clock.advance(DefaultGrace - 1)
	for _, terminal := range []*Terminal{own, watched, asked, shared} {
		s.refused(claim(terminal, s.a2), errProgramHolds)
		s.refused(claim(terminal, s.b), errProgramHolds)
	}
	s.clock.advance(1)
	s.m.expire()
	for _, terminal := range []*Terminal{own, watched, asked, shared} {
		if s.claim(terminal).Client == "login-desk" {
			t.Fatal("a program's own terminal came to the person")
		}
	}
	s.refused(claim(own, s.b), errWatchOnly)
	s.must(claim(own, s.a2))
	s.refused(claim(own, s.b), errProgramHolds)
	s.refused(claim(watched, s.a2), errWatchOnly) // the person said so
	s.refused(claim(asked, s.b), errAsked)
	s.answer(Once)
	s.held(asked, "b")
	s.must(claim(shared, s.b))
}

// The person may type at once at what a program left, as at any program's terminal.
func TestLeftTerminalIsThePersons(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.b)
	s.b.Leave()
	s.must(terminal.Input(By{Client: s.desk}, []byte("x")))
	s.held(terminal, "login-desk")
}

// A door without client ids holds terminals under a name made of its identity, and is there while a door is.
func TestDoorsWithoutClientIDs(t *testing.T) {
	s := setUp(t)
	c := s.join(codex, "")
	if c.ID() != "" || c.Identity() != codex {
		t.Errorf("the client is %q of %v", c.ID(), c.Identity())
	}
	terminal := s.open(c)
	s.held(terminal, "token-B")
	c.Leave()
	s.clock.advance(2 * DefaultGrace)
	again := s.join(codex, "")
	s.must(terminal.Input(By{Client: again}, []byte("x")))
	s.refused(terminal.Input(By{Client: s.b}, []byte("x")), errProgramHolds) // a client of its own
	s.held(s.open(s.join(me, "")), "login-desk")
}

// The clock that runs when no test stops it.
func TestGraceInRealTime(t *testing.T) {
	for name, grace := range map[string]time.Duration{"short": 20 * time.Millisecond, "none": -1} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, func(cfg *Config) { cfg.Grace, cfg.now = grace, nil })
			first, second := s.open(s.desk), s.open(s.desk)
			s.hand(first, s.a)
			s.handSession(second, s.b)
			s.asked(s.open(s.desk), s.a)
			s.a.Leave()
			eventually(t, "the first terminal's return", func() bool { return s.claim(first).Client == "login-desk" })
			eventually(t, "the request's end", func() bool { return len(s.overview().Requests) == 0 })
			if s.claim(second).Session == nil {
				t.Error("a program that is there lost its claim")
			}
			s.b.Leave()
			eventually(t, "the second terminal's return", func() bool { return s.claim(second).Client == "login-desk" })
		})
	}
}

// Whoever reads a terminal is listed, each client once.
func TestWatchers(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	watchers := func() []Party { return s.overview().Terminals[0].Watchers }
	lane := s.attach(terminal, s.desk, ptymgr.NoOffset)
	stop, err := terminal.Watch(s.desk)
	s.must(err)
	program := s.attach(terminal, s.join(claude, ""), ptymgr.NoOffset)
	stopB, err := terminal.Watch(s.b)
	s.must(err)
	want := []Party{
		{"person", "Firefox on Linux", "login-desk"}, {"program", "claude", "token-A"}, {"program", "codex", "b"},
	}
	if got := watchers(); !slices.Equal(got, want) {
		t.Errorf("the watchers are %v, want %v", got, want)
	}
	lane.v.Close()
	lane.v.Close()
	if got := watchers(); len(got) != 3 {
		t.Errorf("the watchers are %v: one connection of the browser watches on", got)
	}
	stop()
	stop()
	stopB()
	program.v.Close()
	if got := watchers(); len(got) > 0 {
		t.Errorf("the watchers are %v, want none", got)
	}
	if got := s.told.last.Terminals[0].Watchers; len(got) > 0 {
		t.Errorf("the watchers were told to be %v, want none", got)
	}
}

// A program cannot make the list of watchers long.
func TestWatchersAreBounded(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	for i := range 3 * maxShown {
		_, err := terminal.Watch(s.join(claude, fmt.Sprint("c", i)))
		s.must(err)
	}
	_, err := terminal.Watch(s.b)
	s.must(err)
	if got := len(s.overview().Terminals[0].Watchers); got != maxShown+1 {
		t.Errorf("%d watchers are listed, want %d", got, maxShown+1)
	}
}
