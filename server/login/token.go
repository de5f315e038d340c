package login

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Token lets a program in without a login, for what its scopes name. It is as it was when it was asked for.
type Token struct {
	ID       string // not secret
	Name     string // that a person gave it; no two tokens in force share one
	Scopes   []Scope
	Created  time.Time
	Expires  time.Time // zero if it never does
	LastUsed time.Time // its last request, to the minute; zero before the first
	Trusted  bool      // the person said that this program need not ask

	done chan struct{}
}

// Done is closed when the token is no longer in force: it was revoked, has expired, or the store was closed.
func (t *Token) Done() <-chan struct{} { return t.done }

// Has reports whether the token has this scope.
func (t *Token) Has(scope Scope) bool { return slices.Contains(t.Scopes, scope) }

// Scope is something that a token may be for.
type Scope string

// The scopes. None of them includes another.
const (
	ReadTerminals  Scope = "terminals:read"
	WriteTerminals Scope = "terminals:write"
	ReadMetrics    Scope = "metrics:read"
)

// Scopes are all scopes there are.
var Scopes = []Scope{ReadTerminals, WriteTerminals, ReadMetrics}

var (
	// ErrNoToken is a token that is not in force.
	ErrNoToken = errors.New("no such token: see those in force with `tandem token list`")
	// ErrTokenExists is a name that another token in force has.
	ErrTokenExists = errors.New("a token of this name exists: revoke it first, or take another name")
	// ErrTooManyTokens is one token more than are kept.
	ErrTooManyTokens = fmt.Errorf("there are %d tokens already: revoke one that is not used, see `tandem token list`", maxTokens)
)

const (
	maxTokens    = 256 // in force at a time
	maxTokenName = 64  // characters
)

// CheckTokenName returns an error for a name that a token may not have.
func CheckTokenName(name string) error {
	length := utf8.RuneCountInString(name)
	printable := !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
	if length < 1 || length > maxTokenName || !printable || strings.TrimSpace(name) != name {
		return fmt.Errorf("a token's name is 1 to %d printable characters, with no space at its ends", maxTokenName)
	}
	return nil
}

// CheckScopes returns an error unless there is a scope and all of them are known.
func CheckScopes(scopes []Scope) error {
	for _, scope := range scopes {
		if !slices.Contains(Scopes, scope) {
			return fmt.Errorf("there is no scope %q: the scopes are %s", string(scope), joinScopes(Scopes, ", "))
		}
	}
	if len(scopes) == 0 {
		return fmt.Errorf("a token needs a scope: the scopes are %s", joinScopes(Scopes, ", "))
	}
	return nil
}

type tokenKey struct{}

// TokenFrom returns the token that Middleware found for a request with this context, and whether there was one. A
// request has a token or a login, or neither, and never both.
func TokenFrom(ctx context.Context) (*Token, bool) {
	t, ok := ctx.Value(tokenKey{}).(*Token)
	return t, ok
}

func joinScopes(scopes []Scope, separator string) string {
	texts := make([]string, len(scopes))
	for i, scope := range scopes {
		texts[i] = string(scope)
	}
	return strings.Join(texts, separator)
}
