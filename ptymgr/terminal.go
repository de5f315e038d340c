package ptymgr

import (
	"errors"
	"fmt"
	"time"
)

// Size is a terminal size in cells.
type Size struct{ Cols, Rows int }

// MaxCells bounds Cols and Rows; both start at 1.
const MaxCells = 1000

// Spec says what to run in a new terminal. The zero value is the login shell at 80×24 in the Manager's directory.
type Spec struct {
	Shell   string            // path of a shell to run as a login shell; "" means the Manager's
	Command string            // program to run in place of a shell, looked up in PATH
	Args    []string          // arguments of Command
	Env     map[string]string // added to the environment; TANDEM_* names are refused
	Dir     string            // absolute path; "" means the Manager's directory
	Size    Size              // zero means 80×24
	Name    string            // title given by the person; sticks
}

// SpecError says which field of a Spec cannot be used, and why.
type SpecError struct {
	Field string // "shell", "command", "env", "cwd", "size" or "name"
	Err   error
}

func (e *SpecError) Error() string { return fmt.Sprintf("%s: %v", e.Field, e.Err) }
func (e *SpecError) Unwrap() error { return e.Err }

// Exit is how a terminal's process ended.
type Exit struct {
	Code   int    // exit status 0-255; 128+signal number after a signal
	Signal string // "SIGTERM" and the like; "" when the process exited by itself
}

// Info is a snapshot of a terminal for lists.
type Info struct {
	ID         string
	Title      string // given by the person, else set by the program, else the foreground process
	Dir        string // current directory: from OSC 7, else of the foreground process; "" if unknown
	Size       Size
	PID        int
	Created    time.Time
	Viewers    int
	Foreground string // name of the foreground process; "" after exit
	Busy       bool   // whether something other than the shell itself runs in the foreground
	Exit       *Exit  // nil while the process runs
}

// ErrInputFull reports that the input queue cannot take the message; nothing of it was queued.
var ErrInputFull = errors.New("input queue is full")

// ErrExited reports that the terminal's process has ended.
var ErrExited = errors.New("terminal has exited")

// Terminal is one pty, the process tree in it, and the log of its output. It stays readable after the process exits,
// until the Manager disposes of it. All methods are safe for concurrent use.
type Terminal struct{}

// ID returns the terminal's id: 22 URL-safe characters, never used again.
func (t *Terminal) ID() string { panic("ptymgr: not written yet") }

// Info returns a snapshot for lists. It reads /proc.
func (t *Terminal) Info() Info { panic("ptymgr: not written yet") }

// Input queues p for the process, whole or not at all. It never blocks. It returns ErrInputFull or ErrExited.
func (t *Terminal) Input(p []byte) error { panic("ptymgr: not written yet") }

// Rename sets the title for good; "" gives it back to the program.
func (t *Terminal) Rename(title string) { panic("ptymgr: not written yet") }

// Clear drops the scrollback before the current line for every viewer, also later ones.
func (t *Terminal) Clear() { panic("ptymgr: not written yet") }

// Done is closed once the process has exited and all its output is in the log.
func (t *Terminal) Done() <-chan struct{} { panic("ptymgr: not written yet") }

// Attach adds a viewer. The caller must Close it.
func (t *Terminal) Attach(opts AttachOptions) *Viewer { panic("ptymgr: not written yet") }
