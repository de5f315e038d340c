package sharing

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func (s *stage) taken(i Identity, id string) {
	s.Helper()
	var taken *TakenError
	if _, err := s.m.Join(i, id); !errors.As(err, &taken) {
		s.Fatalf("Join(%s, %q): got %v, want a *TakenError", i.Key(), id, err)
	}
}

// A client id is its identity's while it is connected, through the grace, and for as long as it holds a terminal.
func TestClientIDsCannotBeStolen(t *testing.T) {
	s := setUp(t)
	s.taken(codex, "a")
	s.taken(me, "a")
	s.taken(codex, "login-desk")
	s.taken(codex, "login-not-there-now")
	s.taken(codex, "token-A")
	s.taken(me, "token-A")
	s.join(claude, "token-A").Leave()
	s.join(me, "login-phone").Leave() // all logins are one person

	again := s.join(claude, "a")
	s.a.Leave()
	s.a.Leave() // which counts once
	s.taken(codex, "a")
	again.Leave()
	s.taken(codex, "a")
	s.clock.advance(DefaultGrace)
	s.join(codex, "a").Leave()

	held := s.open(s.a2)
	s.a2.Leave()
	s.clock.advance(2 * DefaultGrace)
	s.taken(codex, "a2")
	s.join(claude, "a2").Leave()
	s.must(held.Claim(By{Client: s.desk}, Claim{Client: "login-desk"}))
	s.clock.advance(2 * DefaultGrace)
	s.join(codex, "a2")
}

// The client to which a terminal is to return stays the person's.
func TestReturnCannotBeStolen(t *testing.T) {
	s := setUp(t)
	c := s.join(me, "laptop")
	terminal := s.open(c)
	s.hand(terminal, s.a)
	c.Leave()
	s.clock.advance(2 * DefaultGrace)
	s.taken(codex, "laptop")
}

func TestClientIDsThatAreNone(t *testing.T) {
	s := setUp(t)
	for _, id := range []string{strings.Repeat("x", maxClientID+1), "a\x00", "\x1b[2J", "\xff"} {
		var refusal *Refusal
		if _, err := s.m.Join(claude, id); !errors.As(err, &refusal) {
			t.Errorf("Join(%q): got %v, want a refusal", id, err)
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	s := setUp(t)
	var last *Client
	for i := range maxConnections - 1 { // b is one
		last = s.join(codex, fmt.Sprint("b", i))
	}
	if _, err := s.m.Join(codex, "one more"); !errors.Is(err, errTooMany) {
		t.Fatalf("got %v, want %v", err, errTooMany)
	}
	s.join(claude, "of another")
	last.Leave()
	s.join(codex, "one more")
}

// Those who are away are forgotten in time, and the oldest first if they are many.
func TestAwayClientsAreBounded(t *testing.T) {
	s := setUp(t)
	for i := range 3 * maxAway {
		s.join(codex, fmt.Sprint("b", i)).Leave()
		s.clock.advance(1)
	}
	s.m.mu.Lock()
	n := len(s.m.clients.away)
	s.m.mu.Unlock()
	if n != maxAway {
		t.Errorf("%d clients that are away are known, want %d", n, maxAway)
	}
	s.join(claude, "b0").Leave()
	s.taken(claude, fmt.Sprint("b", 3*maxAway-1))
	for _, c := range []*Client{s.desk, s.phone, s.a, s.a2, s.b} {
		c.Leave()
	}
	s.clock.advance(DefaultGrace)
	s.join(me, "login-desk")
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if n, all := len(s.m.clients.all), len(s.m.identities.all); n != 1 || all != 1 {
		t.Errorf("%d clients and %d identities are known, want 1", n, all)
	}
}
