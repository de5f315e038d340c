package login

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deadline is how long a test waits for what should happen at once.
const deadline = 20 * time.Second

// clock is a time that only the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// open opens a store that the test's end closes.
func open(t *testing.T, dir string, opts Options) *Store {
	t.Helper()
	s, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// client is a browser: it keeps the cookie that it is given.
type client struct {
	t      *testing.T
	cookie *http.Cookie
}

// begin logs c in.
func (c *client) begin(s *Store, source string) *Login {
	c.t.Helper()
	r := c.request()
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	w := httptest.NewRecorder()
	l, err := s.LogInByLink(w, r, source, s.NewLink())
	if err != nil {
		c.t.Fatal(err)
	}
	c.keep(w)
	return l
}

// unavailable answers when the database cannot be read.
var unavailable = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })

// find is what a request of c is found to be by the middleware; nil if nobody.
func (c *client) find(s *Store) *Login {
	c.t.Helper()
	var found *Login
	w := httptest.NewRecorder()
	s.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		found, _ = From(r.Context())
	}), unavailable).ServeHTTP(w, c.request())
	if w.Code != http.StatusOK {
		c.t.Fatalf("the middleware answered %d", w.Code)
	}
	return found
}

func (c *client) logout(s *Store) {
	c.t.Helper()
	w := httptest.NewRecorder()
	s.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.Logout(w, r); err != nil {
			c.t.Error(err)
		}
	}), unavailable).ServeHTTP(w, c.request())
	c.keep(w)
}

func (c *client) request() *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	if c.cookie != nil {
		r.AddCookie(&http.Cookie{Name: c.cookie.Name, Value: c.cookie.Value})
	}
	return r
}

func (c *client) keep(w *httptest.ResponseRecorder) {
	for _, cookie := range w.Result().Cookies() {
		c.cookie = cookie
		if cookie.MaxAge < 0 {
			c.cookie = nil
		}
	}
}

// ended reports whether l's Done is closed now.
func ended(l *Login) bool {
	select {
	case <-l.Done():
		return true
	default:
		return false
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	// The name has all that a database's address could misread.
	dir := filepath.Join(t.TempDir(), "da ta?mode=ro#%41")
	if err := SetPassword(t.Context(), dir, "correct horse"); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, Options{})
	(&client{t: t}).begin(s, "127.0.0.1")
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", entry.Name(), info.Mode(), err)
		}
	}
	if got := strings.Join(names, " "); got != "password tandem.db tandem.db-shm tandem.db-wal" {
		t.Errorf("the directory holds %s", got)
	}
}

func TestDatabaseHoldsNoSecret(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{Password: "correct horse"})
	c := &client{t: t}
	c.begin(s, "127.0.0.1")
	secret := s.NewLink()
	for _, name := range []string{databaseFile, databaseFile + "-wal"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{c.cookie.Value, secret, "correct horse"} {
			if strings.Contains(string(content), s) {
				t.Errorf("%s holds a secret as it is", name)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, passwordFile)); err == nil {
		t.Error("the password given at start was written to the password file")
	}
}

func TestDamagedDatabaseSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, databaseFile), []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "move") {
		t.Errorf("Open: %v", err)
	}
}

func TestCookieNames(t *testing.T) {
	for _, test := range []struct {
		opts CookieOptions
		want string
	}{
		{CookieOptions{}, "tandem"},
		{CookieOptions{Suffix: "-8600"}, "tandem-8600"},
		{CookieOptions{Path: "/x/"}, "tandem"},
		{CookieOptions{Secure: true}, "__Host-tandem"},
		{CookieOptions{Path: "/", Secure: true, Suffix: "-8600"}, "__Host-tandem-8600"},
		{CookieOptions{Path: "/x/", Secure: true}, "__Secure-tandem"}, // __Host- demands the path /
	} {
		if got := test.opts.Name(); got != test.want {
			t.Errorf("%+v: %s, want %s", test.opts, got, test.want)
		}
	}
}

func TestCookieIsStrict(t *testing.T) {
	s := open(t, t.TempDir(), Options{Cookie: CookieOptions{Path: "/x/", Secure: true}})
	c := &client{t: t}
	c.begin(s, "127.0.0.1")
	if !c.cookie.HttpOnly || !c.cookie.Secure || c.cookie.SameSite != http.SameSiteStrictMode || c.cookie.Path != "/x/" ||
		c.cookie.Domain != "" {
		t.Errorf("the cookie is %v", c.cookie)
	}
	if age := time.Duration(c.cookie.MaxAge) * time.Second; age < Lifetime-time.Minute || age > Lifetime+time.Minute {
		t.Errorf("the cookie lives %v", age)
	}
}

func TestClosedStoreFails(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	l := c.begin(s, "127.0.0.1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !ended(l) {
		t.Error("Close left Done open")
	}
	w := httptest.NewRecorder()
	s.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request passed") }), unavailable).ServeHTTP(w, c.request())
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("a request was answered %d", w.Code)
	}
	if _, err := s.LogInByLink(httptest.NewRecorder(), c.request(), "", s.NewLink()); err == nil {
		t.Error("one could log in")
	}
	if err := s.End(context.Background(), l.ID); err == nil {
		t.Error("a login could be ended")
	}
}
