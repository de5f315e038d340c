package login

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLinkWorksOnce(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	secret := s.NewLink()
	if len(secret) != 43 { // 32 bytes in base64
		t.Errorf("the secret has %d characters", len(secret))
	}
	if err := s.redeemLink("192.0.2.1", secret); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{secret, "", "x", secret[1:]} {
		if err := s.redeemLink("192.0.2.1", bad); !errors.Is(err, ErrLinkSpent) {
			t.Errorf("%.5q: %v", bad, err)
		}
	}
}

func TestLinkWorksOnceAtATime(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	for range 50 {
		secret := s.NewLink()
		var all sync.WaitGroup
		var worked atomic.Int32
		start := make(chan struct{})
		for range 16 {
			all.Go(func() {
				<-start
				if s.redeemLink("192.0.2.1", secret) == nil {
					worked.Add(1)
				}
			})
		}
		close(start)
		all.Wait()
		if worked.Load() != 1 {
			t.Fatalf("it worked %d times", worked.Load())
		}
	}
}

func TestLinkExpires(t *testing.T) {
	clock := newClock()
	s := open(t, t.TempDir(), Options{Now: clock.Now})
	early, late := s.NewLink(), s.NewLink()
	clock.pass(linkLife - time.Nanosecond)
	if err := s.redeemLink("", early); err != nil {
		t.Errorf("just before: %v", err)
	}
	clock.pass(time.Nanosecond)
	if err := s.redeemLink("", late); !errors.Is(err, ErrLinkSpent) {
		t.Errorf("at its end: %v", err)
	}
}

func TestLinksAreBounded(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	first, second := s.NewLink(), s.NewLink()
	for range maxLinks - 1 {
		s.NewLink()
	}
	if err := s.redeemLink("", first); !errors.Is(err, ErrLinkSpent) {
		t.Errorf("the oldest: %v", err)
	}
	if err := s.redeemLink("", second); err != nil {
		t.Errorf("the next: %v", err)
	}
}

func TestWrongLinksMustWaitButTrueOnesWork(t *testing.T) {
	s := open(t, t.TempDir(), Options{Now: newClock().Now, Password: "correct horse"})
	for range sourcePenalty.free {
		if err := s.redeemLink("192.0.2.1", "wrong"); !errors.Is(err, ErrLinkSpent) {
			t.Fatal(err)
		}
	}
	var tooMany *TooManyError
	if err := s.redeemLink("192.0.2.1", "wrong"); !errors.As(err, &tooMany) {
		t.Errorf("one too many: %v", err)
	}
	if err := s.redeemLink("192.0.2.1", s.NewLink()); err != nil {
		t.Errorf("a true one from there: %v", err)
	}
	if err := s.checkPassword(t.Context(), "192.0.2.1", "correct horse"); err != nil {
		t.Errorf("the password from there: %v", err)
	}
}
