package sharing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"tandem/ptymgr"
)

// The last terminals are kept for people.
func TestLimitForPrograms(t *testing.T) {
	s := setUp(t, func(cfg *Config) { cfg.Terminals.MaxTerminals = 4 })
	create := func(c *Client) error {
		_, err := s.m.Create(By{Client: c}, ptymgr.Spec{Command: "cat"}, nil)
		return err
	}
	limited := func(err error) {
		t.Helper()
		var limit *ptymgr.LimitError
		if !errors.As(err, &limit) || limit.Limit != 4 {
			t.Fatalf("got %v, want the limit of 4", err)
		}
	}
	s.must(create(s.a))
	s.must(create(s.a))
	limited(create(s.a))
	limited(create(s.b))
	s.must(create(s.desk))
	limited(create(s.a))
	s.must(create(s.phone))
	limited(create(s.desk))
	if s.m.Limit() != 4 || s.m.Dir() != "/" || s.m.Stats().Live != 4 {
		t.Errorf("limit %d, directory %s, %d live", s.m.Limit(), s.m.Dir(), s.m.Stats().Live)
	}
}

func TestLimitKeepsNothing(t *testing.T) {
	s := setUp(t, func(cfg *Config) { cfg.Terminals.MaxTerminals, cfg.KeepForPeople = 1, -1 })
	s.open(s.a)
}

// Whoever makes a terminal holds it, or one of their clients or a session does.
func TestCreate(t *testing.T) {
	s := setUp(t)
	make := func(c *Client, claim *Claim) (*Terminal, error) {
		return s.m.Create(By{Client: c}, ptymgr.Spec{Command: "cat"}, claim)
	}
	for _, c := range []*Client{s.desk, s.a, s.join(claude, "")} {
		terminal, err := make(c, nil)
		s.must(err)
		s.held(terminal, c.name)
	}
	terminal, err := make(s.a, &Claim{Client: "a2"})
	s.must(err)
	s.held(terminal, "a2")
	terminal, err = make(s.a, &Claim{Session: &Session{URI: "ahp-session:/s"}})
	s.must(err)
	s.must(terminal.Input(By{Client: s.a2}, []byte("x")))
	for _, id := range []string{"b", "login-desk", "nobody"} {
		var refusal *Refusal
		if _, err := make(s.a, &Claim{Client: id}); !errors.As(err, &refusal) {
			t.Errorf("made for %q: got %v, want a refusal", id, err)
		}
	}
	var spec *ptymgr.SpecError
	if _, err := s.m.Create(By{Client: s.a}, ptymgr.Spec{Command: "no such command"}, nil); !errors.As(err, &spec) {
		t.Errorf("got %v, want a *ptymgr.SpecError", err)
	}
}

func TestListAndGet(t *testing.T) {
	s := setUp(t)
	first, second, third := s.open(s.desk), s.open(s.a), s.open(s.desk)
	s.mode(third, Private)
	list := func(c *Client) []*Terminal {
		t.Helper()
		list, err := s.m.List(c)
		s.must(err)
		return list
	}
	if got := list(s.desk); !slices.Equal(got, []*Terminal{first, second, third}) {
		t.Errorf("the person is shown %v", got)
	}
	if got := list(s.b); !slices.Equal(got, []*Terminal{first, second}) {
		t.Errorf("a program is shown %v", got)
	}
	_, err := s.m.Get(s.b, third.ID())
	_, none := s.m.Get(s.b, "none")
	if err == nil || err != none {
		t.Errorf("a private terminal is %v, one that is none %v: they must not differ", err, none)
	}
	_, err = s.m.Overview(s.a)
	s.notFound(err)
}

func TestRenameChecksTheName(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	if err := terminal.Rename(By{Client: s.desk}, "\x1b[2J"); err == nil {
		t.Error("control characters are taken for a title")
	}
	s.must(terminal.Rename(By{Client: s.desk}, "build"))
	if got := terminal.Pty().Info().Title; got != "build" {
		t.Errorf("the title is %q", got)
	}
}

// Everything is told, in order, and nothing of a terminal once it is gone.
func TestObserver(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.mode(terminal, Private)
	s.mode(terminal, Share)
	s.must(terminal.Claim(By{Client: s.a, Seq: 3}, Claim{Client: "a"}))
	s.attach(terminal, s.a, ptymgr.NoOffset)
	s.must(s.m.Dispose(context.Background(), By{Client: s.desk}, terminal.ID()))
	want := []string{"created for login-desk", "hidden", "visible", "claimed for a", "removing", "removed"}
	if got := s.told.take(); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if n := len(s.told.last.Terminals); n > 0 {
		t.Errorf("%d terminals are left", n)
	}
	s.notFound(terminal.SetMode(By{Client: s.desk}, Share))
	s.notFound(terminal.Claim(By{Client: s.desk}, Claim{Client: "login-desk"}))
	s.notFound(s.m.Dispose(context.Background(), By{Client: s.desk}, terminal.ID()))
	_, err := s.m.Get(s.desk, terminal.ID())
	s.notFound(err)
	if got := s.told.take(); len(got) > 0 {
		t.Errorf("told %q of a terminal that is gone", got)
	}
}

// The oldest of many exited terminals goes by itself, and is told.
func TestForgottenByItself(t *testing.T) {
	s := setUp(t)
	first := s.run(s.desk, "true")
	<-first.Pty().Done()
	gone := func() bool {
		_, err := s.m.Get(s.desk, first.ID())
		return errors.Is(err, ErrNotFound)
	}
	for range 40 {
		if gone() {
			break
		}
		<-s.run(s.desk, "true").Pty().Done()
	}
	eventually(t, "the oldest terminal's end", gone)
	if got := strings.Join(s.told.take(), " "); !strings.Contains(got, "removed") {
		t.Error("nobody was told")
	}
}

// Terminals that are made while the Manager closes are told of as removed as well.
func TestClose(t *testing.T) {
	s := setUp(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				if _, err := s.m.Create(By{Client: s.desk}, ptymgr.Spec{Command: "cat"}, nil); err != nil {
					if !errors.Is(err, ptymgr.ErrClosed) && !errors.As(err, new(*ptymgr.LimitError)) {
						t.Errorf("got %v", err)
					}
					return
				}
			}
		})
	}
	s.open(s.a)
	s.must(s.m.Close(context.Background()))
	all.Wait()
	made, removed := 0, 0
	for _, event := range s.told.take() {
		if strings.HasPrefix(event, "created") {
			made++
		}
		if event == "removed" {
			removed++
		}
	}
	if made == 0 || made != removed {
		t.Errorf("%d terminals were made and %d removed", made, removed)
	}
	if o := s.overview(); len(o.Terminals) > 0 {
		t.Errorf("%d terminals are left", len(o.Terminals))
	}
}

// Who holds and made what is for people to see.
func TestOverview(t *testing.T) {
	s := setUp(t)
	first, second := s.open(s.desk), s.open(s.a)
	s.handSession(first, s.b)
	want := []Shared{
		{
			ID: first.ID(), Mode: Ask, Maker: Party{"person", "Firefox on Linux", "login-desk"},
			Holder: Party{"session", "codex", "ahp-session:/s"},
		},
		{ID: second.ID(), Mode: Watch, Maker: Party{"program", "claude", "a"}, Holder: Party{"program", "claude", "a"}},
	}
	for i, got := range s.overview().Terminals {
		if got.Created.IsZero() {
			t.Error("a terminal was never made")
		}
		got.Created = want[i].Created
		if got.ID != want[i].ID || got.Mode != want[i].Mode || got.Maker != want[i].Maker || got.Holder != want[i].Holder {
			t.Errorf("got %+v, want %+v", got, want[i])
		}
	}
}
