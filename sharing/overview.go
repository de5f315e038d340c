package sharing

import "time"

// maxShown is how many watchers of one identity are listed per terminal: a program cannot make the list long by
// connecting often.
const maxShown = 8

// Overview is the state of sharing, for people to see. It is a copy: nobody changes it any more.
type Overview struct {
	Paused    bool
	Terminals []Shared  // oldest first
	Requests  []Request // oldest first
}

// Shared says who uses a terminal.
type Shared struct {
	ID       string
	Mode     Mode
	Remote   bool // it runs at its holder's
	Created  time.Time
	Maker    Party
	Holder   Party
	Watchers []Party // who reads it now, in the order they came; at most a few of each identity
}

// Party is somebody who uses terminals.
type Party struct {
	Kind   string // "person", "program" or "session"
	Name   string // of the device or the program, of a session that of the program which acts for it
	Client string // client id, or the session's URI
}

// Request is a program's claim that waits for the person.
type Request struct {
	ID       string // to answer it
	Terminal string // ID
	Program  string // its name
	Session  string // URI of the session that is to hold the terminal; "" if it is the program itself
	Created  time.Time
}

// Overview returns the state of sharing. To programs there is no such thing: it returns ErrNotFound.
func (m *Manager) Overview(c *Client) (Overview, error) {
	if !c.isPerson() {
		return Overview{}, ErrNotFound
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.overview(), nil
}

// overview is Overview with mu held.
func (m *Manager) overview() Overview {
	o := Overview{Paused: m.paused}
	for _, t := range m.terminals {
		o.Terminals = append(o.Terminals, Shared{
			ID: t.ID(), Mode: t.mode, Remote: t.Remote(), Created: t.created,
			Maker: t.maker.party(), Holder: t.holder.party(), Watchers: t.watchers(),
		})
	}
	for _, r := range m.requests {
		shown := Request{ID: r.id, Terminal: r.terminal.ID(), Program: r.next.identity.Name, Created: r.created}
		if s := r.next.claim.Session; s != nil {
			shown.Session = s.URI
		}
		o.Requests = append(o.Requests, shown)
	}
	return o
}

func (h holder) party() Party {
	if s := h.claim.Session; s != nil {
		return Party{"session", h.identity.Name, s.URI}
	}
	return Party{h.identity.Kind.String(), h.identity.Name, h.claim.Client}
}

// watchers returns who watches the terminal, each client once. mu is held.
func (t *Terminal) watchers() []Party {
	var shown []Party
	seen := map[string]bool{} // client ids, which are one identity's each
	listed := map[string]int{}
	for _, w := range t.watches {
		key := w.client.identity.Key()
		if seen[w.client.name] || listed[key] == maxShown {
			continue
		}
		seen[w.client.name] = true
		listed[key]++
		shown = append(shown, w.client.holder().party())
	}
	return shown
}
