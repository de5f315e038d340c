package server

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBasePath(t *testing.T) {
	for _, base := range []string{"/tandem", "/tandem/", "tandem", "/deep/er"} {
		s := serve(t, func(cfg *Config) { cfg.BasePath = base })
		want := "/" + strings.Trim(base, "/") + "/"
		if !strings.HasSuffix(s.url, want) || !strings.HasPrefix(s.NewLink(), s.url+"#login=") {
			t.Fatalf("%s: page %s, link %s", base, s.url, s.NewLink())
		}
		c := s.browser(t)
		a := c.do("POST", "api/login/link", map[string]string{"secret": s.linkSecret()})
		if a.status != http.StatusNoContent {
			t.Fatal(a)
		}
		if cookie := theCookie(t, a); cookie.Path != want {
			t.Errorf("%s: cookie for %q", base, cookie.Path)
		}
		if a := c.do("GET", "", nil); a.status != http.StatusOK || !strings.Contains(a.header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: page: %v", base, a)
		}
		a = c.do("POST", "api/terminals", bareBash)
		if !strings.HasPrefix(a.header.Get("Location"), want+"api/terminals/") {
			t.Errorf("%s: Location %q", base, a.header.Get("Location"))
		}
		var made struct{ Terminal terminalJSON }
		a.into(t, &made)
		c.attach(made.Terminal.ID, -1).see("$ ")

		root := *s
		root.url = "http://" + s.cfg.Listen + "/"
		outside := *c
		outside.server = &root
		outside.http = &http.Client{Transport: c.http.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		if a := outside.do("GET", strings.Trim(base, "/"), nil); a.status != http.StatusPermanentRedirect || a.header.Get("Location") != want {
			t.Errorf("%s without its slash: %v to %q", base, a, a.header.Get("Location"))
		}
		for _, path := range []string{"", "healthz", "api/terminals", strings.Trim(base, "/") + "x/healthz", "ws/terminal"} {
			isProblem(t, outside.do("GET", path, nil), http.StatusNotFound)
		}
	}
}

func TestBasePathThatNeedsEscapesIsRefused(t *testing.T) {
	for _, bad := range []string{"/a b", "/a;b", "/a?b", "/a#b", "/ä", "/a%20b", "/a\"b", "//evil.example/..;/"} {
		if s, err := New(Config{Listen: "127.0.0.1:8600", DataDir: t.TempDir(), BasePath: bad, Logger: slog.New(slog.DiscardHandler)}); err == nil {
			s.logins.Close()
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestBehindAProxy(t *testing.T) {
	s := serve(t, func(cfg *Config) {
		cfg.BehindProxy, cfg.TrustedOrigins, cfg.Password = true, []string{"https://ide.example.com"}, "correct horse battery"
	})
	if !strings.HasPrefix(s.NewLink(), "https://ide.example.com/#login=") {
		t.Errorf("link %s", s.NewLink())
	}
	ask := func(method, path, body, cookie string, forwarded ...string) answer {
		r, err := http.NewRequest(method, "http://"+s.cfg.Listen+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "ide.example.com"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Cookie", cookie)
		r.Header["X-Forwarded-For"] = forwarded
		c := s.browser(t)
		c.origin = "https://ide.example.com"
		return c.send(r)
	}
	a := ask("POST", "/api/login", `{"password":"correct horse battery"}`, "", "6.6.6.6, 203.0.113.7")
	if a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	cookie := theCookie(t, a)
	if !strings.HasPrefix(cookie.Name, "__Host-tandem") || !cookie.Secure || cookie.Path != "/" {
		t.Errorf("cookie %v", cookie)
	}
	var list []loginJSON
	ask("GET", "/api/logins", "", cookie.Name+"="+cookie.Value).into(t, &list)
	if len(list) != 1 || list[0].Address != "203.0.113.7" { // what the proxy saw; the rest the client made up
		t.Errorf("logins %+v", list)
	}
	// Guessers behind the same proxy are told apart.
	for range 20 {
		a = ask("POST", "/api/login", `{"password":"wrong"}`, "", "198.51.100.1")
	}
	if a.status != http.StatusTooManyRequests {
		t.Errorf("the guesser: %v", a)
	}
	if a := ask("POST", "/api/login", `{"password":"correct horse battery"}`, "", "203.0.113.8"); a.status != http.StatusNoContent {
		t.Errorf("somebody else: %v", a)
	}
}

// Without --behind-proxy, headers that a proxy would set are what a client made up.
func TestForwardedHeadersAreNotTrustedWithoutAProxy(t *testing.T) {
	s := serve(t, nil)
	r, err := http.NewRequest("GET", s.url+"api/logins", nil)
	if err != nil {
		t.Fatal(err)
	}
	login, err := http.NewRequest("POST", s.url+"api/login/link", strings.NewReader(`{"secret":"`+s.linkSecret()+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	login.Header.Set("Content-Type", "application/json")
	for _, r := range []*http.Request{r, login} {
		r.Header.Set("X-Forwarded-For", "203.0.113.7")
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("X-Forwarded-Host", "evil.example")
	}
	c := s.browser(t)
	if cookie := theCookie(t, c.send(login)); cookie.Secure {
		t.Errorf("cookie %v", cookie)
	}
	var list []loginJSON
	c.send(r).into(t, &list)
	if len(list) != 1 || list[0].Address != "127.0.0.1" {
		t.Errorf("logins %+v", list)
	}
}

func TestSelfSignedTLS(t *testing.T) {
	s := serve(t, func(cfg *Config) { cfg.SelfSigned = true })
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatal(s.url)
	}
	c := s.browser(t)
	c.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	a := c.do("POST", "api/login/link", map[string]string{"secret": s.linkSecret()})
	if cookie := theCookie(t, a); !cookie.Secure || !strings.HasPrefix(cookie.Name, "__Host-tandem") || cookie.Path != "/" {
		t.Errorf("cookie %v", cookie)
	}
	if a.header.Get("Strict-Transport-Security") != "" {
		t.Error("HSTS with a certificate that browsers warn of")
	}
	id, _ := c.create(bareBash)
	c.attach(id, -1).see("$ ")
	c.origin = strings.Replace(c.origin, "https", "http", 1)
	if a := c.do("POST", "api/terminals", bareBash); a.status != http.StatusForbidden {
		t.Errorf("from the same host without TLS: %v", a)
	}
}

func TestFilesOfTheDataDirectoryAreTheOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, func(cfg *Config) { cfg.DataDir, cfg.SelfSigned = dir, true })
	c := s.browser(t)
	c.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	if a := c.do("POST", "api/login/link", map[string]string{"secret": s.linkSecret()}); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 3 {
		t.Fatalf("only %v", entries)
	}
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has mode %04o", entry.Name(), mode)
		}
	}
}

func TestKeysLastAndAreReplacedOnlyOnPurpose(t *testing.T) {
	dir := t.TempDir()
	first, err := loadKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := loadKeys(dir)
	if err != nil || string(first.Hash) != string(second.Hash) || string(first.Block) != string(second.Block) {
		t.Fatalf("other keys after a restart: %v", err)
	}
	name := filepath.Join(dir, "keys.json")
	if err := os.WriteFile(name, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadKeys(dir); err == nil || !strings.Contains(err.Error(), name) {
		t.Fatalf("damaged keys: %v", err)
	}
}

func TestHealth(t *testing.T) {
	s := serve(t, nil)
	c := s.browser(t)
	for _, path := range []string{"healthz", "readyz"} {
		if a := c.do("GET", path, nil); a.status != http.StatusOK {
			t.Errorf("%s: %v", path, a)
		}
	}
}

func TestServerThatShutsDownIsNotReady(t *testing.T) {
	s := &Server{closing: make(chan struct{})}
	close(s.closing)
	if w := serveOnce(http.HandlerFunc(s.ready), "GET", "/readyz"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d", w.Code)
	}
}

func TestMetrics(t *testing.T) {
	s := serve(t, nil)
	c := s.person(t)
	id, _ := c.create(bareBash)
	l := c.attach(id, -1)
	l.see("$ ")
	l.types("echo counted\n")
	l.see("counted\r\n")
	if a := c.do("GET", "ws/terminal?session_id="+id, nil); a.status != http.StatusForbidden {
		t.Fatal(a)
	}
	text := string(c.do("GET", "metrics", nil).body)
	for _, line := range []string{"tandem_terminals 1\n", "tandem_viewers 1\n", "tandem_input_bytes_total 13\n", `tandem_attach_errors_total{reason="ticket"} 1` + "\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	if strings.Contains(text, "tandem_output_bytes_total 0\n") || !strings.Contains(text, "tandem_pauses_total") || !strings.Contains(text, "tandem_resyncs_total") {
		t.Errorf("output, pauses and resyncs are not counted:\n%s", text)
	}
	if a := c.do("DELETE", "api/terminals/"+id, nil); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	l.closed()
	deadline := time.Now().Add(patience)
	for !strings.Contains(text, `tandem_socket_closes_total{code="1000"} 1`) { // counted once the client has answered
		if time.Now().After(deadline) {
			t.Fatalf("the close is not counted:\n%s", text)
		}
		text = string(c.do("GET", "metrics", nil).body)
	}
	for _, secret := range []string{id, "bash"} {
		if strings.Contains(text, secret) {
			t.Errorf("metrics name %q", secret)
		}
	}
}
