package ptymgr

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

const (
	// drainQuiet and drainAtMost bound the reading that goes on after the process has exited: others may hold the pty
	// open for ever.
	drainQuiet  = 100 * time.Millisecond
	drainAtMost = time.Second

	// reopenEvery is how often a pty that nobody has open is tried again.
	reopenEvery = 50 * time.Millisecond
)

// ErrInputFull reports that the input queue cannot take the message; nothing of it was queued.
var ErrInputFull = errors.New("input queue is full: the program does not read its input")

// ErrExited reports that the terminal's process has ended.
var ErrExited = errors.New("terminal has exited")

// Exit is how a terminal's process ended.
type Exit struct {
	Code   int    // exit status 0-255; 128+signal number after a signal; of a remote terminal what it was told, or LostCode
	Signal string // "SIGTERM" and the like; "" when the process exited by itself
}

// Terminal is one pty, the process tree in it, and the log of its output. It stays readable after the process exits,
// until the Manager disposes of it. The pty and its processes may be elsewhere: of such a remote terminal there is only
// the log. All methods are safe for concurrent use.
type Terminal struct {
	id       string
	created  time.Time
	child    *child // nil for a remote terminal
	remote   *Feed  // what feeds a remote terminal; nil for all others
	log      *log
	input    inputQueue
	counters *counters

	resized, nudged, dirty chan struct{} // one slot each; see sizer and titler; nil without a child
	closing                chan struct{} // closed when the process has exited and its output is read
	ended                  func(*Terminal, Exit)
	done                   sync.WaitGroup // all goroutines of the terminal
	lastInput              atomic.Int64   // nanoseconds after created

	// Guarded by log.mu.
	pacing   pacing
	answerer *Viewer
	taps     []*Tap
	order    int64 // numbers attachments and inputs
	live     liveState
	commands history
	name     string // given by the person
	shown    string // title without name, as told to viewers
	dir      string // current directory, as told to viewers
	exit     *Exit  // set with the log's seal
	disposed bool
}

// start starts cmd in a new pty. The caller must run the terminal; ended is called once, after the exit and before it can
// be seen.
func start(id string, cmd *exec.Cmd, size Size, logBytes int, name string, c *counters, ended func(*Terminal, Exit)) (*Terminal, error) {
	ptmx, err := startPty(cmd, size)
	if err != nil {
		return nil, err
	}
	t := &Terminal{
		id: id, created: time.Now(), child: &child{cmd, newTree(id, cmd.Process.Pid), ptmx}, log: newLog(logBytes, size),
		input: newInputQueue(), counters: c, name: name, ended: ended, pacing: newPacing(),
		resized: make(chan struct{}, 1), nudged: make(chan struct{}, 1), dirty: make(chan struct{}, 1),
		closing: make(chan struct{}), live: liveState{altSince: -1},
		shown: processName(cmd.Args[0]), dir: cmd.Dir, // until the titler has looked
	}
	t.lastInput.Store(-int64(typingTime))
	return t, nil
}

// run starts the terminal's goroutines. They end with the process.
func (t *Terminal) run() {
	exited := make(chan Exit, 1)
	t.done.Go(t.writer)
	t.done.Go(t.sizer)
	t.done.Go(t.titler)
	t.done.Go(func() { t.waiter(exited) })
	t.done.Go(func() { t.reader(exited) }) // last: it ends the terminal, and done is waited for then
}

// startPty starts cmd in a new session with a new pty of this size and returns the master.
func startPty(cmd *exec.Cmd, size Size) (*os.File, error) {
	blocking, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(size.Cols), Rows: uint16(size.Rows)})
	if err != nil {
		return nil, err
	}
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("duplicating the pty: %w", err)
	}
	_ = unix.SetNonblock(fd, true) // fails only for a descriptor that is not open
	return os.NewFile(uintptr(fd), blocking.Name()), nil
}

// ID returns the terminal's id: 22 URL-safe characters, never used again.
func (t *Terminal) ID() string { return t.id }

// Done is closed once the process has exited and all its output is in the log.
func (t *Terminal) Done() <-chan struct{} { return t.closing }

// waiter reaps the process. From its exit on nothing holds the reader back any more but a bounded drain.
func (t *Terminal) waiter(exited chan<- Exit) {
	c := t.child
	_ = c.cmd.Wait() // how it ended is in ProcessState
	c.tree.leaderEnded()
	t.log.mu.Lock()
	t.pacing.off = true
	t.pacing.update(t.log.clean)
	t.log.mu.Unlock()
	exited <- exitOf(c.cmd.ProcessState)
	_ = c.ptmx.SetReadDeadline(time.Now().Add(drainQuiet))
}

// reader appends the pty's output to the log until the process has exited and the drain is over, then ends the
// terminal. It writes to no socket and waits for no viewer but in pace.
func (t *Terminal) reader(exited <-chan Exit) {
	ptmx := t.child.ptmx
	var exit *Exit
	var deadline time.Time
	for {
		n, err := ptmx.Read(t.log.space())
		if n > 0 {
			t.append(n)
		}
		if exit == nil {
			select {
			case e := <-exited:
				exit, deadline = &e, time.Now().Add(drainAtMost)
			default:
			}
		}
		if exit != nil {
			now := time.Now()
			if err != nil || now.After(deadline) {
				break
			}
			_ = ptmx.SetReadDeadline(now.Add(drainQuiet))
			continue
		}
		if err != nil {
			// Nobody has the pty open now. Most often the exit comes next, but /dev/tty may be opened again.
			select {
			case e := <-exited:
				exit, deadline = &e, time.Now().Add(drainAtMost)
			case <-time.After(reopenEvery):
			}
			continue
		}
		t.pace()
	}
	t.input.close(ErrExited)
	_ = ptmx.Close()
	t.finish(*exit)
}

// finish ends the terminal: no more output comes. Appender only.
func (t *Terminal) finish(exit Exit) {
	t.ended(t, exit)
	t.log.mu.Lock()
	t.show("", "") // what the titler did not come to tell
	t.exit = &exit
	t.log.seal()
	t.commands.finish(t.log.clean, nil, time.Now())
	t.tapped(false)
	t.log.mu.Unlock()
	close(t.closing)
}

// append takes the n bytes just read into the log.
func (t *Terminal) append(n int) {
	l := t.log
	used := l.scanned(n)
	l.mu.Lock()
	base := l.clean
	l.publish(used)
	t.answer(l.found.Queries)
	if used > 0 {
		t.tapped(true)
	}
	t.live.update(&l.scan)
	t.marked(base)
	l.mu.Unlock()
	t.counters.output.Add(uint64(n))
	signal(t.dirty)
}

// Input queues p for the process, whole or not at all. It never blocks. It returns ErrInputFull, ErrExited or ErrRemote.
func (t *Terminal) Input(p []byte) error {
	t.lastInput.Store(int64(time.Since(t.created)))
	return t.queueInput(p)
}

func (t *Terminal) queueInput(p []byte) error {
	if err := t.input.push(p, maxInput); err != nil {
		return err
	}
	t.counters.input.Add(uint64(len(p)))
	return nil
}

func (t *Terminal) sinceInput() time.Duration {
	return time.Since(t.created) - time.Duration(t.lastInput.Load())
}

// writer drains the input queue into the pty. It alone waits for the process to read.
func (t *Terminal) writer() {
	var buf []byte
	for {
		if buf = t.input.swap(buf); buf == nil {
			return
		}
		if _, err := t.child.ptmx.Write(buf); err != nil {
			return // closed: the reader ends the terminal
		}
	}
}

// Printed returns the offset after everything that was printed so far. It is beyond the end of the log as everybody sees
// it while that ends with an unfinished character or escape sequence.
func (t *Terminal) Printed() int64 {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return t.log.read
}

// Clear drops the scrollback before the current line for every viewer, also later ones.
func (t *Terminal) Clear() {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	if !t.disposed {
		t.log.clear(t.live.altSince)
		t.recordStep(Step{Kind: StepCleared, From: t.log.clean, To: t.log.floor})
	}
}

// dispose ends the terminal and its viewers.
func (t *Terminal) dispose(ctx context.Context) error {
	over, err := t.stop(ctx)
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	t.disposed = true
	if over {
		l.free()
	}
	l.wakeAll()
	return err
}

// stop ends what the output comes from: it kills the process tree and waits for the terminal's goroutines, or closes the
// feed. It reports whether nothing appends to the log any more.
func (t *Terminal) stop(ctx context.Context) (over bool, err error) {
	if t.child == nil {
		_ = t.remote.End(Exit{Code: LostCode}) // unless it has ended
		return true, nil
	}
	err = t.child.tree.kill(ctx)
	select {
	case <-t.closing:
		t.done.Wait()
		return true, err
	case <-ctx.Done():
		// The leader outlived KILL. Without its pty nothing is read any more, but the log may still be in use.
		_ = t.child.ptmx.Close()
		return false, err
	}
}
