package login

import (
	"slices"
	"sync"
	"time"
)

// registry is who is logged in at this moment, and decides it: a login that is not in it is none, whatever the database
// says. So a login that ends is over at once for everybody, and a request that was being read from the database
// meanwhile cannot bring it back.
type registry struct {
	mu     sync.Mutex            // guards what follows, and what the logins hold
	logins map[string]*liveLogin // by ID
}

type liveLogin struct {
	Login    // without Current
	password string
	deadline time.Time
	expiry   *time.Timer
}

// put makes l live until its deadline. If a login of its ID is live already, l takes its place and keeps its done:
// sockets that were opened with the old cookie stay open.
func (g *registry) put(l *liveLogin) Login {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.done = make(chan struct{})
	if old := g.logins[l.ID]; old != nil {
		old.expiry.Stop()
		l.done = old.done
	}
	g.logins[l.ID] = l
	l.expiry = time.AfterFunc(time.Until(l.deadline), func() { g.expire(l) })
	return l.Login
}

// get returns the live login with this ID, or nil, as it is now.
func (g *registry) get(id string) *Login {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.logins[id]
	if l == nil {
		return nil
	}
	copied := l.Login
	return &copied
}

// touch notes that the login is used, and reports whether that is news after at least the interval.
func (g *registry) touch(id string, now time.Time, interval time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.logins[id]
	if l == nil || now.Sub(l.LastSeen) < interval {
		return false
	}
	l.LastSeen = now
	return true
}

// list returns all logins, newest use first.
func (g *registry) list() []*liveLogin {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]*liveLogin, 0, len(g.logins))
	for _, l := range g.logins {
		copied := *l
		list = append(list, &copied)
	}
	slices.SortFunc(list, func(a, b *liveLogin) int { return b.LastSeen.Compare(a.LastSeen) })
	return list
}

// end ends the login with this ID and reports whether there was one.
func (g *registry) end(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.logins[id]
	if l != nil {
		g.remove(l)
	}
	return l != nil
}

// endAll ends all logins.
func (g *registry) endAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.logins {
		g.remove(l)
	}
}

// expire ends l at its deadline, unless it was renewed or ended as its timer fired.
func (g *registry) expire(l *liveLogin) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.logins[l.ID] == l {
		g.remove(l)
	}
}

// remove ends l, which is live. g.mu is held.
func (g *registry) remove(l *liveLogin) {
	delete(g.logins, l.ID)
	l.expiry.Stop()
	close(l.done)
}
