package server

import (
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

// directives reads a Content-Security-Policy.
func directives(policy string) map[string]string {
	all := map[string]string{}
	for directive := range strings.SplitSeq(policy, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
		all[name] = value
	}
	return all
}
