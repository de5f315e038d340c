package ptymgr

import (
	"context"
	"errors"
)

// ErrDisposed ends a viewer whose terminal was disposed of.
var ErrDisposed = errors.New("terminal was disposed of")

// NoOffset as AttachOptions.Since asks for a replay.
const NoOffset int64 = -1

// AttachOptions says how a viewer joins.
type AttachOptions struct {
	Since    int64 // offset to continue from; NoOffset, or an offset no longer in the log, gives a replay
	Writable bool  // whether the viewer may type
}

// Viewer is one cursor on a terminal's log with a say in size and pacing. Next belongs to one goroutine; the other
// methods are safe for concurrent use.
type Viewer struct{}

// EventKind tells what an Event is.
type EventKind uint8

// The kinds of Event, named as the frames of the byte lane.
const (
	EventReady   EventKind = iota // first: Offset, Size
	EventReset                    // Offset, Replay: clear everything; the log goes on at Offset
	EventLive                     // Offset: replayed bytes that are not the log end here
	EventOutput                   // Data
	EventResize                   // Size
	EventCleared                  // Offset: scrollback before it is gone
	EventTitle                    // Title
	EventExit                     // Exit, after the last output
)

// Event is one thing that a viewer is to be told.
type Event struct {
	Kind   EventKind
	Offset int64
	Replay bool // EventReset: bytes up to EventLive are no log bytes and do not count
	Size   Size
	Data   []byte // valid until the next call of Next; at most 65,535 bytes
	Title  string
	Exit   Exit
}

// Next blocks until there is something to tell the viewer. It returns ErrDisposed, or ctx's error.
func (v *Viewer) Next(ctx context.Context) (Event, error) { panic("ptymgr: not written yet") }

// Input is Terminal.Input, typed by this viewer, which makes it the one that answers queries.
func (v *Viewer) Input(p []byte) error { panic("ptymgr: not written yet") }

// Ack says that everything before offset was rendered. It returns an error, and changes nothing, if that was not sent.
func (v *Viewer) Ack(offset int64) error { panic("ptymgr: not written yet") }

// Resize says what size this viewer has room for. It returns an error outside 1..MaxCells.
func (v *Viewer) Resize(size Size) error { panic("ptymgr: not written yet") }

// SetVisible says whether the viewer shows the terminal now; hidden viewers neither pace nor count for the size.
func (v *Viewer) SetVisible(visible bool) { panic("ptymgr: not written yet") }

// Close detaches the viewer.
func (v *Viewer) Close() { panic("ptymgr: not written yet") }
