package login

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// lookAgain is how often a token's age is looked at while it lives: a timer stands still while the machine sleeps, and
// knows nothing of a clock that was set.
const lookAgain = time.Minute

// tokenRegistry is which tokens are in force at this moment, and decides it, as registry does for logins.
type tokenRegistry struct {
	now func() time.Time

	mu     sync.Mutex // guards what follows, and what the tokens hold
	byID   map[string]*liveToken
	byHash map[tokenHash]*liveToken
}

// tokenHash is the SHA-256 of a token's secret. The secret is 256 random bits, so nothing slower is needed, and a lookup
// by it tells nothing by the time it takes.
type tokenHash [sha256.Size]byte

type liveToken struct {
	Token
	hash   tokenHash
	expiry *time.Timer // nil if it never expires
}

func newTokenRegistry(now func() time.Time) *tokenRegistry {
	return &tokenRegistry{now: now, byID: make(map[string]*liveToken), byHash: make(map[tokenHash]*liveToken)}
}

// put brings t into force, which is not yet.
func (g *tokenRegistry) put(t *liveToken) Token {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.putLocked(t)
}

// use returns the token of this hash as it is now, or nil, notes that it is used, and reports whether that is news after
// at least the interval.
func (g *tokenRegistry) use(hash tokenHash, interval time.Duration) (used *Token, news bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.byHash[hash]
	if t == nil {
		return nil, false
	}
	now := g.now()
	if t.expired(now) {
		g.remove(t)
		return nil, false
	}
	if news = now.Sub(t.LastUsed) >= interval; news {
		t.LastUsed = time.UnixMilli(now.UnixMilli())
	}
	return new(t.Token), news
}

// trusted reports whether the token with this ID is in force and trusted.
func (g *tokenRegistry) trusted(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.byID[id]
	return t != nil && t.Trusted
}

// trust makes the token with this ID a trusted one, if it is in force.
func (g *tokenRegistry) trust(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.byID[id]; t != nil {
		t.Trusted = true
	}
}

// list returns all tokens in force, oldest first.
func (g *tokenRegistry) list() []Token {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	list := make([]Token, 0, len(g.byID))
	for _, t := range g.byID {
		if !t.expired(now) {
			list = append(list, t.Token)
		}
	}
	slices.SortFunc(list, func(a, b Token) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// replace puts exactly these tokens into force: others end, and those that are in force already go on.
func (g *tokenRegistry) replace(tokens []*liveToken) {
	g.mu.Lock()
	defer g.mu.Unlock()
	kept := make(map[string]bool)
	for _, t := range tokens {
		kept[t.ID] = true
	}
	for id, t := range g.byID {
		if !kept[id] {
			g.remove(t)
		}
	}
	for _, t := range tokens {
		if g.byID[t.ID] == nil {
			g.putLocked(t)
		}
	}
}

// end ends the token with this ID, if it is in force.
func (g *tokenRegistry) end(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.byID[id]; t != nil {
		g.remove(t)
	}
}

// putLocked is put. g.mu is held.
func (g *tokenRegistry) putLocked(t *liveToken) Token {
	t.done = make(chan struct{})
	g.byID[t.ID], g.byHash[t.hash] = t, t
	if !t.Expires.IsZero() {
		t.expiry = time.AfterFunc(g.untilLook(t), func() { g.look(t) })
	}
	return t.Token
}

// look ends t if it has expired, and looks again later if not.
func (g *tokenRegistry) look(t *liveToken) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.byID[t.ID] != t: // it ended as its timer fired
	case t.expired(g.now()):
		g.remove(t)
	default:
		t.expiry.Reset(g.untilLook(t))
	}
}

func (g *tokenRegistry) untilLook(t *liveToken) time.Duration {
	return min(t.Expires.Sub(g.now()), lookAgain)
}

// remove ends t, which is in force. g.mu is held.
func (g *tokenRegistry) remove(t *liveToken) {
	delete(g.byID, t.ID)
	delete(g.byHash, t.hash)
	if t.expiry != nil {
		t.expiry.Stop()
	}
	close(t.done)
}

func (t *liveToken) expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }
