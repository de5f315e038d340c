package server

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"tandem/server/login"
)

// origins decides which names a browser may know this server by. Hosts that are not on the list are refused on every
// request, which stops DNS rebinding; Origins that are not on it on everything that changes state or upgrades, which
// stops other sites' pages, those on loopback included.
type origins struct {
	listenHost string          // as given; "" or an unspecified address stands for every address
	port       string          // that the server listens on
	scheme     string          // "http" or "https"
	trusted    map[string]bool // whole origins, lower case
	hosts      map[string]bool // host[:port] of the trusted ones, the scheme's own port written or left out
}

// newOrigins returns the policy for a server that listens on addr ("host:port"). trusted are further origins, such as
// a reverse proxy's: "https://tandem.example.org".
func newOrigins(addr string, tls bool, trusted []string) (*origins, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen address %q: %w", addr, err)
	}
	o := &origins{listenHost: strings.ToLower(host), port: port, scheme: "http", trusted: map[string]bool{}, hosts: map[string]bool{}}
	if tls {
		o.scheme = "https"
	}
	for _, origin := range trusted {
		u, err := url.Parse(strings.ToLower(origin))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" && u.Path != "/" ||
			u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.Contains(u.Host, "*") {
			return nil, fmt.Errorf("trusted origin %q: want scheme and host, as in https://tandem.example.org", origin)
		}
		host := withoutDefaultPort(u.Scheme, u.Host)
		o.trusted[u.Scheme+"://"+host] = true
		o.hosts[host] = true
		o.hosts[net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), defaultPort[u.Scheme]))] = true
	}
	return o, nil
}

// defaultPort is the one that browsers leave out.
var defaultPort = map[string]string{"http": "80", "https": "443"}

// withoutDefaultPort drops the port that browsers leave out.
func withoutDefaultPort(scheme, host string) string {
	return strings.TrimSuffix(host, ":"+defaultPort[scheme])
}

// allowsHost reports whether a request's Host header names this server.
func (o *origins) allowsHost(host string) bool {
	host = strings.ToLower(host)
	if o.hosts[host] || o.hosts[withoutDefaultPort(o.scheme, host)] {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), defaultPort[o.scheme]
	}
	return port == o.port && o.ownName(name)
}

// ownName reports whether name is loopback or what the server listens on.
func (o *origins) ownName(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || name == o.listenHost && name != "" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if addr.IsLoopback() {
		return true
	}
	// Listening on every address, any address literal is ours: rebinding needs a name.
	listen, err := netip.ParseAddr(o.listenHost)
	return o.listenHost == "" || err == nil && (listen.IsUnspecified() || listen == addr)
}

// allowsOrigin reports whether a request with this Origin header and an allowed Host may change state.
func (o *origins) allowsOrigin(origin, host string) bool {
	origin = strings.ToLower(origin)
	if o.trusted[origin] {
		return true
	}
	own := withoutDefaultPort(o.scheme, strings.ToLower(host))
	return origin == o.scheme+"://"+own && !o.hosts[own]
}

// needsOrigin reports whether a request must say which page sent it: all but plain reads, and those of programs. No page
// can send a token that it does not have, so a token that was found says where a request comes from.
func needsOrigin(r *http.Request) bool {
	if _, ok := login.TokenFrom(r.Context()); ok {
		return false
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return r.URL.Path == byteLanePath || r.URL.Path == ahpPath || r.Header.Get("Upgrade") != ""
	}
	return true
}

// checkHost refuses requests that call the server by a name which is not its own.
func (s *Server) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.origins.allowsHost(r.Host) {
			problem(w, http.StatusForbidden, "this server does not go by that name; if it should, start it with --trusted-origin")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkOrigin refuses what other sites' pages send, and state changes and upgrades that do not say which page sent them.
func (s *Server) checkOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch sent := r.Header.Values("Origin"); {
		case len(sent) == 0 && needsOrigin(r):
			problem(w, http.StatusForbidden, "the header Origin is missing: send this server's own, scheme and host")
			return
		case len(sent) > 1, len(sent) == 1 && !s.origins.allowsOrigin(sent[0], r.Host):
			problem(w, http.StatusForbidden, "requests from this origin are refused; if it is yours, start the server with --trusted-origin")
			return
		}
		next.ServeHTTP(w, r)
	})
}
