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
	if old := m.clients[c.name]; !i.mayBeCalled(c.name) || old != nil && old.identity.Key() != i.Key() {
		return nil, &TakenError{c.name}
	}
	if all := m.identities[i.Key()]; all != nil && all.joined >= maxConnections {
		return nil, errTooMany
	}
	arrive(m.clients, c.name, i)
	arrive(m.identities, i.Key(), i)
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
	m.clients[c.name].leave(now)
	m.identities[c.identity.Key()].leave(now)
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

func arrive(all map[string]*attendance, name string, i Identity) {
	a := all[name]
	if a == nil {
		a = &attendance{}
		all[name] = a
	}
	a.identity = i
	a.joined++
}

func (a *attendance) leave(now time.Time) {
	a.joined--
	a.left = now
}

// forgetClients drops the clients and identities that have been away for too long, or of an identity's too many the one
// that has been longest. Ids that hold a terminal, or are to get it back, stay their identity's. mu is held.
func (m *Manager) forgetClients() {
	needed := map[string]bool{}
	for _, t := range m.terminals {
		needed[t.holder.claim.Client] = true
		needed[t.back.claim.Client] = true
	}
	away := map[string]int{}
	oldest := map[string]string{} // by identity
	for name, a := range m.clients {
		if a.joined > 0 || needed[name] {
			continue
		}
		if m.gone(a) {
			delete(m.clients, name)
			continue
		}
		key := a.identity.Key()
		away[key]++
		if first, ok := oldest[key]; !ok || a.left.Before(m.clients[first].left) {
			oldest[key] = name
		}
	}
	for key, n := range away {
		if n > maxAway {
			delete(m.clients, oldest[key])
		}
	}
	for key, a := range m.identities {
		if m.gone(a) {
			delete(m.identities, key)
		}
	}
}
