package ahp

import (
	"net/url"
	"time"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

const (
	// maxCut is the most output one cut covers, in bytes of the log. It bounds what a subscriber that takes nothing
	// costs, since a cut is never split.
	maxCut = 16 << 10

	// DefaultLatency is how long output may wait to be sent with more for subscribers that do not say. Output after
	// a pause never waits.
	DefaultLatency = 20 * time.Millisecond

	// minTick keeps a flood from being numbered read by read, for subscribers that want no delay at all.
	minTick = time.Millisecond
)

// terminal is AHP's view of one terminal: state, and ranges of the log that were given numbers. It holds no output.
// Guarded by Host.mu, but for what never changes.
type terminal struct {
	channel *channel
	shared  *sharing.Terminal
	pty     *ptymgr.Terminal
	tap     *ptymgr.Tap
	dirty   chan struct{} // one slot: the tap has news
	gone    chan struct{} // closed when the terminal is removed

	title   string
	dir     string
	size    ptymgr.Size
	exit    *ptymgr.Exit
	ended   int64 // number of the exit
	claim   sharing.Claim
	owner   clientKey // of a terminal that runs at a client: that client
	access  sharing.Access
	opened  int64 // number at which programs were last let in
	start   int64 // where the content starts: what was printed before was cleared
	cut     int64 // up to here output has numbers
	arrived time.Time
	lastCut time.Time
	steps   []ptymgr.Step // reused

	marked   bool             // the shell tells where commands begin and end
	commands []ptymgr.Command // of the content, oldest first
}

// follow gives numbers to what happens at the terminal, until it is removed: at once if it was quiet, else at every
// tick.
func (t *terminal) follow() {
	h := t.channel.host
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-t.gone:
			return
		case <-t.dirty:
		}
		h.mu.Lock()
		wait := time.Until(t.lastCut.Add(t.tick()))
		t.arrived = time.Now()
		h.mu.Unlock()
		if wait > 0 {
			timer.Reset(wait)
			select {
			case <-t.gone:
				return
			case <-timer.C:
			}
		}
		h.mu.Lock()
		t.advance()
		h.mu.Unlock()
	}
}

// tick returns the time between two cuts while output keeps coming: the least latency that a subscriber asks for.
func (t *terminal) tick() time.Duration {
	tick := DefaultLatency
	for s := range t.channel.subs {
		tick = min(tick, s.latency)
	}
	return max(tick, minTick)
}

// advance numbers everything that happened since it was last called. Host.mu is held.
func (t *terminal) advance() { t.advanceFor(nil, nil) }

// advanceFor is advance after a client's own action, whose origin the last event that is the same gets. It reports
// whether there was one.
func (t *terminal) advanceFor(own wire.Action, origin *wire.Origin) bool {
	h := t.channel.host
	if t.tap == nil {
		return false
	}
	t.steps = t.tap.Steps(t.steps[:0])
	ours := -1
	if own != nil {
		for i, step := range t.steps {
			if same(t.actionOf(step), own) {
				ours = i
			}
		}
	}
	relist := false
	for i, step := range t.steps {
		if step.Kind == ptymgr.StepOutput {
			t.recordOutput(step.From, step.To)
			continue
		}
		e := event{action: t.actionOf(step)}
		if i == ours {
			e.origin = origin
		}
		relist = t.apply(step) || relist
		t.channel.record(e)
		if step.Kind == ptymgr.StepExited {
			t.ended = h.seq
		}
		if step.Kind == ptymgr.StepCleared {
			t.recordOutput(t.start, t.cut)
		}
	}
	if relist {
		h.recordList()
	}
	return ours >= 0
}

// recordOutput gives numbers to a range of output. What the log no longer has is a cut of its own, which nobody can be
// sent.
func (t *terminal) recordOutput(from, to int64) {
	at := t.arrived
	if at.IsZero() {
		at = time.Now()
	}
	t.lastCut = time.Now()
	if tail, _ := t.pty.Bounds(); tail > from {
		lost := min(tail, to)
		t.channel.record(event{from: from, to: lost, at: at})
		from = lost
	}
	for from < to {
		end := t.pty.CutEnd(from, to, maxCut)
		t.channel.record(event{from: from, to: end, at: at})
		from = end
	}
	t.cut = max(t.cut, to)
}

// apply takes a step into the state and reports whether the root list shows it.
func (t *terminal) apply(step ptymgr.Step) bool {
	switch step.Kind {
	case ptymgr.StepResized:
		t.size = step.Size
	case ptymgr.StepCleared:
		t.commands = nil // as reducers have it, also of one that runs
		t.start = max(step.To, t.pty.SaneOffset(t.cut-restartBytes))
	case ptymgr.StepTitled:
		t.title = step.Title
		return true
	case ptymgr.StepMoved:
		t.dir = step.Dir
	case ptymgr.StepCommandDetection:
		t.marked = true
	case ptymgr.StepCommandStarted, ptymgr.StepCommandFinished:
		t.note(*step.Command)
	case ptymgr.StepExited:
		t.exit = step.Exit
		return true
	}
	return false
}

// same reports whether an action that has happened is the one that a client asked for. There is but one exit.
func same(happened, own wire.Action) bool {
	if _, ok := happened.(wire.TerminalExited); ok {
		return happened.Type() == own.Type()
	}
	return happened == own
}

func (t *terminal) actionOf(step ptymgr.Step) wire.Action {
	switch step.Kind {
	case ptymgr.StepResized:
		return wire.TerminalResized{Cols: step.Size.Cols, Rows: step.Size.Rows}
	case ptymgr.StepCleared:
		return wire.TerminalCleared{}
	case ptymgr.StepTitled:
		return wire.TerminalTitleChanged{Title: step.Title}
	case ptymgr.StepMoved:
		return wire.TerminalCwdChanged{Cwd: fileURI(step.Dir)}
	case ptymgr.StepCommandDetection:
		return wire.TerminalCommandDetectionAvailable{}
	case ptymgr.StepCommandStarted:
		return executed(step.Command)
	case ptymgr.StepCommandFinished:
		return finished(step.Command)
	case ptymgr.StepExited:
		return wire.TerminalExited{ExitCode: &step.Exit.Code}
	}
	return nil
}

// listed returns the terminal's line in the root list.
func (t *terminal) listed() listed {
	return listed{
		info: wire.TerminalInfo{Resource: t.channel.uri, Title: t.title, Claim: wireClaim(t.claim), Lifecycle: lifecycle(t.exit),
			ExecutionTarget: t.executionTarget()},
		access: t.access,
	}
}

// state returns the terminal's state without content.
func (t *terminal) state() wire.TerminalState {
	return wire.TerminalState{
		Title: t.title, Cwd: fileURI(t.dir), Cols: t.size.Cols, Rows: t.size.Rows, Content: []wire.Part{},
		Claim: wireClaim(t.claim), Lifecycle: lifecycle(t.exit), SupportsCommandDetection: t.marked,
		ExecutionTarget: t.executionTarget(),
	}
}

// executionTarget returns where the terminal's program runs, "" for here.
func (t *terminal) executionTarget() string {
	if t.shared.Remote() {
		return wire.ExecutedByClient
	}
	return ""
}

// present returns events without numbers that bring a subscriber of this identity from any state to the present one.
// Host.mu is held.
func (c *channel) present(i sharing.Identity) []event {
	switch {
	case c.terminal != nil:
		return c.terminal.present(i)
	case c == c.host.sharingChannel:
		return []event{{action: wire.SharingChanged{State: c.host.sharingState()}}}
	default:
		return []event{{list: c.host.list()}}
	}
}

func lifecycle(exit *ptymgr.Exit) *wire.Lifecycle {
	if exit == nil {
		return &wire.Lifecycle{Status: wire.Running}
	}
	return &wire.Lifecycle{Status: wire.Exited, ExitCode: &exit.Code}
}

func wireClaim(c sharing.Claim) wire.Claim {
	if s := c.Session; s != nil {
		return wire.Claim{Kind: wire.ClaimSession, Session: s.URI, Chat: s.Chat, TurnID: s.TurnID, ToolCallID: s.ToolCallID}
	}
	return wire.Claim{Kind: wire.ClaimClient, ClientID: c.Client}
}

// fileURI returns the URI of an absolute path (RFC 8089), or "" for none.
func fileURI(path string) string {
	if path == "" {
		return ""
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
