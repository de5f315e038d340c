package sharing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// asked has a client ask for the terminal.
func (s *stage) asked(t *Terminal, c *Client) {
	s.Helper()
	s.refused(t.Claim(By{Client: c}, Claim{Client: c.name}), errAsked)
}

func (s *stage) answer(answer Answer) {
	s.Helper()
	s.must(s.m.Answer(By{Client: s.phone}, s.onlyRequest().ID, answer))
}

func TestConsentOnce(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.asked(terminal, s.a)
	s.asked(terminal, s.a) // no second card
	if r := s.onlyRequest(); r.Terminal != terminal.ID() || r.Program != "claude" || r.Session != "" || !r.Created.Equal(s.clock.read()) {
		t.Errorf("the request is %+v", r)
	}
	s.held(terminal, "login-desk")
	s.told.take()
	s.answer(Once)
	s.held(terminal, "a")
	if got := s.told.take(); !slices.Equal(got, []string{"claimed for a"}) {
		t.Errorf("told %q", got)
	}
	if n := len(s.told.last.Requests); n > 0 {
		t.Errorf("%d requests wait after the answer", n)
	}
	s.must(terminal.Input(By{Client: s.desk}, []byte("x")))
	s.clock.advance(typingTime)
	s.asked(terminal, s.a)
}

// Consent gives what was asked for: a session its session's claim.
func TestConsentForSession(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	session := Session{URI: "ahp-session:/s", TurnID: "1", ToolCallID: "2"}
	s.refused(terminal.Claim(By{Client: s.a}, Claim{Session: &session}), errAsked)
	if r := s.onlyRequest(); r.Session != session.URI {
		t.Errorf("the request is %+v", r)
	}
	s.answer(Once)
	if got := s.claim(terminal).Session; got == nil || *got != session {
		t.Errorf("held by %+v", got)
	}
	s.must(terminal.Input(By{Client: s.a2}, []byte("x")))
}

func TestConsentForTab(t *testing.T) {
	s := setUp(t)
	terminal, other := s.open(s.desk), s.open(s.desk)
	s.asked(terminal, s.a)
	s.answer(Tab)
	s.held(terminal, "a")
	s.hand(terminal, s.desk)
	s.must(terminal.Claim(By{Client: s.a2}, Claim{Client: "a2"})) // the program, by any client of its
	s.hand(terminal, s.desk)
	s.asked(other, s.a)
	s.answer(No)
	s.asked(terminal, s.b)
	s.answer(No)
	s.mode(terminal, Ask) // which forgets what was answered
	s.asked(terminal, s.a)
}

func TestConsentAlways(t *testing.T) {
	s := setUp(t)
	terminal, other, watched := s.open(s.desk), s.open(s.desk), s.open(s.desk)
	s.mode(watched, Watch)
	s.asked(terminal, s.a)
	s.cannotTrust = errors.New("disk full")
	if err := s.m.Answer(By{Client: s.desk}, s.onlyRequest().ID, Always); !errors.Is(err, s.cannotTrust) {
		t.Fatalf("got %v, want %v", err, s.cannotTrust)
	}
	s.held(terminal, "login-desk")
	s.cannotTrust = nil
	s.answer(Always)
	s.held(terminal, "a")
	s.must(other.Claim(By{Client: s.a}, Claim{Client: "a"}))
	s.refused(watched.Claim(By{Client: s.a}, Claim{Client: "a"}), errWatchOnly)
	third := s.open(s.desk)
	s.asked(third, s.b)
}

func TestConsentRefused(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.asked(terminal, s.a)
	s.told.take()
	s.answer(No)
	s.held(terminal, "login-desk")
	if got := s.told.take(); len(got) > 0 {
		t.Errorf("told %q", got)
	}
	for _, c := range []*Client{s.a, s.a2} {
		s.refused(terminal.Claim(By{Client: c}, Claim{Client: c.name}), errSaidNo)
	}
	s.clock.advance(noLasts - 1)
	s.refused(terminal.Claim(By{Client: s.a}, Claim{Client: "a"}), errSaidNo)
	s.asked(terminal, s.b)
	s.answer(No)
	s.clock.advance(1)
	s.asked(terminal, s.a)
}

// The person is not asked twice for one program; what counts is what its client asked for last, or another client if the
// first is not there any more.
func TestOneRequestPerProgram(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.asked(terminal, s.a)
	s.asked(terminal, s.a2)
	s.refused(terminal.Claim(By{Client: s.a}, Claim{Session: &Session{URI: "ahp-session:/s"}}), errAsked)
	if r := s.onlyRequest(); r.Session != "ahp-session:/s" {
		t.Errorf("the request is %+v", r)
	}
	s.a.Leave()
	s.asked(terminal, s.a2)
	s.answer(Once)
	s.held(terminal, "a2")
}

func TestRequestsAreBounded(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	for i := range maxRequests + 1 {
		id := fmt.Sprint("p", i)
		c := s.join(Identity{Kind: Program, ID: id, Name: id, Read: true, Write: true}, id)
		err := terminal.Claim(By{Client: c}, Claim{Client: id})
		if i < maxRequests {
			s.refused(err, errAsked)
		} else {
			s.refused(err, errCrowded)
		}
	}
}

// Requests go with what they are about.
func TestRequestsEnd(t *testing.T) {
	for name, end := range map[string]func(*stage, *Terminal){
		"disposal": func(s *stage, t *Terminal) { s.must(s.m.Dispose(context.Background(), By{Client: s.desk}, t.ID())) },
		"private":  func(s *stage, t *Terminal) { s.mode(t, Private) },
		"watch":    func(s *stage, t *Terminal) { s.mode(t, Watch) },
		"handing":  func(s *stage, t *Terminal) { s.hand(t, s.a) },
		"leaving": func(s *stage, t *Terminal) {
			s.a.Leave()
			s.clock.advance(DefaultGrace)
			s.m.expire()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t)
			terminal := s.open(s.desk)
			s.asked(terminal, s.a)
			id := s.onlyRequest().ID
			end(s, terminal)
			if o := s.overview(); len(o.Requests) > 0 {
				t.Errorf("the request waits on: %+v", o.Requests)
			}
			if n := len(s.told.last.Requests); n > 0 {
				t.Error("nobody was told that it is gone")
			}
			s.notFound(s.m.Answer(By{Client: s.desk}, id, Once))
		})
	}
}

// A request outlives a short absence of whoever asked.
func TestRequestKeptForGrace(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.asked(terminal, s.a)
	s.a.Leave()
	s.clock.advance(DefaultGrace - 1)
	s.m.expire()
	s.a = s.join(claude, "a")
	s.clock.advance(DefaultGrace)
	s.m.expire()
	s.answer(Once)
	s.held(terminal, "a")
}

func TestOnlyThePersonAnswers(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.asked(terminal, s.a)
	s.refused(s.m.Answer(By{Client: s.a}, s.onlyRequest().ID, Once), errPersonOnly)
	s.refused(s.m.Answer(By{Client: s.a}, "none", Once), errPersonOnly)
	s.notFound(s.m.Answer(By{Client: s.desk}, "none", Once))
	s.held(terminal, "login-desk")
}

// Consent waits while a password is asked for; no is taken at once.
func TestConsentWaitsForPassword(t *testing.T) {
	s := setUp(t)
	terminal := s.run(s.desk, "bash", "-c", `read -r x; read -rs -p "Password: " x; cat`)
	s.asked(terminal, s.a)
	s.asked(terminal, s.b)
	requests := s.overview().Requests
	s.must(terminal.Input(By{Client: s.desk}, []byte("go\n")))
	s.printed(terminal, "Password: ")
	eventually(t, "echo off", terminal.Pty().AsksPassword)
	for _, yes := range []Answer{Once, Tab, Always} {
		s.refused(s.m.Answer(By{Client: s.desk}, requests[0].ID, yes), errPassword)
	}
	if s.trustingCalls > 0 {
		t.Error("the program is trusted, though it was not given the terminal")
	}
	s.must(s.m.Answer(By{Client: s.desk}, requests[1].ID, No))
	s.held(terminal, "login-desk")
	s.must(terminal.Input(By{Client: s.desk}, []byte("secret\n")))
	eventually(t, "echo on", func() bool { return !terminal.Pty().AsksPassword() })
	s.must(s.m.Answer(By{Client: s.desk}, requests[0].ID, Once))
	s.held(terminal, "a")
}

func TestNamesOfAnswersAndModes(t *testing.T) {
	for _, answer := range []Answer{No, Once, Tab, Always} {
		if got, err := ParseAnswer(answer.String()); err != nil || got != answer {
			t.Errorf("%v: got %v, %v", answer, got, err)
		}
	}
	for _, mode := range []Mode{Private, Watch, Ask, Share} {
		if got, err := ParseMode(mode.String()); err != nil || got != mode {
			t.Errorf("%v: got %v, %v", mode, got, err)
		}
	}
	if _, err := ParseAnswer("yes"); err == nil {
		t.Error("yes is taken for an answer")
	}
	if _, err := ParseMode("open"); err == nil {
		t.Error("open is taken for a mode")
	}
}

// Programs of one token share what they make until the person sets a mode, which holds for them all.
func TestProgramsOwnTerminal(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.a)
	info, err := terminal.Info(s.b)
	s.must(err)
	if info.Mode != Watch || info.Claim.Client != "a" || info.Maker.ID != "A" {
		t.Errorf("made as %+v", info)
	}
	s.hand(terminal, s.desk)
	s.refused(terminal.Claim(By{Client: s.b}, Claim{Client: "b"}), errWatchOnly)
	s.must(terminal.Claim(By{Client: s.a2}, Claim{Client: "a2"}))
	s.hand(terminal, s.desk)
	s.mode(terminal, Watch)
	s.refused(terminal.Claim(By{Client: s.a}, Claim{Client: "a"}), errWatchOnly)
	s.mode(terminal, Ask)
	s.asked(terminal, s.a)
	s.mode(terminal, Private)
	_, err = s.m.Get(s.a, terminal.ID())
	s.notFound(err)
}
