package server

import (
	"net/http"

	"tandem/server/login"
	"tandem/sharing"
)

// caller returns whom a request comes from, and a channel that is closed when that login or token is over. There is
// always somebody but on public routes. It goes by nothing but what the request was authenticated with.
func (s *Server) caller(r *http.Request) (who sharing.Identity, done <-chan struct{}, ok bool) {
	if l, ok := login.From(r.Context()); ok {
		return sharing.Identity{Kind: sharing.Person, ID: l.ID, Name: l.Device, Read: true, Write: true}, l.Done(), true
	}
	if t, ok := login.TokenFrom(r.Context()); ok {
		return sharing.Identity{
			Kind: sharing.Program, ID: t.ID, Name: t.Name,
			Read: t.Has(login.ReadTerminals), Write: t.Has(login.WriteTerminals),
		}, t.Done(), true
	}
	return sharing.Identity{}, nil, false
}

// clientID is what a caller is called among the clients that share terminals, at doors where it does not say so itself.
// A browser's lasts as long as its login, reloads and restarts included. A program has none there: it stands for all of
// its clients.
func clientID(r *http.Request) string {
	if l, ok := login.From(r.Context()); ok {
		return "login-" + l.ID
	}
	return ""
}
