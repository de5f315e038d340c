package ptymgr

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// DefaultMaxTerminals is how many live terminals a Manager allows when Config.MaxTerminals is zero (ADR-169).
const DefaultMaxTerminals = 10

// ErrNotFound reports that no terminal has the given id.
var ErrNotFound = errors.New("no such terminal")

// ErrClosed reports that the Manager no longer creates terminals.
var ErrClosed = errors.New("terminal manager is closed")

// LimitError is returned by Manager.Create when Limit terminals are already live.
type LimitError struct{ Limit int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("limit of %d live terminals reached", e.Limit)
}

// Config is what a Manager needs to know. The zero value works.
type Config struct {
	MaxTerminals int          // live terminals allowed; 0 means DefaultMaxTerminals
	LogBytes     int          // output kept per terminal, in bytes; 0 means DefaultLogBytes
	Shell        string       // path of the shell for new terminals; "" means the user's login shell
	Dir          string       // directory where new shells start; "" means the home directory
	Logger       *slog.Logger // never receives input or output; nil means slog.Default
}

// Manager owns the terminals of one server. All methods are safe for concurrent use.
type Manager struct{}

// NewManager returns a Manager without terminals. The caller must Close it.
func NewManager(cfg Config) *Manager { panic("ptymgr: not written yet") }

// Create starts a process in a new pty. It returns a *LimitError when too many terminals are live, a *SpecError when
// the spec cannot be run, and ErrClosed after Close. It blocks for the fork and exec, not for any output.
func (m *Manager) Create(spec Spec) (*Terminal, error) { panic("ptymgr: not written yet") }

// Get returns the terminal with this id, live or exited.
func (m *Manager) Get(id string) (*Terminal, bool) { panic("ptymgr: not written yet") }

// List returns all terminals, oldest first, exited ones included.
func (m *Manager) List() []*Terminal { panic("ptymgr: not written yet") }

// Limit returns the number of live terminals allowed.
func (m *Manager) Limit() int { panic("ptymgr: not written yet") }

// Dispose kills the terminal's whole process tree and forgets the terminal. It blocks until the tree is gone, at most
// a few seconds. It returns ErrNotFound for an unknown id.
func (m *Manager) Dispose(ctx context.Context, id string) error { panic("ptymgr: not written yet") }

// Stats returns counters summed over all terminals since the Manager was made.
func (m *Manager) Stats() Stats { panic("ptymgr: not written yet") }

// Close disposes of all terminals at once and blocks until their processes are gone or ctx ends.
func (m *Manager) Close(ctx context.Context) error { panic("ptymgr: not written yet") }

// Stats counts what happened in all terminals of a Manager since it was made.
type Stats struct {
	Live        int    // terminals whose process runs
	Viewers     int    // attached viewers
	OutputBytes uint64 // bytes read from ptys
	InputBytes  uint64 // bytes accepted for ptys
	Resyncs     uint64 // viewers that were overtaken and restarted near the head
	Pauses      uint64 // times that reading a pty was paused for its viewers
}
