package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestEveryAnswerCarriesTheSecurityHeaders(t *testing.T) {
	s := serve(t, nil)
	stranger, person := s.browser(t), s.person(t)
	for name, a := range map[string]answer{
		"page":         stranger.do("GET", "", nil),
		"no login":     stranger.do("GET", "api/terminals", nil),
		"foreign host": stranger.raw("GET", "/", "evil.example", ""),
		"REST":         person.do("GET", "api/terminals", nil),
		"not found":    person.do("GET", "no/such/route", nil),
		"not allowed":  person.do("PUT", "api/terminals", nil),
		"bad socket":   person.do("GET", "ws/terminal", nil),
	} {
		for header, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := a.header.Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if a.header.Get("Permissions-Policy") == "" {
			t.Errorf("%s: no Permissions-Policy", name)
		}
		for header := range a.header {
			if strings.HasPrefix(header, "Access-Control-") {
				t.Errorf("%s: lets other origins read it: %s", name, header)
			}
		}
		policy := directives(a.header.Get("Content-Security-Policy"))
		for directive, want := range map[string]string{
			"default-src": "'none'", "script-src": "'self'", "connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'",
			"frame-ancestors": "'none'", "require-trusted-types-for": "'script'", "trusted-types": "'none'",
		} {
			if policy[directive] != want {
				t.Errorf("%s: %s is %q", name, directive, policy[directive])
			}
		}
		if a.header.Get("Strict-Transport-Security") != "" {
			t.Errorf("%s: HSTS without TLS", name)
		}
		if cache := a.header.Get("Cache-Control"); name != "page" && cache != "no-store" || name == "page" && cache != "no-cache" {
			t.Errorf("%s: Cache-Control %q", name, cache)
		}
	}
}

// What never reaches the router carries the headers of everything else, and is a problem like everything else.
func TestAnswersOutsideTheBasePath(t *testing.T) {
	s := serve(t, func(cfg *Config) { cfg.BasePath = "/tandem" })
	c := s.browser(t)
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.url = strings.TrimSuffix(s.url, "tandem/")
	for path, status := range map[string]int{"": 404, "healthz": 404, "tandem": 308, "%74andem": 308, "%74andem/healthz": 200, "tandem%2Fhealthz": 200} {
		a := c.do("GET", path, nil)
		if status == 404 {
			isProblem(t, a, status)
		}
		if a.status != status || a.header.Get("Content-Security-Policy") == "" || a.header.Get("X-Content-Type-Options") != "nosniff" ||
			a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%q: %v with %v", path, a, a.header)
		}
	}
}

// directives reads a Content-Security-Policy.
func directives(policy string) map[string]string {
	all := map[string]string{}
	for directive := range strings.SplitSeq(policy, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
		all[name] = value
	}
	return all
}

func TestHSTSIsForTheHostsOwnPortAlone(t *testing.T) {
	for listen, want := range map[string]string{"127.0.0.1:443": "max-age=31536000", "127.0.0.1:8600": ""} {
		s := &Server{cfg: Config{TLSCert: "cert.pem"}}
		var err error
		if s.origins, err = newOrigins(listen, true, nil); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.secureHeaders(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if got := w.Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("%s: %q", listen, got)
		}
	}
}
