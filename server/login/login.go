// Package login knows who may use the server: the password, one-time login links, and the logins that people made with
// them. It knows no router and writes no response.
package login

import (
	"context"
	"time"
)

// Lifetime is how long a login lasts.
const Lifetime = 30 * 24 * time.Hour

// Login is one device that a person logged in on.
type Login struct {
	ID      string    // 22 URL-safe characters; no secret
	Device  string    // browser and system, for people to recognise
	Address string    // where the login came from, without a port
	Created time.Time // when the person logged in
	Seen    time.Time // last request, exact to SeenWithin
	Done    <-chan struct{}
}

// Valid reports whether the login has neither been ended nor expired. Done is closed at that moment.
func (l Login) Valid() bool {
	select {
	case <-l.Done:
		return false
	default:
		return l.Done != nil
	}
}

type contextKey struct{}

// NewContext returns a context that carries the login of a request.
func NewContext(ctx context.Context, l Login) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// FromContext returns the login that NewContext put into ctx; ok is false if none.
func FromContext(ctx context.Context) (l Login, ok bool) {
	l, ok = ctx.Value(contextKey{}).(Login)
	return l, ok
}
