package ptymgr

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultMaxTerminals is how many live terminals a Manager allows when Config.MaxTerminals is zero (ADR-169).
	DefaultMaxTerminals = 10

	// keepExited is how many exited terminals stay readable; older ones are disposed of.
	keepExited = 20

	// disposeWithin bounds a disposal.
	disposeWithin = 5 * time.Second
)

// ErrNotFound reports that no terminal has the given id.
var ErrNotFound = errors.New("no such terminal")

// ErrClosed reports that the Manager no longer creates terminals.
var ErrClosed = errors.New("terminal manager is closed")

// LimitError is returned by Manager.Create when Limit terminals are already live, or so many that fewer than KeepFree
// would still be possible after this one. Remote terminals have a limit of their own.
type LimitError struct {
	Limit    int  // of the Manager
	KeepFree int  // from the Spec
	Remote   bool // whether the Limit is that of remote terminals
}

func (e *LimitError) Error() string {
	if e.Remote {
		return fmt.Sprintf("limit of %d live terminals that run elsewhere reached", e.Limit)
	}
	if e.KeepFree > 0 {
		return fmt.Sprintf("limit of %d live terminals reached, %d of which are kept free for others", e.Limit, e.KeepFree)
	}
	return fmt.Sprintf("limit of %d live terminals reached", e.Limit)
}

// Config is what a Manager needs to know. The zero value works.
type Config struct {
	MaxTerminals int          // live terminals allowed; 0 means DefaultMaxTerminals
	MaxRemote    int          // live remote terminals allowed beside those; 0 means DefaultMaxRemote
	LogBytes     int          // output kept per terminal, in bytes, at least MinLogBytes; 0 means DefaultLogBytes
	Shell        string       // path of the shell for new terminals; "" means the user's login shell
	Dir          string       // directory where new shells start; "" means the home directory
	Logger       *slog.Logger // never receives input or output; nil means slog.Default

	// ShellIntegration is the directory for the scripts by which bash, zsh and fish, where they run as a Spec.Shell, mark
	// their commands. It is made if need be, and nobody else may write to it. "" leaves shells as they are.
	ShellIntegration string

	// Forgotten, if not nil, is told of each terminal once that is in no list any more, whoever disposed of it. Its
	// processes may still be ending then; its viewers end afterwards. It is called without locks held, also from several
	// goroutines at once.
	Forgotten func(*Terminal)
}

// Manager owns the terminals of one server. All methods are safe for concurrent use.
type Manager struct {
	cfg      Config
	counters counters
	busy     sync.WaitGroup // terminals being started or disposed of; there are no more of them once closed

	mu        sync.Mutex  // guards what follows
	terminals []*Terminal // oldest first
	exits     []*Terminal // those that have exited, the oldest exit first
	live      int         // running or being started
	remote    int         // remote ones that have not ended
	closed    bool
}

// Stats counts what happened in all terminals of a Manager since it was made.
type Stats struct {
	Live        int    // terminals whose process runs
	Remote      int    // remote terminals that have not ended
	Viewers     int    // attached viewers
	OutputBytes uint64 // bytes read from ptys
	InputBytes  uint64 // bytes accepted for ptys
	Resyncs     uint64 // viewers that were overtaken and restarted near the head
	Pauses      uint64 // times that reading a pty was paused for its viewers
}

type counters struct{ output, input, resyncs, pauses atomic.Uint64 }

// NewManager returns a Manager without terminals. The caller must Close it.
func NewManager(cfg Config) *Manager {
	if cfg.MaxTerminals == 0 {
		cfg.MaxTerminals = DefaultMaxTerminals
	}
	if cfg.MaxRemote == 0 {
		cfg.MaxRemote = DefaultMaxRemote
	}
	if cfg.LogBytes == 0 {
		cfg.LogBytes = DefaultLogBytes
	}
	cfg.LogBytes = max(cfg.LogBytes, MinLogBytes)
	if cfg.Shell == "" {
		cfg.Shell = loginShell()
	}
	if cfg.Dir == "" {
		cfg.Dir = homeDir()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Manager{cfg: cfg}
}

func homeDir() string {
	if dir, err := os.UserHomeDir(); err == nil && checkDir(dir) == nil {
		return dir
	}
	return "/"
}

// Create starts a process in a new pty. It returns a *LimitError when too many terminals are live, a *SpecError when
// the spec cannot be run, and ErrClosed after Close. It blocks for the fork and exec, not for any output.
func (m *Manager) Create(spec Spec) (*Terminal, error) {
	if spec.Shell == "" {
		spec.Shell = m.cfg.Shell
	}
	if spec.Dir == "" {
		spec.Dir = m.cfg.Dir
	}
	if spec.Size == (Size{}) {
		spec.Size = defaultSize
	}
	id := newID()
	cmd, err := spec.command(id)
	if err != nil {
		return nil, err
	}
	if err := m.reserve(spec.KeepFree); err != nil {
		return nil, err
	}
	defer m.busy.Done()
	var nonce string
	if spec.Command == "" {
		nonce = m.integrate(cmd)
	}
	t, err := start(id, cmd, spec.Size, m.cfg.LogBytes, spec.Name, &m.counters, m.exited)
	if err != nil {
		m.release()
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	t.commands.nonce = nonce
	m.mu.Lock()
	closed := m.closed
	if !closed {
		m.terminals = append(m.terminals, t)
	}
	m.mu.Unlock()
	t.run()
	if closed { // while it started
		_ = m.end(context.Background(), t)
		return nil, ErrClosed
	}
	m.cfg.Logger.Info("terminal started", "terminal", id, "pid", cmd.Process.Pid, "program", cmd.Path)
	return t, nil
}

// reserve takes a place among the live terminals for one that is about to be started. The caller must tell busy when it
// is, and release the place if it cannot be.
func (m *Manager) reserve(keepFree int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	if keepFree = max(keepFree, 0); m.live+keepFree >= m.cfg.MaxTerminals {
		return &LimitError{Limit: m.cfg.MaxTerminals, KeepFree: keepFree}
	}
	m.live++
	m.busy.Add(1)
	return nil
}

func (m *Manager) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live--
}

// newID returns 128 random bits as 22 URL-safe characters.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// exited is told of each terminal's exit, before anybody else, so that whoever sees it finds the place free. It disposes
// of the terminal that exited first when there are more than keepExited.
func (m *Manager) exited(t *Terminal, exit Exit) {
	m.cfg.Logger.Info("terminal exited", "terminal", t.id, "code", exit.Code, "signal", exit.Signal)
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.Remote() {
		m.remote--
	} else {
		m.live--
	}
	if m.index(t.id) < 0 {
		return // it exited because it is being disposed of
	}
	m.exits = append(m.exits, t)
	if len(m.exits) > keepExited {
		oldest := m.exits[0]
		m.forget(oldest)
		m.busy.Go(func() { _ = m.dispose(context.Background(), oldest) })
	}
}

// forget drops the terminal from the lists, so that nobody else disposes of it. mu is held.
func (m *Manager) forget(t *Terminal) {
	same := func(other *Terminal) bool { return other == t }
	m.terminals = slices.DeleteFunc(m.terminals, same)
	m.exits = slices.DeleteFunc(m.exits, same)
}

// Get returns the terminal with this id, live or exited.
func (m *Manager) Get(id string) (*Terminal, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.index(id)
	if i < 0 {
		return nil, false
	}
	return m.terminals[i], true
}

func (m *Manager) index(id string) int {
	return slices.IndexFunc(m.terminals, func(t *Terminal) bool { return t.id == id })
}

// List returns all terminals, oldest first, exited ones included.
func (m *Manager) List() []*Terminal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.terminals)
}

// Limit returns the number of live terminals allowed.
func (m *Manager) Limit() int { return m.cfg.MaxTerminals }

// Dir returns the absolute path of the directory where new shells start.
func (m *Manager) Dir() string { return m.cfg.Dir }

// Stats returns counters summed over all terminals since the Manager was made.
func (m *Manager) Stats() Stats {
	s := Stats{
		OutputBytes: m.counters.output.Load(),
		InputBytes:  m.counters.input.Load(),
		Resyncs:     m.counters.resyncs.Load(),
		Pauses:      m.counters.pauses.Load(),
	}
	for _, t := range m.List() {
		switch {
		case t.hasExited():
		case t.Remote():
			s.Remote++
		default:
			s.Live++
		}
		s.Viewers += t.viewers()
	}
	return s
}

// Dispose kills the terminal's whole process tree and forgets the terminal. It blocks until the tree is gone, at most
// a few seconds. It returns ErrNotFound for an unknown id, and an error when something could not be killed.
func (m *Manager) Dispose(ctx context.Context, id string) error {
	m.mu.Lock()
	i := m.index(id)
	if i < 0 {
		m.mu.Unlock()
		return ErrNotFound
	}
	t := m.terminals[i]
	m.forget(t)
	m.busy.Add(1)
	m.mu.Unlock()
	defer m.busy.Done()
	return m.dispose(ctx, t)
}

// dispose does the work of Dispose for a terminal that was just dropped from the lists.
func (m *Manager) dispose(ctx context.Context, t *Terminal) error {
	if m.cfg.Forgotten != nil {
		m.cfg.Forgotten(t)
	}
	return m.end(ctx, t)
}

func (m *Manager) end(ctx context.Context, t *Terminal) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), disposeWithin)
	defer cancel()
	err := t.dispose(ctx)
	m.cfg.Logger.Info("terminal disposed of", "terminal", t.id)
	return err
}

// Close disposes of all terminals at once and blocks until their processes are gone, and those of terminals that were
// being started or disposed of by somebody else. It returns the errors of its own disposals, or ctx's.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	terminals := m.terminals
	m.terminals, m.exits = nil, nil
	errs := make([]error, len(terminals))
	for i, t := range terminals {
		m.busy.Go(func() { errs[i] = m.dispose(ctx, t) })
	}
	m.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.busy.Wait()
	}()
	select {
	case <-done:
		return errors.Join(errs...)
	case <-ctx.Done():
		return ctx.Err()
	}
}
