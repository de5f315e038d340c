package ptymgr

import (
	"math"
	"slices"
)

// Tap is told what happens to a terminal, in the order of its log, without the output itself: it holds offsets only, so
// it never paces, and what it does not look at costs nothing. Its methods are safe for concurrent use.
type Tap struct {
	t      *Terminal
	from   int64
	notify func()

	// Guarded by t.log.mu.
	wantOutput bool
	detects    bool          // as told
	commands   commandCursor // as told
	notified   bool          // since the last Steps
	pos        int64         // end of the output that was a step
	records    []Step        // sizes and clears since then
	title, dir string        // as told
	exited     bool          // as told
}

// StepKind tells what a Step is.
type StepKind uint8

// The kinds of Step, with the fields they use beside From.
const (
	StepOutput  StepKind = iota // To: output in [From, To), at least a byte
	StepResized                 // Size
	StepCleared                 // To: nothing before it is shown any more
	StepTitled                  // Title, as viewers are told
	StepMoved                   // Dir, an absolute path
	StepExited                  // Exit; no more output comes

	StepCommandDetection // the shell marks commands; once, also for a Tap that was made later
	StepCommandStarted   // Command, which runs
	StepCommandFinished  // Command, as it ended
)

// Step is one thing that happened to a terminal.
type Step struct {
	Kind     StepKind
	From, To int64 // offsets in the log; From is where it happened
	Size     Size
	Title    string
	Dir      string
	Exit     *Exit    // never changed
	Command  *Command // StepCommandFinished may have another End if more commands ended than are kept
}

// maxRecords is how many sizes and clears wait in a Tap. Of more, the oldest that was superseded is dropped.
const maxRecords = 1024

// Tap starts to follow the terminal from the present end of its log, title, directory and size on. That the shell marks
// commands, and which one runs, are steps even if they were so before. notify is called when
// there are steps to take: at most once between two calls of Steps, and for output only if that is wanted. It is called
// with a lock of the terminal held: it must neither block nor call anything of the terminal. The caller must Close the
// Tap.
func (t *Terminal) Tap(notify func()) *Tap {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	tap := &Tap{t: t, from: l.clean, pos: l.clean, notify: notify, title: t.title(), dir: t.dir, commands: t.commands.atEnd()}
	t.taps = append(t.taps, tap)
	if t.exit != nil || t.commands.detects {
		tap.tell(false)
	}
	return tap
}

// From returns the end of the log when the Tap was made: output before it is no step.
func (tap *Tap) From() int64 { return tap.from }

// WantOutput says whether notify is to be called for output, also for such as has come already. It starts without.
func (tap *Tap) WantOutput(want bool) {
	l := tap.t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	tap.wantOutput = want
	if tap.pos < l.clean && !tap.closed() {
		tap.tell(true)
	}
}

// Steps appends to dst what happened since the last call. Output, commands, sizes and clears are in the order of the log;
// neighbouring output is one step, also where the log does not have it any more. Of titles and directories only the latest counts. The
// exit comes after the last output and only once. A closed Tap has no steps.
func (tap *Tap) Steps(dst []Step) []Step {
	t := tap.t
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	if tap.closed() {
		return dst
	}
	tap.notified = false
	for _, record := range tap.records {
		dst = tap.commandsTo(dst, record.From)
		dst = append(tap.outputTo(dst, record.From), record)
	}
	clear(tap.records)
	tap.records = tap.records[:0]
	head := t.log.clean
	dst = tap.commandsTo(dst, math.MaxInt64)
	dst = tap.outputTo(dst, head)
	if title := t.title(); title != tap.title {
		tap.title = title
		dst = append(dst, Step{Kind: StepTitled, From: head, Title: title})
	}
	if t.dir != tap.dir {
		tap.dir = t.dir
		dst = append(dst, Step{Kind: StepMoved, From: head, Dir: t.dir})
	}
	if t.exit != nil && !tap.exited {
		tap.exited = true
		dst = append(dst, Step{Kind: StepExited, From: head, Exit: t.exit})
	}
	return dst
}

// Close ends the Tap: notify is not called any more. It may be called more than once.
func (tap *Tap) Close() {
	t := tap.t
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	t.taps = slices.DeleteFunc(t.taps, func(other *Tap) bool { return other == tap })
}

func (tap *Tap) closed() bool { return !slices.Contains(tap.t.taps, tap) }

// outputTo appends the output up to offset. log.mu is held, here and below.
func (tap *Tap) outputTo(dst []Step, offset int64) []Step {
	if tap.pos < offset {
		dst = append(dst, Step{Kind: StepOutput, From: tap.pos, To: offset})
		tap.pos = offset
	}
	return dst
}

// commandsTo appends what became of commands before offset, and the command whose output starts there, with the output
// up to that.
func (tap *Tap) commandsTo(dst []Step, offset int64) []Step {
	h := &tap.t.commands
	if h.detects && !tap.detects && h.detected < offset {
		tap.detects = true
		dst = append(tap.outputTo(dst, h.detected), Step{Kind: StepCommandDetection, From: tap.pos})
	}
	for {
		at, start := h.upcoming(&tap.commands)
		if at > offset || at == offset && !start {
			return dst
		}
		dst = tap.outputTo(dst, at)
		step := Step{Kind: StepCommandFinished, From: tap.pos, Command: h.tell(&tap.commands, tap.pos)}
		if start {
			step.Kind = StepCommandStarted
		}
		dst = append(dst, step)
	}
}

// tell calls notify if the news are output that is wanted or anything else.
func (tap *Tap) tell(output bool) {
	if !tap.notified && (tap.wantOutput || !output) {
		tap.notified = true
		tap.notify()
	}
}

// tapped tells the taps that there is more output, or something else.
func (t *Terminal) tapped(output bool) {
	for _, tap := range t.taps {
		tap.tell(output)
	}
}

// recordStep gives every tap a size or a clear.
func (t *Terminal) recordStep(step Step) {
	for _, tap := range t.taps {
		tap.record(step)
		tap.tell(false)
	}
}

func (tap *Tap) record(step Step) {
	if i := len(tap.records) - 1; i >= 0 && tap.records[i].Kind == step.Kind && tap.records[i].From == step.From {
		tap.records[i] = step
		return
	}
	tap.records = append(tap.records, step)
	for i := 0; len(tap.records) > maxRecords; i++ {
		later := tap.records[i+1:]
		if slices.ContainsFunc(later, func(s Step) bool { return s.Kind == tap.records[i].Kind }) {
			tap.records = append(tap.records[:i], later...)
		}
	}
}
