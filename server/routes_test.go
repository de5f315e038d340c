package server

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"tandem/static"
)

// route is a method and a path that the router serves, with ids that nothing has.
type route struct{ method, path string }

// allRoutes walks the router, so that a new route is in every test below by itself.
func allRoutes(t *testing.T, s *Server) []route {
	t.Helper()
	var all []route
	err := chi.Walk(s.routes(), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		all = append(all, route{method, strings.ReplaceAll(pattern, "{id}", "nothing-has-this-id")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 15 {
		t.Fatalf("the walk found only %v", all)
	}
	return all
}

// open is what needs no login, written out: that a route gets public must be seen here.
func open(r route) bool {
	return slices.Contains([]route{
		{"POST", "/api/login"}, {"POST", "/api/login/link"}, {"GET", "/healthz"}, {"GET", "/readyz"},
	}, r) || r.method == "GET" && slices.Contains(static.Paths(), r.path)
}

// raw sends a request with exactly these headers, those of an upgrade included: a route may only look at requests that
// ask for one.
func (c *client) raw(method, path, host, origin string) answer {
	c.t.Helper()
	r, err := http.NewRequest(method, strings.TrimSuffix(c.server.url, "/")+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	if path == byteLanePath {
		for name, value := range map[string]string{
			"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
		} {
			r.Header.Set(name, value)
		}
	}
	// A browser whose name for us was rebound has no cookie for it; this is about what would happen if it had.
	for _, cookie := range c.http.Jar.Cookies(&url.URL{Scheme: "http", Host: r.URL.Host, Path: "/"}) {
		r.AddCookie(cookie)
	}
	as := *c
	as.origin, as.http = origin, &http.Client{Transport: c.http.Transport}
	return as.send(r)
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}

func TestEveryRouteNeedsALogin(t *testing.T) {
	s := serve(t, nil)
	stranger := s.browser(t)
	for _, r := range allRoutes(t, s.Server) {
		for _, method := range methods {
			if open(route{strings.Replace(method, "HEAD", "GET", 1), r.path}) {
				continue
			}
			if a := stranger.raw(method, r.path, "", stranger.origin); a.status != http.StatusUnauthorized {
				t.Errorf("%s %s without a login: %v", method, r.path, a)
			}
		}
		if open(r) {
			if a := stranger.raw(r.method, r.path, "", stranger.origin); a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
				t.Errorf("%s %s is to be public: %v", r.method, r.path, a)
			}
		}
	}
	if a := stranger.raw("GET", "/no/such/route", "", ""); a.status != http.StatusUnauthorized {
		t.Errorf("what is not there tells so without a login: %v", a)
	}
}

func TestEveryRouteRefusesForeignOrigins(t *testing.T) {
	s := serve(t, nil)
	person := s.person(t)
	port := person.origin[strings.LastIndex(person.origin, ":"):]
	for _, r := range allRoutes(t, s.Server) {
		for _, origin := range []string{
			"https://evil.example", "null", "http://localhost:1", "http://127.0.0.1", "https://127.0.0.1" + port,
			"http://127.0.0.1" + port + ".evil.example", "http://evil.example" + port, person.origin + "/", "file://",
		} {
			if a := person.raw(r.method, r.path, "", origin); a.status != http.StatusForbidden {
				t.Errorf("%s %s from %s: %v", r.method, r.path, origin, a)
			}
		}
		if r.method != "GET" || r.path == byteLanePath {
			if a := person.raw(r.method, r.path, "", ""); a.status != http.StatusForbidden {
				t.Errorf("%s %s without an origin: %v", r.method, r.path, a)
			}
		}
	}
	if a := person.raw("GET", "/api/session", "", person.origin); a.status != http.StatusOK {
		t.Errorf("the login did not last: %v", a)
	}
}

func TestEveryRouteRefusesForeignHosts(t *testing.T) {
	s := serve(t, nil)
	person := s.person(t)
	port := person.origin[strings.LastIndex(person.origin, ":"):]
	for _, r := range allRoutes(t, s.Server) {
		for _, host := range []string{
			"evil.example" + port, "127.0.0.1.evil.example" + port, "localhost.evil.example" + port, "10.1.2.3" + port, "evil.example", "127.0.0.1:1",
		} {
			// What a page gets after rebinding its name: an origin that matches the host.
			if a := person.raw(r.method, r.path, host, "http://"+host); a.status != http.StatusForbidden {
				t.Errorf("%s %s to %s: %v", r.method, r.path, host, a)
			}
		}
	}
}

// No way of writing a path gets past the login: the policy and the router read it alike.
func TestPathsWrittenOtherwiseAreNotPublic(t *testing.T) {
	s := serve(t, nil)
	for _, target := range []string{
		"/%61pi/terminals", "/healthz/../api/terminals", "//api/terminals", "/api//terminals", "/healthz%2f..%2fapi%2fterminals",
		"/api/terminals?x=/healthz", "/api/terminals/%2e%2e/%2e%2e/healthz", "/API/terminals", "/api/login/", "/%2fhealthz", "/metrics/",
	} {
		for _, method := range []string{"GET", "POST"} {
			r := httptest.NewRequest(method, target, nil)
			r.Host = s.cfg.Listen
			r.Header.Set("Origin", "http://"+s.cfg.Listen)
			w := httptest.NewRecorder()
			s.handler().ServeHTTP(w, r)
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s %s: %d", method, target, w.Code)
			}
		}
	}
}

// The one request that net/http would answer by itself.
func TestOptionsOfTheServerNeedALogin(t *testing.T) {
	s := serve(t, nil)
	conn, err := net.Dial("tcp", s.cfg.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "OPTIONS * HTTP/1.1\r\nHost: %s\r\n\r\n", s.cfg.Listen); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d", response.StatusCode)
	}
}

func TestRouterReadsTheDecodedPathLikeThePolicy(t *testing.T) {
	s := serve(t, nil)
	r := httptest.NewRequest("GET", "/%68ealthz", nil)
	r.Host = s.cfg.Listen
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("the policy calls it public, the router says %d", w.Code)
	}
}

func TestMethodsAndHeads(t *testing.T) {
	c := serve(t, nil).person(t)
	a := c.do("PUT", "api/terminals", nil)
	if a.status != http.StatusMethodNotAllowed || !slices.Equal(a.header.Values("Allow"), []string{"GET", "POST"}) {
		t.Errorf("PUT: %v, Allow %q", a, a.header.Values("Allow"))
	}
	for _, path := range []string{"", "api/terminals", "healthz"} {
		if a := c.do("HEAD", path, nil); a.status != http.StatusOK || len(a.body) != 0 {
			t.Errorf("HEAD %s: %v", path, a)
		}
	}
}
