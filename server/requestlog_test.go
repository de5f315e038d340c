package server

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"
)

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *syncBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// serveOnce gives one request to a handler that is under no router.
func serveOnce(h http.Handler, method, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, target, nil)
	h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, chi.NewRouteContext())))
	return w
}

// The log of a whole day's work, at its most talkative, holds what was done and none of what was secret.
func TestLogHoldsNoSecrets(t *testing.T) {
	const password = "correct horse battery"
	var log syncBuffer
	s := serve(t, func(cfg *Config) { cfg.Logger, cfg.Password = log.logger(), password })

	secret := s.linkSecret()
	c := s.browser(t)
	if a := c.do("POST", "api/login/link", map[string]string{"secret": secret}); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	other := s.browser(t)
	if a := other.do("POST", "api/login", map[string]string{"password": password}); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	if a := s.browser(t).do("POST", "api/login", map[string]string{"password": "a wrong guess"}); a.status != http.StatusUnauthorized {
		t.Fatal(a)
	}
	id, ticket := c.create(bareBash)
	conn, status := c.upgrade(url.Values{"session_id": {id}, "ticket": {ticket}})
	if conn == nil {
		t.Fatalf("status %d", status)
	}
	l := &lane{t: t, conn: conn}
	defer conn.CloseNow()
	l.see("$ ")
	l.types("echo typed-$((40+2))\n")
	l.see("typed-42")
	c.do("GET", "api/terminals?token=in-the-query", nil)
	c.do("BREW", "no/such/path-of-mine", nil)
	c.do("PATCH", "api/terminals/"+id, map[string]string{"title": "a private title"})
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{password, secret, "a wrong guess", ticket, "typed-", "in-the-query", "path-of-mine", "a private title", "session_id", "BREW"}
	for _, cookie := range append(c.http.Jar.Cookies(u), other.http.Jar.Cookies(u)...) {
		secrets = append(secrets, cookie.Value)
	}
	if len(secrets) != 12 {
		t.Fatalf("a browser has no cookie: %d secrets", len(secrets))
	}
	c.do("POST", "api/logout", nil)
	if code := l.closed(); code != closeLoginEnded {
		t.Fatalf("closed with %d", code)
	}
	s.stop()

	text := log.String()
	for _, done := range []string{"/api/login/link", "/api/terminals/{id}", "/ws/terminal", "terminal started", "status=204"} {
		if !strings.Contains(text, done) {
			t.Errorf("the log does not tell of %s:\n%s", done, text)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}
