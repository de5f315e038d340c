package server

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"tandem/server/login"
)

func (s *Server) loginByPassword(w http.ResponseWriter, r *http.Request) {
	var want struct {
		Password string `json:"password"`
	}
	if !decode(w, r, &want) {
		return
	}
	l, err := s.logins.LogInByPassword(w, r, s.source(r), want.Password)
	s.answerLogin(w, l, err)
}

func (s *Server) loginByLink(w http.ResponseWriter, r *http.Request) {
	var want struct {
		Secret string `json:"secret"`
	}
	if !decode(w, r, &want) {
		return
	}
	l, err := s.logins.LogInByLink(w, r, s.source(r), want.Secret)
	s.answerLogin(w, l, err)
}

// answerLogin says whether somebody is logged in now, and if not, why.
func (s *Server) answerLogin(w http.ResponseWriter, l *login.Login, err error) {
	var tooMany *login.TooManyError
	switch {
	case err == nil:
		s.log.Info("login", "login", l.ID, "device", l.Device, "address", l.Address)
		w.WriteHeader(http.StatusNoContent)
	case errors.As(err, &tooMany):
		seconds := int(math.Ceil(tooMany.RetryAfter.Seconds()))
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		problem(w, http.StatusTooManyRequests, "too many failed logins; try again in "+strconv.Itoa(seconds)+" s")
	case errors.Is(err, login.ErrWrong):
		problem(w, http.StatusUnauthorized, "wrong password")
	case errors.Is(err, login.ErrNoPassword):
		problem(w, http.StatusUnauthorized, "no password is set; run `tandem login-link` where the server runs, or set one with `tandem password`")
	case errors.Is(err, login.ErrLinkSpent):
		problem(w, http.StatusUnauthorized, "this login link was used or has expired; run `tandem login-link` for another")
	default:
		s.log.Error("login", "error", err)
		problem(w, http.StatusInternalServerError, "the login could not be checked or stored; the server's log says more")
	}
}

// source returns the address that a request came from, without port. Behind a proxy it is the one that the proxy saw,
// the last of X-Forwarded-For: whatever stands before it came from the client.
func (s *Server) source(r *http.Request) string {
	if s.cfg.BehindProxy {
		if via := r.Header.Values("X-Forwarded-For"); len(via) > 0 {
			addresses := strings.Split(via[len(via)-1], ",")
			return strings.TrimSpace(addresses[len(addresses)-1])
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// TokensChanged takes up tokens that a command has made or revoked: sockets of those that were revoked end.
func (s *Server) TokensChanged(ctx context.Context) error { return s.logins.TokensChanged(ctx) }

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if err := s.logins.Logout(w, r); err != nil {
		s.log.Error("logout", "error", err)
		problem(w, http.StatusInternalServerError, "the login could not be ended; the server's log says more")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// loginJSON is a login as the REST API shows it.
type loginJSON struct {
	ID       string    `json:"id"`
	Device   string    `json:"device"`
	Address  string    `json:"address"`
	Created  time.Time `json:"created"`
	LastSeen time.Time `json:"last_seen"`
	Current  bool      `json:"current"` // the one that asks
}

func showLogin(l *login.Login, current string) loginJSON {
	return loginJSON{l.ID, l.Device, l.Address, l.Created, l.LastSeen, l.ID == current}
}

func (s *Server) listLogins(w http.ResponseWriter, r *http.Request) {
	caller, _ := login.From(r.Context())
	logins, err := s.logins.List(r.Context())
	if err != nil {
		s.log.Error("listing logins", "error", err)
		problem(w, http.StatusInternalServerError, "the logins could not be read; the server's log says more")
		return
	}
	shown := []loginJSON{}
	for _, l := range logins {
		shown = append(shown, showLogin(&l, caller.ID))
	}
	writeJSON(w, http.StatusOK, shown)
}

func (s *Server) deleteLogin(w http.ResponseWriter, r *http.Request) {
	err := s.logins.End(r.Context(), chi.URLParam(r, "id"))
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, login.ErrNotFound):
		problem(w, http.StatusNotFound, "no such login: it has ended")
	default:
		s.log.Error("ending a login", "error", err)
		problem(w, http.StatusInternalServerError, "the login could not be ended; the server's log says more")
	}
}

// getSession tells the page whom it serves and what this server is.
func (s *Server) getSession(w http.ResponseWriter, r *http.Request) {
	caller, _ := login.From(r.Context())
	home, _ := os.UserHomeDir() // without one, the page shortens no paths
	writeJSON(w, http.StatusOK, struct {
		Login   loginJSON `json:"login"`
		Version string    `json:"version"`
		Boot    string    `json:"boot"`  // differs after each start
		Dir     string    `json:"dir"`   // where new shells start
		Limit   int       `json:"limit"` // live terminals allowed
		Home    string    `json:"home"`
		Client  string    `json:"client_id"` // what the page is called among the clients that share terminals
	}{showLogin(caller, caller.ID), s.cfg.Version, s.tickets.boot, s.terminals.Dir(), s.terminals.Limit(), home, clientID(r)})
}

// findLogin has the login of a request's cookie found, for login.From, or its token, for login.TokenFrom.
func (s *Server) findLogin(next http.Handler) http.Handler {
	find := s.logins.Middleware(next, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problem(w, http.StatusServiceUnavailable, "the logins cannot be read: try again, and look into the server's log if that does not help")
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { find.ServeHTTP(w, tokenInQuery(r)) })
}

// tokenInQuery moves a token from the query to the header Authorization, behind what that has. It does so for AHP alone,
// since clients of its SDKs can be given an address and no header: addresses get into logs and histories.
func tokenInQuery(r *http.Request) *http.Request {
	query := r.URL.Query()
	if r.URL.Path != ahpPath || !query.Has("tkn") {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Add("Authorization", "Bearer "+query.Get("tkn"))
	query.Del("tkn")
	r.URL.RawQuery = query.Encode()
	return r
}

// requireLogin refuses every request without a login or a token but those on the short public list. It is the router's: a route
// is denied unless it is named there.
func (s *Server) requireLogin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, person := login.From(r.Context())
		_, program := login.TokenFrom(r.Context())
		if !person && !program && !public(r) {
			w.Header().Set("WWW-Authenticate", "Bearer") // RFC 9110 section 11.6.1; browsers ask nobody for it
			problem(w, http.StatusUnauthorized, "log in first; a program sends a token that is in force, see `tandem token list`")
			return
		}
		next.ServeHTTP(w, r)
	})
}
