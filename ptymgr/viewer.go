package ptymgr

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrDisposed ends a viewer whose terminal was disposed of.
var ErrDisposed = errors.New("terminal was disposed of")

// ErrReadOnly reports input from a viewer that may not type.
var ErrReadOnly = errors.New("this viewer may not type")

// NoOffset as AttachOptions.Since asks for a replay.
const NoOffset int64 = -1

// AttachOptions says how a viewer joins.
type AttachOptions struct {
	Since    int64 // offset to continue from; NoOffset, or an offset no longer in the log or below Floor, gives a replay
	Floor    int64 // nothing before this offset is ever shown to the viewer; at most Printed
	Writable bool  // whether the viewer may type; in a remote terminal none may

	// Program says that nobody looks at what the viewer shows: it never paces and never answers queries, and its size
	// counts only while it may type and no other viewer shows the terminal.
	Program bool
}

// Viewer is one cursor on a terminal's log with a say in size and pacing. What it has not yet taken is the log from
// the cursor on: there is no queue and no copy for it. Next belongs to one goroutine; the other methods are safe for
// concurrent use.
type Viewer struct {
	t    *Terminal
	wake chan struct{} // one slot

	// Guarded by t.log.mu.
	attached int64 // order of attachment
	program  bool
	writable bool
	paused   bool
	visible  bool
	typed    int64 // order of the last input; 0 before any
	size     Size  // zero until said
	closed   bool

	// The cursor.
	floor   int64    // pos is never before it
	early   bool     // pos is a floor that the log has yet to reach
	pos     int64    // next offset to take
	sent    int64    // up to here the owner is done with what it took
	pinned  *segment // being sent
	scratch []byte   // masked copy of what is being sent
	wakeAt  int64    // log end to be woken at, while parked
	parked  bool

	// Pacing.
	acking   bool
	acked    int64
	paceFrom int64 // see paces
	progress time.Time
	stalled  bool

	// What the viewer has been told.
	queue        []Event // to be told before anything else
	toldSize     Size
	toldFloor    int64
	toldTitle    string
	toldDir      string
	toldWritable bool
	toldExit     bool
	commands     commandCursor
	tenures      []tenure

	// Gathering: see park.
	gathering   bool // since gatherTimer was set
	gathered    bool // long enough: send what there is
	gatherTimer *time.Timer
}

// EventKind tells what an Event is.
type EventKind uint8

// The kinds of Event, named as the frames of the byte lane.
const (
	EventReady    EventKind = iota // first: Offset, Size, Writable
	EventReset                     // Offset, Replay: clear everything, commands too; the log goes on at Offset
	EventLive                      // Offset: replayed bytes that are not the log end here
	EventOutput                    // Offset, Data
	EventResize                    // Size
	EventCleared                   // Offset: scrollback before it is gone
	EventTitle                     // Title, Dir
	EventExit                      // Exit, after the last output
	EventWritable                  // Writable: whether the viewer may type has changed
	EventCommand                   // Command: it started (End is -1) or finished; after Since, it may have been told before
)

// Event is one thing that a viewer is to be told.
type Event struct {
	Kind     EventKind
	Offset   int64
	Replay   bool // EventReset: bytes up to EventLive are no log bytes and do not count
	Writable bool // whether the viewer may type
	Size     Size
	Data     []byte // valid until the next call of Next; at most 65,535 bytes
	Title    string
	Dir      string // current directory; "" if unknown
	Exit     Exit
	Command  *Command
}

// Attach adds a viewer, visible until it says otherwise. The caller must Close it.
func (t *Terminal) Attach(opts AttachOptions) *Viewer {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	t.order++
	writable := opts.Writable && !t.Remote()
	v := &Viewer{
		t: t, wake: make(chan struct{}, 1), attached: t.order, visible: true, program: opts.Program, writable: writable,
		floor: min(opts.Floor, l.read), paceFrom: l.clean, progress: time.Now(), toldFloor: l.floor, toldWritable: writable,
		gatherTimer: time.NewTimer(gatherTime),
	}
	v.gatherTimer.Stop()
	t.pacing.viewers[v] = struct{}{}
	switch {
	case v.floor > l.clean:
		v.awaitFloor()
	case opts.Since >= max(l.tail(), v.floor) && opts.Since <= l.clean:
		v.restart(opts.Since)
		v.commands = t.commands.after(v.pos, v.floor)
		v.toldSize, _ = l.sizeFrom(v.pos)
		v.queue = append(v.queue, Event{Kind: EventReady, Offset: v.pos, Size: v.toldSize, Writable: v.writable})
	default:
		v.replay(EventReady, t.freshStart())
	}
	t.pacing.update(l.clean)
	return v
}

// Close detaches the viewer and ends a blocked Next. It may be called more than once.
func (v *Viewer) Close() {
	l := v.t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if v.closed {
		return
	}
	v.closed = true
	delete(v.t.pacing.viewers, v)
	v.changed()
	l.wakeOne(v)
}

// changed recomputes everything that depends on which viewers there are and what they show. log.mu is held.
func (v *Viewer) changed() {
	t := v.t
	t.pacing.update(t.log.clean)
	t.appointAnswerer()
	t.fit()
}

// Input is Terminal.Input, typed by this viewer, which makes it the one that answers queries. It returns ErrReadOnly
// for a viewer that may not type, which is any in a remote terminal.
func (v *Viewer) Input(p []byte) error {
	t := v.t
	t.log.mu.Lock()
	if !v.writable {
		t.log.mu.Unlock()
		return ErrReadOnly
	}
	t.order++
	v.typed = t.order
	if t.answerer != v {
		t.appointAnswerer()
	}
	t.log.mu.Unlock()
	return t.Input(p)
}

// Answer queues a terminal's own reply to a query, or report, whole or not at all. Unlike Input it is no typing: who
// answers queries stays as it is, and output is not taken for its echo. It never blocks. It returns ErrReadOnly,
// ErrInputFull or ErrExited.
func (v *Viewer) Answer(p []byte) error {
	t := v.t
	t.log.mu.Lock()
	writable := v.writable
	t.log.mu.Unlock()
	if !writable {
		return ErrReadOnly
	}
	return t.queueInput(p)
}

// Ack says that everything before offset was rendered; the first one turns pacing by acks on. An offset at or below
// the last one is ignored. It returns an error, and changes nothing, for an offset that was not sent yet.
func (v *Viewer) Ack(offset int64) error {
	l := v.t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset < 0 || offset > v.pos {
		return fmt.Errorf("cannot ack offset %d: sent so far is %d", offset, v.pos)
	}
	if v.acking && offset <= v.acked {
		return nil
	}
	if v.stalled {
		v.catchUp()
	}
	v.acking = true
	v.acked = max(v.acked, offset)
	v.progress = time.Now()
	v.t.pacing.update(l.clean)
	l.wakeOne(v)
	return nil
}

// Resize says what size this viewer has room for. It returns an error outside 1..MaxCells.
func (v *Viewer) Resize(size Size) error {
	if err := size.check(); err != nil {
		return err
	}
	v.t.log.mu.Lock()
	defer v.t.log.mu.Unlock()
	v.size = size
	v.changed()
	return nil
}

// SetVisible says whether the viewer shows the terminal now; hidden viewers neither pace nor count for the size.
func (v *Viewer) SetVisible(visible bool) {
	v.t.log.mu.Lock()
	defer v.t.log.mu.Unlock()
	if visible && !v.visible {
		v.catchUp()
	}
	v.visible = visible
	v.changed()
}

// SetWritable says whether the viewer may type from now on. It is told. In a remote terminal it never may.
func (v *Viewer) SetWritable(writable bool) {
	l := v.t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	writable = writable && !v.t.Remote()
	if writable && !v.writable {
		v.catchUp()
	}
	v.writable = writable
	v.changed()
	l.wakeOne(v)
}

// SetPaused says whether Next is to hold back everything until it is said otherwise, the viewer is closed or the
// terminal disposed of. Meanwhile the viewer neither paces nor answers. What it misses is still there afterwards, if the
// log still has it.
func (v *Viewer) SetPaused(paused bool) {
	l := v.t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if !paused && v.paused {
		v.catchUp()
	}
	v.paused = paused
	v.changed()
	l.wakeOne(v)
}

// Clear is Terminal.Clear. A viewer that may not type may not clear either: it returns ErrReadOnly.
func (v *Viewer) Clear() error {
	v.t.log.mu.Lock()
	writable := v.writable
	v.t.log.mu.Unlock()
	if !writable {
		return ErrReadOnly
	}
	v.t.Clear()
	return nil
}

// Next blocks until there is something to tell the viewer. Calling it says that what it returned before was sent. It
// returns ErrDisposed after disposal, context.Canceled after Close, or ctx's error.
func (v *Viewer) Next(ctx context.Context) (Event, error) {
	l := v.t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	v.release()
	for {
		if v.t.disposed {
			return Event{}, ErrDisposed
		}
		if v.closed {
			return Event{}, context.Canceled
		}
		var gather bool
		if !v.paused {
			if ev, ok := v.news(); ok {
				return ev, nil
			}
			var end int64
			end, gather = v.available()
			if end > v.pos && !gather {
				from := v.pos
				return Event{Kind: EventOutput, Offset: from, Data: v.take(end)}, nil
			}
		}
		if err := v.park(ctx, gather); err != nil {
			return Event{}, err
		}
	}
}

// news returns what is to be told before more output, if anything.
func (v *Viewer) news() (Event, bool) {
	l := v.t.log
	if len(v.queue) == 0 && v.pos < l.segs[0].start {
		v.t.counters.resyncs.Add(1)
		v.replay(EventResize, v.t.restartAt())
	} else if v.early && l.clean >= v.floor {
		v.early = false
		v.replay(EventResize, v.floor)
	}
	if len(v.queue) > 0 {
		ev := v.queue[0]
		v.queue = append(v.queue[:0], v.queue[1:]...)
		return ev, true
	}
	if v.toldWritable != v.writable {
		v.toldWritable = v.writable
		return Event{Kind: EventWritable, Writable: v.writable}, true
	}
	if at, _ := v.t.commands.upcoming(&v.commands); at <= v.pos {
		return Event{Kind: EventCommand, Command: v.t.commands.tell(&v.commands, v.pos)}, true
	}
	if size, _ := l.sizeFrom(v.pos); size != v.toldSize {
		v.toldSize = size
		return Event{Kind: EventResize, Size: size}, true
	}
	if v.toldFloor != l.floor && v.pos >= l.floor {
		v.toldFloor = l.floor
		return Event{Kind: EventCleared, Offset: l.floor}, true
	}
	if title, dir := v.t.title(), v.t.dir; title != v.toldTitle || dir != v.toldDir {
		v.toldTitle, v.toldDir = title, dir
		return Event{Kind: EventTitle, Title: title, Dir: dir}, true
	}
	if l.sealed && v.pos == l.clean && v.t.exit != nil && !v.toldExit {
		v.toldExit = true
		return Event{Kind: EventExit, Exit: *v.t.exit}, true
	}
	return Event{}, false
}
