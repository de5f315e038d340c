package ahp

import (
	"time"

	"tandem/ahp/wire"
	"tandem/sharing"
)

const (
	// maxMemories is how many clients that are away are remembered, so that they can reconnect.
	maxMemories = 256

	// rememberFor is how long they are.
	rememberFor = time.Hour

	// maxTears bounds the tears of one client; the older ones are made one.
	maxTears = 8
)

// clientKey names a client: the same id at two identities is two clients.
type clientKey struct{ identity, client string }

func keyOf(i sharing.Identity, clientID string) clientKey { return clientKey{i.Key(), clientID} }

// memory is what is remembered of a client between its connections. Guarded by Host.mu.
type memory struct {
	version     wire.Version
	begun       int64 // number of the handshake
	several     bool  // clients that do not know of each other have this id, as windows of one browser do
	last        int64 // the highest clientSeq that was carried out; 0 for several clients
	tears       []tear
	connections int
	away        time.Time // since when it has none
}

// tear is a range of numbers, without its ends, of which the client was not sent everything: it missed something and
// was brought to the present by events that count only together.
type tear struct{ from, to int64 }

func (m *memory) tear(from, to int64) {
	if last := len(m.tears) - 1; last >= 0 && m.tears[last].from <= from && from < m.tears[last].to {
		m.tears[last].to = max(m.tears[last].to, to)
		return
	}
	m.tears = append(m.tears, tear{from, to})
	if len(m.tears) > maxTears {
		m.tears[1].from = m.tears[0].from
		m.tears = m.tears[1:]
	}
}

// torn reports whether the client may lack something up to the number.
func (m *memory) torn(seq int64) bool {
	for _, t := range m.tears {
		if seq > t.from && seq < t.to {
			return true
		}
	}
	return seq < m.begun
}

// separate notes that the id is not one client's alone: what one of them did says nothing of another.
func (m *memory) separate() { m.several, m.last = true, 0 }

// carriedOut notes an action of the client's.
func (m *memory) carriedOut(clientSeq int64) {
	if !m.several {
		m.last = max(m.last, clientSeq)
	}
}

func (m *memory) disconnected() {
	m.connections--
	m.away = time.Now()
}

// memories are the clients that can reconnect. Guarded by Host.mu.
type memories map[clientKey]*memory

func newMemories() memories { return memories{} }

// begin remembers a client that says its version at the number now, and forgets what was known of it, unless one of that
// id is still there: then they have one memory.
func (m memories) begin(key clientKey, version wire.Version, now int64) *memory {
	m.forget()
	known := m[key]
	if known == nil || known.connections == 0 {
		known = &memory{begun: now}
		m[key] = known
	} else {
		known.separate()
	}
	known.version = version
	known.connections++
	return known
}

// find returns what is known of a client that comes back and has seen everything up to the number lastSeen, or nil. One
// that has not seen the handshake which is remembered is another client of that id.
func (m memories) find(key clientKey, lastSeen int64) *memory {
	known := m[key]
	if known != nil && lastSeen < known.begun {
		known.separate()
	}
	return known
}

// resume returns what is known of a client that comes back, or nil.
func (m memories) resume(key clientKey) *memory {
	known := m[key]
	if known != nil {
		known.connections++
	}
	return known
}

// forget drops clients that have been away for too long, and of too many the one that has been longest.
func (m memories) forget() {
	var oldest clientKey
	away := 0
	for key, known := range m {
		if known.connections > 0 {
			continue
		}
		if time.Since(known.away) > rememberFor {
			delete(m, key)
			continue
		}
		if away == 0 || known.away.Before(m[oldest].away) {
			oldest = key
		}
		away++
	}
	if away >= maxMemories {
		delete(m, oldest)
	}
}
