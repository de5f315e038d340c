package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/server/login"
	"tandem/static"
)

// bearing sends a value of the header Authorization with each request.
type bearing struct {
	http.RoundTripper
	value string
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", b.value)
	return b.RoundTripper.RoundTrip(r)
}

// bearing is the same client, cookies and Origin included, that sends this token too.
func (c *client) bearing(secret string) *client {
	as := *c
	as.http = &http.Client{Jar: c.http.Jar, Transport: bearing{c.http.Transport, "Bearer " + secret}}
	return &as
}

// token makes a token and returns its secret.
func (s *instance) token(t testing.TB, name string, scopes ...login.Scope) string {
	t.Helper()
	secret, _, err := s.logins.CreateToken(name, scopes, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// program is a client that has a token and sends no Origin, as programs do.
func (s *instance) program(t testing.TB, secret string) *client {
	t.Helper()
	c := s.browser(t)
	c.origin = ""
	return c.bearing(secret)
}

// needs is what a token needs for a route, written out: that a route gets open to programs must be seen here.
func needs(method, path string) (scope login.Scope, open bool) {
	if method == "HEAD" {
		method = "GET"
	}
	const terminal = "/api/terminals/nothing-has-this-id"
	switch method + " " + path {
	case "GET /api/terminals", "GET " + terminal, "GET /ws/terminal", "GET /ahp",
		"GET " + terminal + "/commands", "GET " + terminal + "/commands/{command}/output":
		return "terminals:read", true
	case "POST /api/terminals", "PATCH " + terminal, "DELETE " + terminal, "POST " + terminal + "/tickets":
		return "terminals:write", true
	case "GET /metrics":
		return "metrics:read", true
	case "GET /healthz", "GET /readyz":
		return "", true
	}
	return "", method == "GET" && slices.Contains(static.Paths(), path)
}

// refusal is why a token was refused: the scope that it has not, or "people" if none would do, or "" if it was not.
func refusal(t *testing.T, a answer) string {
	t.Helper()
	if a.status != http.StatusForbidden {
		return ""
	}
	p := isProblem(t, a, http.StatusForbidden)
	if _, scope, ok := strings.Cut(a.header.Get("WWW-Authenticate"), `error="insufficient_scope", scope="`); ok {
		scope = strings.TrimSuffix(scope, `"`)
		if !strings.Contains(p.Detail, scope) {
			t.Errorf("does not name the scope %s: %+v", scope, p)
		}
		return scope
	}
	if strings.Contains(p.Detail, "no token") {
		return "people"
	}
	return ""
}

func TestEveryRouteAsksTokensForTheirScope(t *testing.T) {
	s := serve(t, nil)
	tokens := map[string][]login.Scope{
		"reader": {login.ReadTerminals}, "writer": {login.WriteTerminals}, "monitor": {login.ReadMetrics}, "all": login.Scopes,
	}
	routes := append(allRoutes(t, s.Server), route{"GET", "/no/such/route"}, route{"GET", "/api/terminals/"}, route{"GET", "/API/terminals"})
	for name, scopes := range tokens {
		c := s.program(t, s.token(t, name, scopes...))
		for _, r := range routes {
			for _, method := range methods {
				scope, open := needs(method, r.path)
				want := ""
				switch {
				case !open:
					want = "people"
				case scope != "" && !slices.Contains(scopes, scope):
					want = string(scope)
				}
				a := c.raw(method, r.path, "", "")
				if a.status == http.StatusUnauthorized {
					t.Errorf("%s: %s %s: %v", name, method, r.path, a)
				} else if method == "HEAD" {
					if a.status == http.StatusForbidden != (want != "") && r.path != byteLanePath {
						t.Errorf("%s: HEAD %s: %d, want refused for %q", name, r.path, a.status, want)
					}
				} else if got := refusal(t, a); got != want {
					t.Errorf("%s: %s %s: refused for %q, want %q: %v", name, method, r.path, got, want, a)
				}
			}
		}
	}
}

func TestTokenIsNoLogin(t *testing.T) {
	s := serve(t, func(cfg *Config) { cfg.Password = "correct horse battery" })
	person := s.person(t)
	var list []loginJSON
	person.do("GET", "api/logins", nil).into(t, &list)
	c := s.program(t, s.token(t, "claude", login.Scopes...))
	for _, try := range []struct {
		method, path string
		body         any
	}{
		{"POST", "api/login", map[string]string{"password": "correct horse battery"}},
		{"POST", "api/login/link", map[string]string{"secret": s.linkSecret()}},
		{"POST", "api/logout", nil},
		{"GET", "api/session", nil},
		{"GET", "api/logins", nil},
		{"DELETE", "api/logins/" + list[0].ID, nil},
	} {
		a := c.do(try.method, try.path, try.body)
		if got := refusal(t, a); got != "people" || len(a.header.Values("Set-Cookie")) != 0 {
			t.Errorf("%s %s: %v, cookies %q", try.method, try.path, a, a.header.Values("Set-Cookie"))
		}
	}
	if !person.loggedIn() {
		t.Error("the person was logged out")
	}
}

func TestTokenReadsTerminals(t *testing.T) {
	s := serve(t, nil)
	id, _ := s.person(t).create(bareBash)
	c := s.program(t, s.token(t, "claude", login.ReadTerminals))
	var list []terminalJSON
	c.do("GET", "api/terminals", nil).into(t, &list)
	if len(list) != 1 || list[0].ID != id {
		t.Errorf("listed %+v", list)
	}
	if a := c.do("HEAD", "api/terminals/"+id, nil); a.status != http.StatusOK {
		t.Errorf("HEAD: %v", a)
	}
	if a := s.program(t, s.token(t, "monitor", login.ReadMetrics)).do("GET", "metrics", nil); a.status != http.StatusOK {
		t.Errorf("metrics: %v", a)
	}
}

func TestTokenAndCookieIsToken(t *testing.T) {
	s := serve(t, nil)
	person := s.person(t)
	both := person.bearing(s.token(t, "monitor", login.ReadMetrics))
	if got := refusal(t, both.do("GET", "api/terminals", nil)); got != "terminals:read" {
		t.Errorf("refused for %q", got)
	}
	if got := refusal(t, both.do("GET", "api/session", nil)); got != "people" {
		t.Errorf("refused for %q", got)
	}
	wrong := person.bearing("tandem_wrong")
	isProblem(t, wrong.do("GET", "api/session", nil), http.StatusUnauthorized)
	isProblem(t, wrong.do("POST", "api/logout", nil), http.StatusUnauthorized)
	if !person.loggedIn() {
		t.Error("the person was logged out")
	}
	// What a proxy wants to know is no token.
	basic := *person
	basic.http = &http.Client{Jar: person.http.Jar, Transport: bearing{person.http.Transport, "Basic dXNlcjpwYXNz"}}
	if !basic.loggedIn() {
		t.Error("a proxy's password hides the login")
	}
}

func TestWrongTokensAreRefused(t *testing.T) {
	s := serve(t, nil)
	good := s.token(t, "claude", login.Scopes...)
	revoked := s.token(t, "revoked", login.Scopes...)
	if err := s.logins.RevokeToken("revoked"); err != nil {
		t.Fatal(err)
	}
	expired, short, err := s.logins.CreateToken("expired", login.Scopes, time.Now().Add(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	<-short.Done()
	for _, secret := range []string{"", "x", good + "x", good[:len(good)-1], revoked, expired, strings.Repeat("x", 20_000), "Bearer " + good} {
		c := s.program(t, secret)
		for _, r := range []route{{"GET", "/api/terminals"}, {"POST", "/api/terminals"}, {"GET", "/metrics"}, {"GET", byteLanePath}, {"GET", ahpPath}, {"GET", "/no"}} {
			a := c.raw(r.method, r.path, "", "")
			isProblem(t, a, http.StatusUnauthorized)
			if a.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("asks for %q", a.header.Get("WWW-Authenticate"))
			}
		}
		if a := c.do("GET", "healthz", nil); a.status != http.StatusOK {
			t.Errorf("what is public: %v", a)
		}
	}
	if a := s.program(t, good).do("GET", "api/terminals", nil); a.status != http.StatusOK {
		t.Errorf("the good one: %v", a)
	}
}

func TestOnlyTokensMayLeaveTheOriginOut(t *testing.T) {
	s := serve(t, nil)
	secret := s.token(t, "claude", login.Scopes...)
	person := s.person(t)
	port := person.origin[strings.LastIndex(person.origin, ":"):]
	upgrade := map[string]string{"GET": byteLanePath, "POST": "/api/terminals", "DELETE": "/api/terminals/x"}
	for method, path := range upgrade {
		for _, origin := range []string{"", person.origin} {
			a := s.program(t, secret).raw(method, path, "", origin)
			if a.status == http.StatusUnauthorized || strings.Contains(string(a.body), "origin") || strings.Contains(string(a.body), "Origin") {
				t.Errorf("%s %s from %q: %v", method, path, origin, a)
			}
		}
		for _, origin := range []string{"https://evil.example", "null", "http://localhost:1", "file://"} {
			if a := s.program(t, secret).raw(method, path, "", origin); a.status != http.StatusForbidden || !strings.Contains(string(a.body), "origin") {
				t.Errorf("%s %s from %s: %v", method, path, origin, a)
			}
		}
		host := "evil.example" + port
		if a := s.program(t, secret).raw(method, path, host, ""); a.status != http.StatusForbidden || !strings.Contains(string(a.body), "name") {
			t.Errorf("%s %s to %s: %v", method, path, host, a)
		}
		// A header that holds no token does not stand in for an Origin.
		isProblem(t, person.bearing("tandem_wrong").raw(method, path, "", ""), http.StatusUnauthorized)
		if a := person.raw(method, path, "", ""); a.status != http.StatusForbidden || !strings.Contains(string(a.body), "Origin") {
			t.Errorf("%s %s of a person: %v", method, path, a)
		}
	}
	if a := person.raw("GET", ahpPath, "", ""); a.status != http.StatusForbidden {
		t.Errorf("AHP of a person without an origin: %v", a)
	}
}

func TestTokenInTheQueryIsForAHPAlone(t *testing.T) {
	s := serve(t, func(cfg *Config) { cfg.BasePath = "/base" })
	secret := s.token(t, "claude", login.Scopes...)
	other := s.token(t, "other", login.Scopes...)
	stranger := s.browser(t)
	stranger.origin = ""
	for _, path := range []string{"api/terminals", "ws/terminal", "metrics", "ahp/", "ahp/x", "AHP", "x/ahp"} {
		isProblem(t, stranger.do("GET", path+"?tkn="+secret, nil), http.StatusUnauthorized)
	}
	for query, ok := range map[string]bool{
		"tkn=" + secret: true, "x=1&tkn=" + secret: true, "tkn=": false, "tkn=wrong": false, "TKN=" + secret: false, "token=" + secret: false,
		"tkn=wrong&tkn=" + secret: false, "tkn=" + secret + "%00": false, "tkn=" + secret + ";x": false, "": false,
	} {
		if a := stranger.do("GET", "ahp?"+query, nil); a.status == http.StatusUnauthorized == ok {
			t.Errorf("?%.10s…: %v", query, a)
		}
	}

	// What the routes get to see.
	var name, left string
	find := s.findLogin(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		name, left = "", r.URL.RawQuery
		if token, ok := login.TokenFrom(r.Context()); ok {
			name = token.Name
		}
	}))
	for _, test := range []struct{ query, header, name string }{
		{"tkn=" + secret, "", "claude"},
		{"tkn=" + secret, "Bearer " + other, "other"},
		{"tkn=" + secret, "Bearer wrong", ""},
		{"tkn=" + secret, "Basic dXNlcjpwYXNz", "claude"},
		{"tkn=wrong", "", ""},
		{"", "Bearer " + other, "other"},
	} {
		r := httptest.NewRequest("GET", ahpPath+"?a=b&"+test.query, nil)
		if test.header != "" {
			r.Header.Set("Authorization", test.header)
		}
		find.ServeHTTP(httptest.NewRecorder(), r)
		if name != test.name || strings.Contains(left, "tkn") || !strings.Contains(left, "a=b") {
			t.Errorf("?%.8s and %.12q: it is %q, and the query is %q", test.query, test.header, name, left)
		}
	}
}

func TestTokensChangedByACommand(t *testing.T) {
	s := serve(t, nil)
	gone := s.token(t, "gone", login.ReadTerminals)
	stays := s.token(t, "stays", login.ReadTerminals)
	command, err := login.OpenTokens(s.cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	comes, _, err := command.CreateToken("comes", []login.Scope{login.ReadTerminals}, time.Time{})
	if err := errors.Join(err, command.RevokeToken("gone"), command.Close(), s.TokensChanged(t.Context())); err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]int{gone: 401, stays: 200, comes: 200} {
		if a := s.program(t, secret).do("GET", "api/terminals", nil); a.status != want {
			t.Errorf("got %v, want %d", a, want)
		}
	}
}

func TestLogHoldsNoTokens(t *testing.T) {
	var log syncBuffer
	s := serve(t, func(cfg *Config) { cfg.Logger = log.logger() })
	secret := s.token(t, "claude", login.ReadTerminals)
	c := s.program(t, secret)
	c.do("GET", "api/terminals", nil)
	c.do("GET", "metrics", nil)
	s.program(t, "tandem_guess").do("GET", "api/terminals", nil)
	stranger := s.browser(t)
	stranger.do("GET", "ahp?tkn="+secret, nil)
	stranger.do("GET", "ahp?tkn=tandem_guess", nil)
	stranger.do("GET", "api/terminals?tkn="+secret, nil)
	if err := s.logins.RevokeToken("claude"); err != nil {
		t.Fatal(err)
	}
	s.stop()
	text := log.String()
	for _, done := range []string{"/api/terminals", "status=403", "status=401", "token revoked"} {
		if !strings.Contains(text, done) {
			t.Errorf("the log does not tell of %s:\n%s", done, text)
		}
	}
	for _, secret := range []string{secret, "tandem_", "guess", "tkn", "Bearer"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q:\n%s", secret, text)
		}
	}
}
