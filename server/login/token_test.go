package login

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// mustCreate makes a token that never expires.
func mustCreate(t *testing.T, s *TokenStore, name string, scopes ...Scope) (secret string, made Token) {
	t.Helper()
	if len(scopes) == 0 {
		scopes = []Scope{ReadTerminals}
	}
	secret, made, err := s.CreateToken(name, scopes, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return secret, made
}

// who is what a request with these values of the header Authorization, and this client's cookie, is found to be.
func (s *Store) who(t *testing.T, c *client, authorization ...string) (found *Token, person *Login) {
	t.Helper()
	if c == nil {
		c = &client{t: t}
	}
	r := c.request()
	r.Header["Authorization"] = authorization
	w := httptest.NewRecorder()
	s.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		found, _ = TokenFrom(r.Context())
		person, _ = From(r.Context())
	}), unavailable).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("the middleware answered %d", w.Code)
	}
	return found, person
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func TestTokenLetsItsProgramIn(t *testing.T) {
	clock := newClock()
	s := open(t, t.TempDir(), Options{Now: clock.Now})
	secret, made := mustCreate(t, s.TokenStore, "claude", WriteTerminals, ReadTerminals, ReadTerminals)
	mustCreate(t, s.TokenStore, "another")
	if !strings.HasPrefix(secret, "tandem_") || len(secret) != len("tandem_")+43 {
		t.Errorf("the secret is %q", secret)
	}
	if made.ID == "" || made.Name != "claude" || !slices.Equal(made.Scopes, []Scope{ReadTerminals, WriteTerminals}) ||
		!made.Created.Equal(clock.Now()) || !made.Expires.IsZero() || !made.LastUsed.IsZero() || made.Trusted {
		t.Errorf("made %+v", made)
	}
	found, person := s.who(t, nil, "Bearer "+secret)
	if found == nil || person != nil || found.ID != made.ID || over(found.Done()) || !found.LastUsed.Equal(clock.Now()) {
		t.Fatalf("found %+v and %+v", found, person)
	}
	if !found.Has(ReadTerminals) || !found.Has(WriteTerminals) || found.Has(ReadMetrics) || found.Has("") {
		t.Errorf("it is for %v", found.Scopes)
	}
}

func TestTokenSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	clock := newClock()
	s, err := Open(dir, Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	expires := clock.Now().Add(time.Hour)
	secret, made, err := s.CreateToken("claude", []Scope{ReadMetrics}, expires)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.TrustToken(made.ID); err != nil {
		t.Fatal(err)
	}
	clock.pass(time.Minute)
	used, _ := s.who(t, nil, "Bearer "+secret)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !over(made.Done()) || !over(used.Done()) {
		t.Error("Close left Done open")
	}

	s = open(t, dir, Options{Now: clock.Now})
	list := s.Tokens()
	if len(list) != 1 {
		t.Fatalf("the tokens are %+v", list)
	}
	got := list[0]
	if got.ID != made.ID || got.Name != "claude" || !slices.Equal(got.Scopes, made.Scopes) || !got.Created.Equal(made.Created) ||
		!got.Expires.Equal(expires) || !got.LastUsed.Equal(clock.Now()) || !got.Trusted {
		t.Errorf("it was %+v and is %+v", made, got)
	}
	if found, _ := s.who(t, nil, "Bearer "+secret); found == nil || over(found.Done()) {
		t.Error("it is not in force")
	}
}

func TestRevokedTokenIsOverAtOnceAndForGood(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	secret, made := mustCreate(t, s.TokenStore, "claude")
	spared, other := mustCreate(t, s.TokenStore, "another")
	found, _ := s.who(t, nil, "Bearer "+secret)
	if err := s.RevokeToken("claude"); err != nil {
		t.Fatal(err)
	}
	if !over(made.Done()) || !over(found.Done()) {
		t.Error("Done is open")
	}
	if over(other.Done()) {
		t.Error("another token ended with it")
	}
	if err := s.RevokeToken("claude"); !errors.Is(err, ErrNoToken) {
		t.Errorf("the second time: %v", err)
	}
	if again, _ := mustCreate(t, s.TokenStore, "claude"); again == secret {
		t.Error("the secret came again")
	}
	for range 2 {
		if found, _ := s.who(t, nil, "Bearer "+secret); found != nil {
			t.Error("it still lets in")
		}
		if found, _ := s.who(t, nil, "Bearer "+spared); found == nil {
			t.Error("the other one does not")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(dir, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTokenExpires(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	secret, made, err := s.CreateToken("claude", []Scope{ReadTerminals}, time.Now().Add(300*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	found, _ := s.who(t, nil, "Bearer "+secret)
	if found == nil {
		t.Fatal("it does not let in")
	}
	select {
	case <-made.Done():
	case <-time.After(deadline):
		t.Fatal("Done stays open")
	}
	if time.Now().Before(made.Expires) || !over(found.Done()) {
		t.Error("it ended too early, or not for everybody")
	}
	if found, _ := s.who(t, nil, "Bearer "+secret); found != nil || len(s.Tokens()) != 0 {
		t.Error("it still lets in, or is listed")
	}
	mustCreate(t, s.TokenStore, "claude") // its name is free again
}

// A clock that is set, or a machine that slept: the timer has not fired, and the time has come all the same.
func TestTokenIsTooOldByTheClock(t *testing.T) {
	clock := newClock()
	dir := t.TempDir()
	s := open(t, dir, Options{Now: clock.Now})
	secret, made, err := s.CreateToken("claude", []Scope{ReadTerminals}, clock.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	clock.pass(time.Hour - time.Millisecond)
	if found, _ := s.who(t, nil, "Bearer "+secret); found == nil || len(s.Tokens()) != 1 {
		t.Fatal("it ended too early")
	}
	clock.pass(time.Millisecond)
	if len(s.Tokens()) != 0 {
		t.Error("it is listed")
	}
	if found, _ := s.who(t, nil, "Bearer "+secret); found != nil || !over(made.Done()) {
		t.Error("it goes on")
	}
	for _, expires := range []time.Time{clock.Now(), clock.Now().Add(-time.Hour), time.Unix(0, 0)} {
		if _, _, err := s.CreateToken("late", []Scope{ReadTerminals}, expires); err == nil {
			t.Errorf("one was made that expires at %v", expires)
		}
	}
}

func TestExpiredTokenIsNotResumed(t *testing.T) {
	clock := newClock()
	dir := t.TempDir()
	s, err := Open(dir, Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.CreateToken("claude", []Scope{ReadTerminals}, clock.Now().Add(time.Hour))
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	clock.pass(time.Hour)
	s = open(t, dir, Options{Now: clock.Now})
	if found, _ := s.who(t, nil, "Bearer "+secret); found != nil || len(s.Tokens()) != 0 {
		t.Error("it came back")
	}
	mustCreate(t, s.TokenStore, "claude")
}

func TestTokenNamesAndScopes(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	for _, name := range []string{"", " ", " claude", "claude ", "a\nb", "a\x1b[31m", "a\u202eb", "a\u200bb", "\xff", "a\ufffdb", strings.Repeat("x", 65)} {
		if _, _, err := s.CreateToken(name, []Scope{ReadTerminals}, time.Time{}); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	for _, name := range []string{"c", "VS Code", "clausé", "代理", strings.Repeat("ä", 64), "'; DROP TABLE tokens; --"} {
		mustCreate(t, s.TokenStore, name)
		if _, _, err := s.CreateToken(name, []Scope{ReadTerminals}, time.Time{}); !errors.Is(err, ErrTokenExists) {
			t.Errorf("a second %q: %v", name, err)
		}
	}
	for _, scopes := range [][]Scope{nil, {""}, {"terminals"}, {ReadTerminals, "terminals:Read"}, {"terminals:read,terminals:write"}} {
		_, _, err := s.CreateToken("scoped", scopes, time.Time{})
		if err == nil || !strings.Contains(err.Error(), string(ReadTerminals)) {
			t.Errorf("scopes %q: %v, which names no scope there is", scopes, err)
		}
	}
}

func TestTokensAreBounded(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	for i := range maxTokens {
		mustCreate(t, s.TokenStore, fmt.Sprint(i))
	}
	if _, _, err := s.CreateToken("more", []Scope{ReadTerminals}, time.Time{}); !errors.Is(err, ErrTooManyTokens) {
		t.Errorf("one more: %v", err)
	}
	if err := s.RevokeToken("7"); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s.TokenStore, "more")
	if list := s.Tokens(); len(list) != maxTokens {
		t.Errorf("there are %d", len(list))
	}
}

func TestTokensAreListedOldestFirst(t *testing.T) {
	clock := newClock()
	s := open(t, t.TempDir(), Options{Now: clock.Now})
	for _, name := range []string{"c", "a", "b"} {
		mustCreate(t, s.TokenStore, name)
		clock.pass(time.Second)
	}
	var names []string
	for _, token := range s.Tokens() {
		names = append(names, token.Name)
	}
	if got := strings.Join(names, ""); got != "cab" {
		t.Errorf("got %s", got)
	}
}

func TestTrustEndsWithTheToken(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	_, made := mustCreate(t, s.TokenStore, "claude")
	_, other := mustCreate(t, s.TokenStore, "another")
	if s.Trusted(made.ID) {
		t.Error("trusted from the start")
	}
	if err := s.TrustToken(made.ID); err != nil || !s.Trusted(made.ID) || s.Trusted(other.ID) || s.Trusted("") {
		t.Errorf("TrustToken: %v, or the wrong one is trusted", err)
	}
	if err := s.RevokeToken("claude"); err != nil {
		t.Fatal(err)
	}
	_, again := mustCreate(t, s.TokenStore, "claude")
	if s.Trusted(made.ID) || s.Trusted(again.ID) {
		t.Error("trusted after the end")
	}
	if err := s.TrustToken(made.ID); !errors.Is(err, ErrNoToken) {
		t.Errorf("one that has ended: %v", err)
	}
}

func TestWrongTokensLetNobodyIn(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	secret, _ := mustCreate(t, s.TokenStore, "claude")
	c := &client{t: t}
	c.begin(s, "")
	wrong := []string{
		"", " ", "x", secret + " ", secret + "A", secret[1:], secret[:len(secret)-1], strings.ToUpper(secret), strings.TrimPrefix(secret, tokenPrefix),
		secret + "," + secret, `"` + secret + `"`, "\x00", "\xff\xfe", "null", "claude", c.cookie.Value, strings.Repeat("A", 30_000),
	}
	for i := range secret {
		changed := []byte(secret)
		changed[i] ^= 1
		wrong = append(wrong, string(changed))
	}
	for _, bad := range wrong {
		// With a good cookie too: what a program was not given it is not to get by whoever's browser it runs in.
		for _, c := range []*client{nil, c} {
			if found, person := s.who(t, c, "Bearer "+bad); found != nil || person != nil {
				t.Fatalf("%.60q lets in", bad)
			}
		}
	}
	if found, person := s.who(t, c, "Bearer"); found != nil || person != nil {
		t.Error("a scheme alone lets in")
	}
}

func TestTokenCountsAndNotTheCookie(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	secret, _ := mustCreate(t, s.TokenStore, "claude")
	c := &client{t: t}
	c.begin(s, "")
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER  "} {
		if found, person := s.who(t, c, scheme+secret); found == nil || person != nil {
			t.Errorf("%q: %+v, %+v", scheme, found, person)
		}
	}
	// A proxy's own password has the browser send a header with each request.
	for _, foreign := range []string{"Basic dXNlcjpwYXNz", "Digest x", secret, "", "Bearer\t" + secret, "Bearerx " + secret} {
		if found, person := s.who(t, c, foreign); found != nil || person == nil {
			t.Errorf("%q: %+v, %+v", foreign, found, person)
		}
	}
	if found, _ := s.who(t, nil, "Basic dXNlcjpwYXNz", "Bearer "+secret); found == nil {
		t.Error("a token behind a proxy's password does not let in")
	}
	// The first counts: a second one adds nothing.
	if found, person := s.who(t, c, "Bearer wrong", "Bearer "+secret); found != nil || person != nil {
		t.Error("a second token made a wrong one good")
	}
}

func TestTokenUseIsStoredOnceAMinute(t *testing.T) {
	clock := newClock()
	s := open(t, t.TempDir(), Options{Now: clock.Now})
	secret, _ := mustCreate(t, s.TokenStore, "claude")
	stored := func() time.Time {
		t.Helper()
		list, err := s.storedTokens(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0].LastUsed
	}
	first := clock.Now()
	for _, want := range []time.Time{first, first, first.Add(time.Minute)} {
		s.who(t, nil, "Bearer "+secret)
		if got := stored(); !got.Equal(want) {
			t.Errorf("stored %v, want %v", got, want)
		}
		clock.pass(time.Minute / 2)
	}
}

func TestDatabaseHoldsOnlyTheHashOfAToken(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	secret, _ := mustCreate(t, s.TokenStore, "claude")
	s.who(t, nil, "Bearer "+secret)
	var all []byte
	for _, name := range []string{databaseFile, databaseFile + "-wal", databaseFile + "-shm"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	if !strings.Contains(string(all), "claude") {
		t.Fatal("the token is not in the files at all")
	}
	for _, part := range []string{secret, strings.TrimPrefix(secret, tokenPrefix), tokenPrefix} {
		if strings.Contains(string(all), part) {
			t.Errorf("the files hold %q", part)
		}
	}
}

// A command beside a running server changes the tokens and tells the server so.
func TestTokensChangedByAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	goes, gone := mustCreate(t, s.TokenStore, "goes")
	stays, stayed := mustCreate(t, s.TokenStore, "stays")
	command, err := OpenTokens(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer command.Close()
	if err := command.RevokeToken("goes"); err != nil {
		t.Fatal(err)
	}
	comes, _ := mustCreate(t, command, "comes")
	anew, _ := mustCreate(t, command, "goes")
	if err := s.TokensChanged(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !over(gone.Done()) || over(stayed.Done()) {
		t.Error("the wrong one ended")
	}
	for secret, want := range map[string]bool{goes: false, stays: true, comes: true, anew: true} {
		if found, _ := s.who(t, nil, "Bearer "+secret); (found != nil) != want {
			t.Errorf("found %+v, want one: %v", found, want)
		}
	}
	if err := s.TokensChanged(t.Context()); err != nil || over(stayed.Done()) {
		t.Errorf("again, with nothing changed: %v", err)
	}
}

func TestOpenTokensLeavesLoginsAlone(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{Password: "correct horse"}) // which a command knows nothing of
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	c.begin(s, "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	command, err := OpenTokens(dir)
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, command, "claude")
	if err := command.Close(); err != nil {
		t.Fatal(err)
	}
	if c.find(open(t, dir, Options{Password: "correct horse"})) == nil {
		t.Error("the login is gone")
	}
}

func TestOpenTokensMakesNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	if _, err := OpenTokens(dir); err == nil {
		t.Error("it opened")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
}

// A request that is being answered while its token ends must not bring it back.
func TestRevokeAgainstRequests(t *testing.T) {
	clock := newClock()
	dir := t.TempDir()
	s := open(t, dir, Options{Now: clock.Now})
	for range 20 {
		secret, made := mustCreate(t, s.TokenStore, "claude")
		clock.pass(time.Hour) // so that every request wants to store
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if found, _ := s.who(t, nil, "Bearer "+secret); found != nil {
					<-found.Done()
				}
			})
		}
		all.Go(func() {
			if err := s.TrustToken(made.ID); err != nil && !errors.Is(err, ErrNoToken) {
				t.Error(err)
			}
		})
		all.Go(func() {
			if err := s.TokensChanged(t.Context()); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if err := s.RevokeToken("claude"); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if err := s.TokensChanged(t.Context()); err != nil || len(s.Tokens()) != 0 || s.Trusted(made.ID) {
			t.Fatalf("it is back: %+v, %v", s.Tokens(), err)
		}
	}
}

func TestNameIsGivenOnce(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	var all sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for range 8 {
		all.Go(func() {
			_, _, err := s.CreateToken("claude", []Scope{ReadTerminals}, time.Time{})
			if err != nil && !errors.Is(err, ErrTokenExists) {
				t.Error(err)
			}
			if err == nil {
				mu.Lock()
				made++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if made != 1 || len(s.Tokens()) != 1 {
		t.Errorf("made %d, and there are %d", made, len(s.Tokens()))
	}
}

func TestPasswordChangeLeavesTokens(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	secret, made := mustCreate(t, s.TokenStore, "claude")
	if err := SetPassword(t.Context(), dir, "correct horse"); err != nil {
		t.Fatal(err)
	}
	if err := s.PasswordChanged(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, _ := s.who(t, nil, "Bearer "+secret); found == nil || over(made.Done()) {
		t.Error("the token ended")
	}
}

func TestClosedStoreTakesNoTokens(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	secret, made := mustCreate(t, s.TokenStore, "claude")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if found, _ := s.who(t, nil, "Bearer "+secret); found != nil {
		t.Error("it lets in")
	}
	_, _, err = s.CreateToken("another", []Scope{ReadTerminals}, time.Time{})
	for what, err := range map[string]error{
		"create": err, "revoke": s.RevokeToken("claude"), "trust": s.TrustToken(made.ID), "read": s.TokensChanged(t.Context()),
	} {
		if err == nil || errors.Is(err, ErrNoToken) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
