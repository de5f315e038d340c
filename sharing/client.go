package sharing

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// maxClientID is the longest id of a client, in bytes.
	maxClientID = 256

	// maxConnections is how many connections one identity may have at a time.
	maxConnections = 1024

	// maxAway is how many clients of one identity are known while they are away.
	maxAway = 64
)

// Client is one connection of an identity. Several connections may have one client id, as two windows of a browser do.
type Client struct {
	m        *Manager
	identity Identity
	id       string // "" for one without
	name     string // the id under which it holds terminals
	left     bool   // guarded by Manager.mu
}

// TakenError reports a client id that belongs to another identity.
type TakenError struct{ ID string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%.64q is somebody else's: choose another", e.ID)
}

// Join makes a connection known. Its client id is a name within its identity, and may be "" for doors that have none: such
// a client stands for all clients of its identity. Ids that start with "login-" are people's, and "token-" with the
// token's ID is the token's own. The caller must call Leave when the connection ends.
//
// It returns a *TakenError for an id that belongs to another identity: that of a client which is connected, left less
// than Config.Grace ago, or holds a terminal. It returns a *Refusal for an id that is none, and for too many
// connections.
func (m *Manager) Join(i Identity, clientID string) (*Client, error) {
	if len(clientID) > maxClientID || !utf8.ValidString(clientID) || strings.ContainsFunc(clientID, isControl) {
		return nil, &Refusal{"a client id is at most 256 bytes of text without control characters"}
	}
	c := &Client{m: m, identity: i, id: clientID, name: clientID}
	if clientID == "" {
		c.name = i.ownClient()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetClients()
	if old := m.clients.all[c.name]; !i.mayBeCalled(c.name) || old != nil && old.identity.Key() != i.Key() {
		return nil, &TakenError{c.name}
	}
	if all := m.identities.all[i.Key()]; all != nil && all.joined >= maxConnections {
		return nil, errTooMany
	}
	m.clients.join(c.name, i)
	m.identities.join(i.Key(), i)
	return c, nil
}

// isControl reports whether r is a control character, of C0, C1 or DEL.
func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

// Leave says that the connection has ended. It may be called more than once.
func (c *Client) Leave() {
	m := c.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.left {
		return
	}
	c.left = true
	now := m.cfg.now()
	m.clients.leave(c.name, now)
	m.identities.leave(c.identity.Key(), now)
	m.forgetClients()
	m.schedule()
}

// ID returns the client id, "" for a door that has none.
func (c *Client) ID() string { return c.id }

// Identity returns who the connection was authenticated as.
func (c *Client) Identity() Identity { return c.identity }

func (c *Client) isPerson() bool { return c.identity.Kind == Person }

// holder is the client as the holder of a terminal.
func (c *Client) holder() holder { return holder{Claim{Client: c.name}, c.identity} }

// attendance is how many connections something has, and since when it has none. Guarded by Manager.mu.
type attendance struct {
	identity Identity // as it was authenticated last
	joined   int
	left     time.Time
}

// attendances are by name. Those without connections are listed apart, so that looking through them does not take longer
// the more there are that have some.
type attendances struct {
	all  map[string]*attendance
	away map[string]*attendance
}

func newAttendances() attendances {
	return attendances{map[string]*attendance{}, map[string]*attendance{}}
}

func (as attendances) join(name string, i Identity) {
	a := as.all[name]
	if a == nil {
		a = &attendance{}
		as.all[name] = a
	}
	a.identity = i
	a.joined++
	delete(as.away, name)
}

func (as attendances) leave(name string, now time.Time) {
	a := as.all[name]
	if a.joined--; a.joined == 0 {
		a.left = now
		as.away[name] = a
	}
}

func (as attendances) forget(name string) {
	delete(as.all, name)
	delete(as.away, name)
}

// forgetClients drops the clients and identities that have been away for too long, and of an identity's too many the one
// that has been longest. Ids that hold a terminal, or are to get it back, stay their identity's. mu is held.
func (m *Manager) forgetClients() {
	needed := map[string]bool{}
	for _, t := range m.terminals {
		needed[t.holder.claim.Client] = true
		needed[t.back.claim.Client] = true
	}
	away := map[string]int{}      // by identity
	oldest := map[string]string{} // by identity
	for name, a := range m.clients.away {
		if needed[name] {
			continue
		}
		if m.gone(a) {
			m.clients.forget(name)
			continue
		}
		key := a.identity.Key()
		away[key]++
		if away[key] == 1 || a.left.Before(m.clients.all[oldest[key]].left) {
			oldest[key] = name
		}
	}
	for key, n := range away {
		if n > maxAway {
			m.clients.forget(oldest[key])
		}
	}
	for key, a := range m.identities.away {
		if m.gone(a) {
			m.identities.forget(key)
		}
	}
}
