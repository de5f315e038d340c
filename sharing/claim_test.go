package sharing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/ptymgr"
)

// The person's first key takes a terminal back from a program, and is delivered.
func TestFirstKeyTakesBack(t *testing.T) {
	for _, door := range []string{"viewer", "input"} {
		t.Run(door, func(t *testing.T) {
			s := setUp(t)
			terminal := s.open(s.desk)
			s.hand(terminal, s.a)
			shown := s.attach(terminal, s.phone, ptymgr.NoOffset)
			program := s.attach(terminal, s.a, ptymgr.NoOffset)
			s.must(program.v.Input([]byte("from the program\n")))
			shown.until("from the program")
			s.told.take()
			typed := func(p string) error {
				if door == "viewer" {
					return shown.v.Input([]byte(p))
				}
				return terminal.Input(By{Client: s.phone, Seq: 7}, []byte(p))
			}
			s.must(typed(""))
			s.held(terminal, "a")
			s.must(typed("key"))
			s.held(terminal, "login-phone")
			shown.until("key")
			by := slices.Clone(s.told.by)
			if got := s.told.take(); !slices.Equal(got, []string{"claimed for login-phone"}) || by[0] != (By{}) {
				t.Errorf("told %q by %v, want one claim by the host", got, by)
			}
			s.refused(program.v.Input([]byte("x")), errPersonHolds)
			s.refused(terminal.Input(By{Client: s.a}, []byte("x")), errPersonHolds)
			program.untilEvent("that it may not type", func(ev ptymgr.Event) bool {
				return ev.Kind == ptymgr.EventWritable && !ev.Writable
			})
			s.must(typed("more"))
			if got := s.told.take(); len(got) > 0 {
				t.Errorf("told %q for the second key", got)
			}
		})
	}
}

// What a terminal emulator replies by itself takes nothing back, and holds up nobody.
func TestRepliesAreNoTyping(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.mode(terminal, Share)
	s.hand(terminal, s.a)
	shown := s.attach(terminal, s.desk, ptymgr.NoOffset)
	s.must(shown.v.Answer([]byte("\x1b[?1;2c")))
	s.held(terminal, "a")
	s.hand(terminal, s.desk)
	s.must(terminal.Claim(By{Client: s.b}, Claim{Client: "b"}))
}

// At a session's terminal people type along.
func TestTypingAlong(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.handSession(terminal, s.a)
	s.must(terminal.Input(By{Client: s.desk}, []byte("person\n")))
	s.must(terminal.Input(By{Client: s.a2}, []byte("program\n")))
	s.printed(terminal, "program\r\n")
	if s.claim(terminal).Session == nil {
		t.Error("the session lost the terminal")
	}
	s.refused(terminal.Input(By{Client: s.b}, []byte("x")), errSessionHolds)
}

// An exited terminal takes no keys, so they take nothing back.
func TestKeyAfterExit(t *testing.T) {
	s := setUp(t)
	terminal := s.run(s.desk, "true")
	<-terminal.Pty().Done()
	s.hand(terminal, s.a)
	if err := terminal.Input(By{Client: s.desk}, []byte("x")); !errors.Is(err, ptymgr.ErrExited) {
		t.Errorf("got %v, want %v", err, ptymgr.ErrExited)
	}
	s.held(terminal, "a")
}

// Whatever a program types, nothing of it comes after the key that took the terminal back.
func TestNothingAfterTheFirstKey(t *testing.T) {
	s := setUp(t)
	for range 20 {
		terminal := s.run(s.desk, "sh", "-c", "stty raw -echo; echo ready; exec cat") // a line would be full soon
		shown := s.attach(terminal, s.desk, ptymgr.NoOffset)
		shown.until("ready")
		s.hand(terminal, s.a)
		var programs sync.WaitGroup
		started := make(chan struct{}, 2)
		for range 2 {
			programs.Go(func() {
				for i := 0; ; i++ {
					err := terminal.Input(By{Client: s.a}, []byte("p"))
					if err != nil && !errors.Is(err, ptymgr.ErrInputFull) {
						return
					}
					if i == 10 {
						started <- struct{}{}
					}
				}
			})
		}
		<-started
		s.must(shown.v.Input([]byte("K")))
		programs.Wait()
		s.must(shown.v.Input([]byte("E")))
		shown.until("E")
		_, after, found := strings.Cut(shown.text.String(), "K")
		if !found || strings.Contains(after, "p") {
			t.Fatalf("after the key came %.40q", after)
		}
		s.must(s.m.Dispose(context.Background(), By{Client: s.desk}, terminal.ID()))
	}
}

// Of many that claim at once, the first wins, and the others are told why not.
func TestClaimsAtOnce(t *testing.T) {
	s := setUp(t)
	var programs []*Client
	for i := range 16 {
		id := fmt.Sprint("p", i)
		programs = append(programs, s.join(Identity{Kind: Program, ID: id, Name: id, Read: true, Write: true}, id))
	}
	for range 20 {
		terminal := s.open(s.desk)
		s.mode(terminal, Share)
		var won atomic.Pointer[Client]
		var wins atomic.Int32
		var all sync.WaitGroup
		start := make(chan struct{})
		for _, c := range programs {
			all.Go(func() {
				<-start
				err := terminal.Claim(By{Client: c}, Claim{Client: c.ID()})
				if err == nil {
					won.Store(c)
					wins.Add(1)
				} else if !errors.Is(err, errProgramHolds) {
					t.Errorf("got %v, want %v", err, errProgramHolds)
				}
			})
		}
		close(start)
		all.Wait()
		if wins.Load() != 1 {
			t.Fatalf("%d claims were accepted", wins.Load())
		}
		s.held(terminal, won.Load().ID())
		s.must(s.m.Dispose(context.Background(), By{Client: s.desk}, terminal.ID()))
	}
}

// A key and a claim at the same time: either the claim is refused, or the key takes the terminal back.
func TestKeyAndClaimAtOnce(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.mode(terminal, Share)
	for range 500 {
		var both sync.WaitGroup
		both.Go(func() { _ = terminal.Claim(By{Client: s.a}, Claim{Client: "a"}) })
		both.Go(func() { _ = terminal.Input(By{Client: s.desk}, []byte("k")) })
		both.Wait()
		s.held(terminal, "login-desk")
		s.clock.advance(typingTime)
	}
}

// Programs wait for two seconds after the person's last key, whatever the mode.
func TestClaimsWaitForTyping(t *testing.T) {
	s := setUp(t)
	for _, mode := range []Mode{Ask, Share} {
		terminal := s.open(s.desk)
		s.mode(terminal, mode)
		s.must(terminal.Input(By{Client: s.phone}, []byte("x")))
		claim := func() error { return terminal.Claim(By{Client: s.a}, Claim{Client: "a"}) }
		s.refused(claim(), errTyping)
		s.clock.advance(typingTime - 1)
		s.refused(claim(), errTyping)
		if o := s.overview(); len(o.Requests) > 0 {
			t.Error("the person was asked while typing")
		}
		s.must(terminal.Input(By{Client: s.desk}, []byte("x")))
		s.clock.advance(typingTime - 1)
		s.refused(claim(), errTyping)
		s.clock.advance(1)
		if mode == Ask {
			s.refused(claim(), errAsked)
			s.answer(No)
		} else {
			s.must(claim())
		}
	}
	// At a session's terminal, where people type along, it is the same for the session's next tool call; giving
	// something up need not wait.
	terminal := s.open(s.desk)
	s.handSession(terminal, s.a)
	s.must(terminal.Input(By{Client: s.desk}, []byte("x")))
	s.refused(terminal.Claim(By{Client: s.a}, Claim{Session: &Session{URI: "ahp-session:/s", TurnID: "2", ToolCallID: "2"}}), errTyping)
	s.refused(terminal.Claim(By{Client: s.a}, Claim{Client: "a"}), errTyping)
	s.must(terminal.Claim(By{Client: s.a}, Claim{Session: &Session{URI: "ahp-session:/s"}}))
	s.must(terminal.Claim(By{Client: s.a}, Claim{Client: "login-desk"}))
}

// While a password is asked for, programs claim nothing, but may give the terminal up.
func TestClaimsWaitForPassword(t *testing.T) {
	s := setUp(t)
	ask := func(maker *Client) *Terminal {
		terminal := s.run(maker, "bash", "-c", `read -rs -p "Password: " x; echo; echo "it has ${#x}"; cat`)
		s.printed(terminal, "Password: ")
		eventually(t, "echo off", terminal.Pty().AsksPassword)
		return terminal
	}
	terminal := ask(s.desk)
	for _, mode := range []Mode{Ask, Share} {
		s.mode(terminal, mode)
		s.refused(terminal.Claim(By{Client: s.a}, Claim{Client: "a"}), errPassword)
		s.refused(terminal.Claim(By{Client: s.a}, Claim{Session: &Session{URI: "ahp-session:/s"}}), errPassword)
		if o := s.overview(); len(o.Requests) > 0 {
			t.Error("the person was asked during a password prompt")
		}
	}
	s.must(terminal.Input(By{Client: s.desk}, []byte("secret\n")))
	s.printed(terminal, "it has 6")
	eventually(t, "echo on", func() bool { return !terminal.Pty().AsksPassword() })
	s.clock.advance(typingTime)
	s.must(terminal.Claim(By{Client: s.a}, Claim{Client: "a"}))

	own := ask(s.a)
	s.refused(own.Claim(By{Client: s.a}, Claim{Client: "b"}), errPassword)
	s.must(own.Claim(By{Client: s.a}, Claim{Client: "login-desk"}))
	s.must(own.Claim(By{Client: s.desk}, Claim{Client: "a"})) // the person knows what they do
}

// A line editor turns echo off too, but asks for no password.
func TestLineEditorIsNoPassword(t *testing.T) {
	s := setUp(t)
	terminal := s.run(s.desk, "bash", "--norc", "-i")
	s.mode(terminal, Share)
	s.printed(terminal, "bash-")
	s.must(terminal.Claim(By{Client: s.a}, Claim{Client: "a"}))
}

// A session is bound to the program that claimed for it, also after the person has narrowed the claim.
func TestSessionBinding(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.handSession(terminal, s.a)
	s.must(terminal.Claim(By{Client: s.desk}, Claim{Session: &Session{URI: "ahp-session:/s"}}))
	s.must(terminal.Input(By{Client: s.a2}, []byte("x")))
	s.refused(terminal.Input(By{Client: s.b}, []byte("x")), errSessionHolds)
	s.must(terminal.Claim(By{Client: s.a2}, Claim{Session: &Session{URI: "ahp-session:/s", TurnID: "2", ToolCallID: "2"}}))

	// One that the person claims for is the person's.
	s.must(terminal.Claim(By{Client: s.desk}, Claim{Session: &Session{URI: "ahp-session:/mine"}}))
	s.refused(terminal.Input(By{Client: s.a}, []byte("x")), errSessionHolds)
	s.refused(terminal.Claim(By{Client: s.a}, Claim{Session: &Session{URI: "ahp-session:/mine"}}), errSessionHolds)
}

// A claim for the session that holds the terminal keeps its chat if it names none, as clients of old versions do.
func TestSessionKeepsChat(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.a)
	s.must(terminal.Claim(By{Client: s.a}, Claim{Session: &Session{URI: "ahp-session:/s", Chat: "ahp-chat:/c", TurnID: "1", ToolCallID: "1"}}))
	s.must(terminal.Claim(By{Client: s.desk}, Claim{Session: &Session{URI: "ahp-session:/s"}}))
	if got := *s.claim(terminal).Session; got != (Session{URI: "ahp-session:/s", Chat: "ahp-chat:/c"}) {
		t.Errorf("the claim is %+v", got)
	}
}

func TestClaimsThatAreNone(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	for _, claim := range []Claim{
		{},
		{Client: "login-desk", Session: &Session{URI: "ahp-session:/s"}},
		{Session: &Session{}},
		{Session: &Session{URI: strings.Repeat("x", maxSessionField+1)}},
		{Session: &Session{URI: "ahp-session:/s", Chat: "\xff"}},
	} {
		if err := terminal.Claim(By{Client: s.desk}, claim); err == nil {
			t.Errorf("%+v was accepted", claim)
		}
		if _, err := s.m.Create(By{Client: s.desk}, ptymgr.Spec{Command: "cat"}, &claim); err == nil {
			t.Errorf("a terminal was made for %+v", claim)
		}
	}
}

// What is in a claim cannot be changed from outside.
func TestClaimIsACopy(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.a)
	session := &Session{URI: "ahp-session:/s"}
	s.must(terminal.Claim(By{Client: s.a}, Claim{Session: session}))
	session.URI = "ahp-session:/other"
	if got := s.claim(terminal).Session.URI; got != "ahp-session:/s" {
		t.Errorf("the claim is for %s", got)
	}
}

// Every claim that is accepted is told, with whose it was, of one that changes nothing too.
func TestClaimsAreTold(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.told.take()
	by := By{Client: s.desk, Seq: 5}
	s.must(terminal.Claim(by, Claim{Client: "login-desk"}))
	s.told.mu.Lock()
	events, who := s.told.events, s.told.by
	s.told.mu.Unlock()
	if !slices.Equal(events, []string{"claimed for login-desk"}) || who[0] != by {
		t.Errorf("told %q by %v", events, who)
	}
}

// A person's key costs no more than a short lock.
func BenchmarkKey(b *testing.B) {
	s := setUp(b, func(cfg *Config) { cfg.now = time.Now })
	terminal := s.run(s.desk, "cat")
	by := By{Client: s.desk}
	key := []byte("k")
	b.ReportAllocs()
	for b.Loop() {
		if err := terminal.Input(by, key); err != nil && !errors.Is(err, ptymgr.ErrInputFull) {
			b.Fatal(err)
		}
	}
}
