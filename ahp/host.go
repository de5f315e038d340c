// Package ahp is an Agent Host Protocol host: every terminal is a channel that clients list, watch, type into and
// claim. What it shows of a terminal is a view of the terminal's log; who may do what, package sharing decides.
package ahp

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tandem/ahp/wire"
	"tandem/sharing"
)

// RootChannel and SharingChannel are the channels that are always there. The second is an extension for the person's
// own clients: to programs it does not exist.
const (
	RootChannel    = wire.RootChannel
	SharingChannel = wire.SharingChannel
)

// Config is what a Host needs to know.
type Config struct {
	Sharing   *sharing.Manager // whose terminals it serves; the Host becomes its Observer
	Version   string           // of the server
	Logger    *slog.Logger     // never receives input or output; nil means slog.Default
	PingEvery time.Duration    // between pings on a socket; 0 means 20 s
}

// Host serves the terminals of one sharing.Manager to AHP clients. It ends with the Manager and the connections.
//
// It numbers everything that happens, actions and output alike, under one lock, and keeps where in the logs the output
// is. Connections are cursors over those numbers: nothing is queued for them.
type Host struct {
	cfg     Config
	log     *slog.Logger
	follows sync.WaitGroup // one goroutine per terminal
	resyncs atomic.Uint64

	mu             sync.Mutex // guards what follows; taken after the Manager's lock and before the logs'
	seq            int64      // the last number given
	born           int64      // the first number of this start of the host
	channels       map[string]*channel
	terminals      []*terminal // oldest first
	byTerminal     map[*sharing.Terminal]*terminal
	naming         map[*sharing.Client]string // what a client calls the terminal that it is creating
	rootChannel    *channel
	sharingChannel *channel
	overview       sharing.Overview
	paused         bool // programs are paused
	clients        memories
	connections    map[*connection]struct{}
}

// NewHost returns a Host for the terminals of cfg.Sharing, which must not have any yet.
func NewHost(cfg Config) *Host {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	cfg.PingEvery = cmp.Or(cfg.PingEvery, pingEvery)
	h := &Host{
		cfg: cfg, log: cfg.Logger,
		// Numbers go on rising over restarts, so that no client takes an old one for a new one.
		seq:        time.Now().UnixMicro(),
		channels:   map[string]*channel{},
		byTerminal: map[*sharing.Terminal]*terminal{}, naming: map[*sharing.Client]string{},
		clients: newMemories(), connections: map[*connection]struct{}{},
	}
	h.born = h.seq
	h.rootChannel, h.sharingChannel = h.newChannel(RootChannel, maxLists), h.newChannel(SharingChannel, maxLists)
	cfg.Sharing.Observe((*observer)(h))
	return h
}

// Wait blocks until everything the Host started has ended, which it does once the Manager and all connections have.
func (h *Host) Wait() { h.follows.Wait() }

// Stats counts connections and what became of slow ones.
type Stats struct {
	Connections   int
	Subscriptions int
	Resyncs       uint64 // subscriptions that were overtaken and brought to the present
}

// Stats returns the counters.
func (h *Host) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := Stats{Connections: len(h.connections), Resyncs: h.resyncs.Load()}
	for c := range h.connections {
		s.Subscriptions += len(c.subs)
	}
	return s
}

// Resource returns the URI of a terminal's channel, or "" for one that is gone.
func (h *Host) Resource(t *sharing.Terminal) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := h.byTerminal[t]; at != nil {
		return at.channel.uri
	}
	return ""
}

// number returns the next number. mu is held.
func (h *Host) number() int64 {
	h.seq++
	return h.seq
}

// listed is a terminal's line in the root list, and who may see it.
type listed struct {
	info   wire.TerminalInfo
	access sharing.Access
}

// list returns the root list as it is now. mu is held.
func (h *Host) list() []listed {
	list := make([]listed, 0, len(h.terminals)) // not nil: that is how an event knows that it is a list
	for _, t := range h.terminals {
		list = append(list, t.listed())
	}
	return list
}

// recordList tells of a changed root list. mu is held.
func (h *Host) recordList() { h.rootChannel.record(event{list: h.list()}) }

// visible returns the part of a root list that clients of this identity may see.
func visible(list []listed, i sharing.Identity) []wire.TerminalInfo {
	infos := []wire.TerminalInfo{}
	for _, l := range list {
		if l.access.Sees(i) {
			infos = append(infos, l.info)
		}
	}
	return infos
}

// remove takes the terminal out of everything. mu is held.
func (h *Host) remove(t *terminal) {
	t.tap.Close()
	close(t.gone)
	h.terminals = slices.DeleteFunc(h.terminals, func(other *terminal) bool { return other == t })
	delete(h.byTerminal, t.shared)
	delete(h.channels, t.channel.uri)
	for s := range t.channel.subs {
		s.conn.drop(s)
	}
}
