package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"tandem/server/login"
)

func (c *client) password(password string) answer {
	c.t.Helper()
	return c.do("POST", "api/login", map[string]string{"password": password})
}

func (c *client) loggedIn() bool {
	c.t.Helper()
	return c.do("GET", "api/session", nil).status == http.StatusOK
}

// theCookie returns the one cookie that an answer sets.
func theCookie(t *testing.T, a answer) *http.Cookie {
	t.Helper()
	set := (&http.Response{Header: a.header}).Cookies()
	if len(set) != 1 {
		t.Fatalf("sets the cookies %q", a.header.Values("Set-Cookie"))
	}
	return set[0]
}

func TestLoginByPassword(t *testing.T) {
	s := serve(t, func(cfg *Config) { cfg.Password = "correct horse battery" })
	c := s.browser(t)
	isProblem(t, c.password("wrong"), http.StatusUnauthorized)
	isProblem(t, c.password(""), http.StatusUnauthorized)
	if c.loggedIn() {
		t.Fatal("a wrong password logs in")
	}
	a := c.password("correct horse battery")
	if a.status != http.StatusNoContent || len(a.body) != 0 {
		t.Fatal(a)
	}
	cookie := theCookie(t, a)
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" || cookie.Secure ||
		!strings.HasSuffix(cookie.Name, "-"+s.origins.port) {
		t.Errorf("cookie %v", cookie)
	}
	if !c.loggedIn() {
		t.Fatal("not logged in")
	}
}

func TestWithoutAPasswordOnlyTheLinkLogsIn(t *testing.T) {
	s := serve(t, nil)
	for _, guess := range []string{"", "password", "x"} {
		if p := isProblem(t, s.browser(t).password(guess), http.StatusUnauthorized); !strings.Contains(p.Detail, "tandem login-link") {
			t.Errorf("does not say what to do: %+v", p)
		}
	}
	if !s.person(t).loggedIn() {
		t.Fatal("the link does not log in")
	}
}

func TestLinkWorksOnceAndIsNotSpentByLookingAtIt(t *testing.T) {
	s := serve(t, nil)
	link, err := url.Parse(s.NewLink())
	if err != nil {
		t.Fatal(err)
	}
	secret, ok := strings.CutPrefix(link.Fragment, "login=")
	if !ok || link.RawQuery != "" || link.Scheme+"://"+link.Host+link.Path != s.url {
		t.Fatalf("link %v for %s", link, s.url)
	}
	preview := s.browser(t)
	for range 3 {
		if a := preview.do("GET", "", nil); a.status != http.StatusOK {
			t.Fatal(a)
		}
	}
	if a := preview.do("GET", "api/login/link?secret="+secret, nil); a.status == http.StatusNoContent || preview.loggedIn() {
		t.Fatalf("a GET logs in: %v", a)
	}
	first, second := s.browser(t), s.browser(t)
	if a := first.do("POST", "api/login/link", map[string]string{"secret": secret}); a.status != http.StatusNoContent || !first.loggedIn() {
		t.Fatal(a)
	}
	isProblem(t, second.do("POST", "api/login/link", map[string]string{"secret": secret}), http.StatusUnauthorized)
	isProblem(t, second.do("POST", "api/login/link", map[string]string{"secret": ""}), http.StatusUnauthorized)
	if second.loggedIn() {
		t.Fatal("the link works twice")
	}
}

func TestFailedLoginsAreSlowedDown(t *testing.T) {
	s := serve(t, func(cfg *Config) { cfg.Password = "correct horse battery" })
	c := s.browser(t)
	var last answer
	for range 10 {
		if last = c.password("wrong"); last.status == http.StatusTooManyRequests {
			break
		}
	}
	isProblem(t, last, http.StatusTooManyRequests)
	if wait, err := strconv.Atoi(last.header.Get("Retry-After")); err != nil || wait < 1 {
		t.Errorf("Retry-After %q", last.header.Get("Retry-After"))
	}
	if !s.person(t).loggedIn() {
		t.Error("failed passwords stop a good link")
	}
}

func TestLoginsAreListedAndRevoked(t *testing.T) {
	s := serve(t, nil)
	desk, phone := s.person(t), s.person(t)
	var list []loginJSON
	desk.do("GET", "api/logins", nil).into(t, &list)
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	var other string
	for _, l := range list {
		if l.Device == "" || l.Address != "127.0.0.1" || l.Created.IsZero() || l.LastSeen.IsZero() {
			t.Errorf("%+v", l)
		}
		if !l.Current {
			other = l.ID
		}
	}
	id, _ := phone.create(bareBash)
	onPhone := phone.attach(id, -1)
	onPhone.see("$ ")
	if a := desk.do("DELETE", "api/logins/"+other, nil); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	if code := onPhone.closed(); code != closeLoginEnded {
		t.Errorf("closed with %d", code)
	}
	if phone.loggedIn() || !desk.loggedIn() {
		t.Error("the wrong login ended")
	}
	isProblem(t, desk.do("DELETE", "api/logins/"+other, nil), http.StatusNotFound)
}

func TestLogoutTakesTheCookieAway(t *testing.T) {
	c := serve(t, nil).person(t)
	a := c.do("POST", "api/logout", nil)
	if cookie := theCookie(t, a); a.status != http.StatusNoContent || cookie.Value != "" || cookie.MaxAge >= 0 {
		t.Errorf("%v, cookie %v", a, cookie)
	}
	isProblem(t, c.do("POST", "api/logout", nil), http.StatusUnauthorized)
}

func TestLoginOutlivesTheServer(t *testing.T) {
	dir := t.TempDir()
	first := serve(t, func(cfg *Config) { cfg.DataDir = dir })
	stays, leaves := first.person(t), first.person(t)
	if a := leaves.do("POST", "api/logout", nil); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	first.stop()
	second := serve(t, func(cfg *Config) { cfg.DataDir, cfg.Listen = dir, first.cfg.Listen })
	stays.server, leaves.server = second, second
	if !stays.loggedIn() || leaves.loggedIn() {
		t.Fatalf("stayed: %v, left: %v", stays.loggedIn(), leaves.loggedIn())
	}
}

func TestNewPasswordEndsLoginsAndTheirSockets(t *testing.T) {
	s := serve(t, nil)
	c := s.person(t)
	id, _ := c.create(bareBash)
	l := c.attach(id, -1)
	l.see("$ ")
	if err := login.SetPassword(context.Background(), s.cfg.DataDir, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	if err := s.PasswordChanged(context.Background()); err != nil {
		t.Fatal(err)
	}
	if code := l.closed(); code != closeLoginEnded || c.loggedIn() {
		t.Errorf("closed with %d, logged in: %v", code, c.loggedIn())
	}
	if a := c.password("correct horse battery"); a.status != http.StatusNoContent {
		t.Error(a)
	}
}

func TestUnreadableLoginsAreAProblem(t *testing.T) {
	store, err := login.Open(t.TempDir(), login.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	s := &Server{logins: store}
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: login.CookieOptions{}.Name(), Value: "anything"})
	w := httptest.NewRecorder()
	s.findLogin(http.NotFoundHandler()).ServeHTTP(w, r)
	isProblem(t, answer{w.Code, w.Header(), w.Body.Bytes()}, http.StatusServiceUnavailable)
}
