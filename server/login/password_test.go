package login

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestSetPassword(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	s := open(t, dir, Options{})
	if s.HasPassword() {
		t.Error("a new store has a password")
	}
	if err := s.checkPassword(t.Context(), "192.0.2.1", ""); !errors.Is(err, ErrNoPassword) {
		t.Errorf("without a password: %v", err)
	}
	for _, bad := range []string{"", "1234567", "äöüäöüä", strings.Repeat("x", MaxPassword+1)} {
		if err := SetPassword(t.Context(), dir, bad); err == nil {
			t.Errorf("%.20q was taken", bad)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := SetPassword(ctx, dir, "correct horse"); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, passwordFile)); err == nil {
		t.Error("a refused password was stored")
	}
	for _, good := range []string{"correct horse", "äöüäöüäö", strings.Repeat("x", MaxPassword)} {
		if err := SetPassword(t.Context(), dir, good); err != nil {
			t.Fatal(err)
		}
		if err := s.PasswordChanged(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.checkPassword(t.Context(), "192.0.2.1", good); err != nil {
			t.Errorf("%.20q: %v", good, err)
		}
		for _, wrong := range []string{"", good + "x", good[1:]} {
			if err := s.checkPassword(t.Context(), "192.0.2.1", wrong); !errors.Is(err, ErrWrong) {
				t.Errorf("%.20q instead of %.20q: %v", wrong, good, err)
			}
		}
	}
}

func TestChangedPasswordEndsAllLogins(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	l := c.begin(s, "")
	if err := SetPassword(t.Context(), dir, "correct horse"); err != nil {
		t.Fatal(err)
	}
	if err := s.PasswordChanged(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !ended(l) || c.find(s) != nil {
		t.Error("the login goes on")
	}
	c.begin(s, "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// And while no server runs.
	if err := SetPassword(t.Context(), dir, "battery staple"); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Options{})
	if c.find(s) != nil {
		t.Error("the login outlived its password over a restart")
	}
	if stored, err := s.storedLogins(t.Context()); len(stored) != 0 || err != nil {
		t.Errorf("still stored: %d, %v", len(stored), err)
	}
}

// What was made before the password changed is worth nothing afterwards: whoever had the old one may have made it.
func TestChangedPasswordEndsLinks(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	link := s.NewLink()
	if err := SetPassword(t.Context(), dir, "correct horse"); err != nil {
		t.Fatal(err)
	}
	if err := s.PasswordChanged(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	if _, err := s.LogInByLink(httptest.NewRecorder(), c.request(), "", link); !errors.Is(err, ErrLinkSpent) {
		t.Errorf("the link: %v", err)
	}
	c.begin(s, "") // a new one works
}

// The worst moment: the old password was found right, and the login is about to be stored when it changes.
func TestPasswordThatChangesDuringALogin(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	s.setPasswordInForce(newPasswordHash("correct horse").String())
	s.passwordLimit.failed("192.0.2.1")
	s.changing.Lock() // as PasswordChanged does
	result := make(chan error, 1)
	go func() {
		_, err := s.LogInByPassword(httptest.NewRecorder(), (&client{t: t}).request(), "192.0.2.1", "correct horse")
		result <- err
	}()
	for end := time.Now().Add(deadline); s.passwordLimit.known("192.0.2.1"); time.Sleep(time.Millisecond) { // until it was right
		if time.Now().After(end) {
			t.Fatal("the password was not checked")
		}
	}
	s.setPasswordInForce(newPasswordHash("battery staple").String())
	s.changing.Unlock()
	if err := <-result; !errors.Is(err, ErrWrong) {
		t.Errorf("logged in by the old password: %v", err)
	}
}

// known reports whether failures of source are counted.
func (l *limiter) known(source string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.sources[source]
	return ok
}

func TestGivenPassword(t *testing.T) {
	dir := t.TempDir()
	if err := SetPassword(t.Context(), dir, "from the file"); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	for _, test := range []struct {
		given    string
		loggedIn bool // from the time before
	}{
		{"given first", false}, {"given first", true}, {"given second", false}, {"given second", true}, {"", false},
	} {
		s, err := Open(dir, Options{Password: test.given})
		if err != nil {
			t.Fatal(err)
		}
		if l := c.find(s); (l != nil) != test.loggedIn {
			t.Errorf("%q: found %v", test.given, l)
		}
		l := c.begin(s, "")
		right, wrong := test.given, "from the file"
		if test.given == "" {
			right, wrong = wrong, "given second"
		}
		if err := s.checkPassword(t.Context(), "192.0.2.1", right); err != nil {
			t.Errorf("%q is not the password: %v", right, err)
		}
		if err := s.checkPassword(t.Context(), "192.0.2.1", wrong); !errors.Is(err, ErrWrong) {
			t.Errorf("%q is the password: %v", wrong, err)
		}
		if err := s.PasswordChanged(t.Context()); errors.Is(err, ErrPasswordGiven) != (test.given != "") {
			t.Errorf("%q: PasswordChanged: %v", test.given, err)
		}
		if ended(l) != (test.given == "") {
			t.Errorf("%q: after PasswordChanged the login has ended: %v", test.given, ended(l))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamagedPasswordFileSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, passwordFile), []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, Options{})
	if !errors.Is(err, errBadHash) || !strings.Contains(err.Error(), "tandem password") || strings.Contains(err.Error(), "horse") {
		t.Errorf("Open: %v", err)
	}
}

func TestWrongPasswordsMustWait(t *testing.T) {
	clock := newClock()
	s := open(t, t.TempDir(), Options{Password: "correct horse", Now: clock.Now})
	check := func(source, password string) error { return s.checkPassword(t.Context(), source, password) }
	for range sourcePenalty.free {
		if err := check("192.0.2.1:1000", "wrong"); !errors.Is(err, ErrWrong) {
			t.Fatal(err)
		}
	}
	var tooMany *TooManyError
	if err := check("192.0.2.1:2000", "correct horse"); !errors.As(err, &tooMany) || tooMany.RetryAfter != time.Second {
		t.Fatalf("at once: %v", err)
	}
	if err := check("192.0.2.2", "correct horse"); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
	if err := s.redeemLink("192.0.2.1", s.NewLink()); err != nil {
		t.Errorf("by link: %v", err)
	}
	clock.pass(tooMany.RetryAfter)
	if err := check("192.0.2.1", "correct horse"); err != nil {
		t.Errorf("after waiting: %v", err)
	}
	for range sourcePenalty.free {
		if err := check("192.0.2.1", "wrong"); !errors.Is(err, ErrWrong) {
			t.Errorf("after success the failures were not forgotten: %v", err)
		}
	}
}

// Guesses that wait for their turn together are no way around the limit.
func TestWrongPasswordsAtOnceMustWait(t *testing.T) {
	s := open(t, t.TempDir(), Options{Password: "correct horse", Now: newClock().Now})
	var all sync.WaitGroup
	results := make(chan error, 40)
	for range cap(results) {
		all.Go(func() { results <- s.checkPassword(t.Context(), "192.0.2.1", "wrong") })
	}
	all.Wait()
	close(results)
	looked := 0
	for err := range results {
		if errors.Is(err, ErrWrong) {
			looked++
		}
	}
	if looked != sourcePenalty.free {
		t.Errorf("%d guesses were looked at, want %d", looked, sourcePenalty.free)
	}
}

func TestCheckPasswordEndsWithItsContext(t *testing.T) {
	s := open(t, t.TempDir(), Options{Password: "correct horse"})
	s.hashing <- struct{}{} // somebody's hash that takes for ever
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- s.checkPassword(ctx, "192.0.2.1", "correct horse") }()
	cancel()
	select {
	case err := <-result:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(deadline):
		t.Fatal("it waits on")
	}
	<-s.hashing
	if err := s.checkPassword(t.Context(), "192.0.2.1", "correct horse"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestMemoryFallsBackAfterHashing(t *testing.T) {
	s := open(t, t.TempDir(), Options{Password: "correct horse"})
	held := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapSys - m.HeapReleased)
	}
	for range 3 {
		if err := s.checkPassword(t.Context(), "192.0.2.1", "correct horse"); err != nil {
			t.Fatal(err)
		}
	}
	after := held()
	if after < hashMemory<<10 {
		t.Fatalf("hashing held %d bytes: this test measures something else", after)
	}
	const rest = 10 << 20 // bytes: what the test and SQLite may hold, half of what one hash takes
	for end := time.Now().Add(deadline); held() > rest; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still %d bytes held of %d", held(), after)
		}
	}
}

func FuzzParsePasswordHash(f *testing.F) {
	f.Add(newPasswordHash("correct horse").String())
	f.Add("$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5")
	for _, bad := range badHashes {
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parsePasswordHash(text)
		if err != nil {
			if !errors.Is(err, errBadHash) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		if h.String() != text {
			t.Errorf("%q was read as %q", text, h)
		}
		if h.memory > maxHashMemory || h.passes > maxHashPasses || h.threads > maxHashThreads {
			t.Errorf("%q costs too much", text)
		}
		if h.memory <= 1<<10 && h.passes <= 2 && h.matches("") && h.matches("x") {
			t.Errorf("%q matches everything", text)
		}
	})
}

var badHashes = []string{
	"",
	"correct horse",
	"$2b$12$abcdefghijklmnopqrstuv",
	"$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
	"$argon2id$v=16$m=64,t=1,p=1$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
	"$argon2id$v=19$m=4294967295,t=1,p=1$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
	"$argon2id$v=19$m=64,t=0,p=1$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
	"$argon2id$v=19$m=64,t=1,p=0$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
	"$argon2id$v=19$m=64,t=1,p=1,x=1$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
	"$argon2id$v=19$m=+64,t=1,p=1$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
	"$argon2id$v=19$m=64,t=1,p=1$$a2V5a2V5a2V5a2V5a2V5a2V5",
	"$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$",
	"$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5$",
	"$argon2id$v=19$m=64,t=1,p=1$c29t ZXNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
}

func TestBadHashes(t *testing.T) {
	for _, bad := range badHashes {
		if _, err := parsePasswordHash(bad); !errors.Is(err, errBadHash) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The hash of "password" as the reference implementation prints it: argon2 somesalt -id -t 2 -k 65536 -p 1 -l 32.
func TestHashOfTheReference(t *testing.T) {
	const reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	h, err := parsePasswordHash(reference)
	if err != nil {
		t.Fatal(err)
	}
	if !h.matches("password") || h.matches("passwore") {
		t.Error("it does not match what the reference hashed")
	}
}
