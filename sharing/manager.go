package sharing

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"tandem/ptymgr"
)

const (
	// DefaultGrace is how long somebody who disconnects keeps their claims when Config.Grace is zero.
	DefaultGrace = 30 * time.Second

	// DefaultKeepForPeople is how many live terminals programs leave to people when Config.KeepForPeople is zero.
	DefaultKeepForPeople = 2
)

// Config is what a Manager needs to know. The zero value works.
type Config struct {
	Terminals     ptymgr.Config      // of the terminals; Forgotten is the Manager's own
	Grace         time.Duration      // how long somebody who disconnects keeps their claims; 0 means DefaultGrace, less means not at all
	RemoteGrace   time.Duration      // how long a terminal that runs at a client outlives its connections; 0 means DefaultRemoteGrace, less means not at all
	KeepForPeople int                // live terminals that programs leave to people; 0 means DefaultKeepForPeople, less means none
	Trusted       func(string) bool  // whether the program with this token ID need not ask; may block; nil means that none is
	Trust         func(string) error // remembers that; may block; nil means that it is not remembered
	Logger        *slog.Logger       // never receives input or output; nil means that of Terminals, or slog.Default

	now func() time.Time
}

// Manager owns the terminals of one server, and decides who may do what with them. All methods are safe for concurrent
// use.
type Manager struct {
	cfg   Config
	ptys  *ptymgr.Manager
	timer *time.Timer // calls expire

	mu         sync.Mutex // guards what follows; taken before the observer's locks, and those before the logs'
	observer   Observer
	terminals  []*Terminal // oldest first
	clients    attendances // by the name under which they hold terminals
	identities attendances // by key
	requests   []*request  // oldest first
	paused     bool
	closed     bool
}

// New returns a Manager without terminals. The caller must Close it.
func New(cfg Config) *Manager {
	switch {
	case cfg.Grace == 0:
		cfg.Grace = DefaultGrace
	case cfg.Grace < 0:
		cfg.Grace = 0
	}
	switch {
	case cfg.RemoteGrace == 0:
		cfg.RemoteGrace = DefaultRemoteGrace
	case cfg.RemoteGrace < 0:
		cfg.RemoteGrace = 0
	}
	switch {
	case cfg.KeepForPeople == 0:
		cfg.KeepForPeople = DefaultKeepForPeople
	case cfg.KeepForPeople < 0:
		cfg.KeepForPeople = 0
	}
	if cfg.Logger == nil {
		cfg.Logger = cfg.Terminals.Logger
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.now == nil {
		cfg.now = time.Now
	}
	m := &Manager{
		cfg: cfg, observer: nobody{}, clients: newAttendances(), identities: newAttendances(),
	}
	m.timer = time.AfterFunc(time.Hour, m.expire)
	m.timer.Stop() // until somebody is away
	cfg.Terminals.Forgotten = m.forget
	m.ptys = ptymgr.NewManager(cfg.Terminals)
	return m
}

// Create starts a process in a new terminal, held by claim, or for nil by the client itself. A terminal is made for one
// of the maker's own clients or for a session. The person's are in mode Ask, programs' in Watch. It returns the errors of
// ptymgr.Manager.Create; programs meet the *ptymgr.LimitError sooner.
func (m *Manager) Create(by By, spec ptymgr.Spec, claim *Claim) (*Terminal, error) {
	spec.KeepFree = 0
	if !by.Client.isPerson() {
		spec.KeepFree = m.cfg.KeepForPeople
	}
	first, err := m.firstHolder(by.Client, claim)
	if err != nil {
		return nil, err
	}
	pty, err := m.ptys.Create(spec)
	if err != nil {
		return nil, err
	}
	return m.open(by, &Terminal{pty: pty}, first), nil
}

// open makes a terminal known that was just made, with its first holder.
func (m *Manager) open(by By, t *Terminal, first holder) *Terminal {
	c := by.Client
	t.m, t.maker, t.created, t.mode = m, c.holder(), t.pty.Info().Created, Watch
	t.allowed, t.refused, t.viewers = map[string]bool{}, map[string]time.Time{}, map[*Viewer]struct{}{}
	m.mu.Lock()
	if c.isPerson() {
		t.mode, t.back = Ask, c.holder()
	}
	t.give(first)
	m.terminals = append(m.terminals, t)
	m.observer.Created(t, first.claim, t.access(), by)
	m.schedule()
	m.changed()
	m.mu.Unlock()
	if _, there := m.ptys.Get(t.ID()); !there {
		m.forget(t.pty) // it may have been, before it was known here
	}
	return t
}

// firstHolder returns who holds a terminal that the client makes with this claim.
func (m *Manager) firstHolder(c *Client, claim *Claim) (holder, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.situation(c).admits(claiming); err != nil {
		return holder{}, err
	}
	if claim == nil {
		return c.holder(), nil
	}
	if err := claim.check(); err != nil {
		return holder{}, err
	}
	if claim.Session != nil {
		session := *claim.Session
		return holder{Claim{Session: &session}, c.identity}, nil
	}
	known := m.clients.all[claim.Client]
	if known == nil || known.identity.Key() != c.identity.Key() {
		return holder{}, &Refusal{"a terminal is made for one of the maker's own clients, or for a session"}
	}
	return holder{*claim, c.identity}, nil
}

// situation is that of a client at no terminal in particular. mu is held.
func (m *Manager) situation(c *Client) situation {
	s := situation{who: otherProgram, paused: m.paused, reads: c.identity.reads(), writes: c.identity.writes(), mode: Share}
	if c.isPerson() {
		s.who = person
	}
	return s
}

// Get returns the terminal with this id, live or exited. It returns ErrNotFound if there is none that the client may see.
func (m *Manager) Get(c *Client, id string) (*Terminal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.situation(c).may(reading); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(m.terminals, func(t *Terminal) bool { return t.ID() == id })
	if i < 0 {
		return nil, ErrNotFound
	}
	t := m.terminals[i]
	if err := t.may(c, reading); err != nil {
		return nil, err
	}
	return t, nil
}

// List returns all terminals that the client may see, oldest first, exited ones included.
func (m *Manager) List(c *Client) ([]*Terminal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.situation(c).may(reading); err != nil {
		return nil, err
	}
	var seen []*Terminal
	for _, t := range m.terminals {
		if t.access().Sees(c.identity) {
			seen = append(seen, t)
		}
	}
	return seen, nil
}

// Dispose kills the terminal's processes and forgets it. It blocks like ptymgr.Manager.Dispose.
func (m *Manager) Dispose(ctx context.Context, by By, id string) error {
	t, err := m.Get(by.Client, id)
	if err != nil {
		return err
	}
	m.mu.Lock()
	err = t.may(by.Client, disposing)
	m.mu.Unlock()
	if err != nil {
		return err
	}
	err = m.ptys.Dispose(ctx, id)
	if errors.Is(err, ptymgr.ErrNotFound) {
		return ErrNotFound // disposed of meanwhile
	}
	return err
}

// forget drops a terminal that ptymgr has forgotten.
func (m *Manager) forget(pty *ptymgr.Terminal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.terminals, func(t *Terminal) bool { return t.pty == pty })
	if i < 0 {
		return
	}
	t := m.terminals[i]
	m.terminals = slices.Delete(m.terminals, i, i+1)
	if t.Remote() {
		t.end()
	}
	m.observer.Removing(t)
	t.gone = true
	m.withdraw(func(r *request) bool { return r.terminal == t })
	m.observer.Removed(t)
	m.schedule()
	m.changed()
}

// Limit returns the number of live terminals allowed.
func (m *Manager) Limit() int { return m.ptys.Limit() }

// Dir returns the absolute path of the directory where new shells start.
func (m *Manager) Dir() string { return m.ptys.Dir() }

// Stats returns counters summed over all terminals since the Manager was made.
func (m *Manager) Stats() ptymgr.Stats { return m.ptys.Stats() }

// Close disposes of all terminals and blocks like ptymgr.Manager.Close.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.timer.Stop()
	m.mu.Unlock()
	return m.ptys.Close(ctx)
}
