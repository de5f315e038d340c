package ahp

import (
	"time"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

const (
	// contentBytes is how much output a snapshot holds at most, in bytes of the log.
	contentBytes = 128 << 10

	// restartBytes is how much output a subscriber that was overtaken starts again with, in bytes of the log.
	restartBytes = 64 << 10

	// maxCommands is how many commands of a terminal's content are told apart, the newest of them.
	maxCommands = 1000
)

// stretch is a range of a terminal's output: of one command, or of none.
type stretch struct {
	from, to int64
	command  *ptymgr.Command // as it is at the last number; nil for output that is no command's
}

// content returns what a client of this identity is shown of the output that has numbers: the newest of it, at most the
// given bytes. Host.mu is held.
func (t *terminal) content(i sharing.Identity, most int64) []stretch {
	floor := max(t.start, t.access.Floor(i))
	from := floor
	if from < t.cut-most {
		from = max(from, t.pty.SaneOffset(t.cut-most))
	}
	if tail, _ := t.pty.Bounds(); tail > from {
		from = t.pty.SaneOffset(tail)
	}
	return t.stretches(floor, min(from, t.cut), t.cut)
}

// stretches cuts a range of output where commands begin and end. A command that began before the floor is not known: its
// line may be secret.
func (t *terminal) stretches(floor, from, to int64) []stretch {
	var all []stretch
	for _, c := range t.commands {
		running := c.End < 0
		end := c.End
		if running {
			end = to
		}
		if c.Start < floor || !running && c.Start < from && end <= from {
			continue
		}
		if from < c.Start {
			all = append(all, stretch{from, c.Start, nil})
		}
		all = append(all, stretch{max(c.Start, from), end, &c})
		from = end
	}
	if from < to {
		all = append(all, stretch{from, to, nil})
	}
	return all
}

// note takes a command that began or ended into the content.
func (t *terminal) note(c ptymgr.Command) {
	for i := range t.commands {
		if t.commands[i].ID == c.ID {
			t.commands[i] = c
			return
		}
	}
	if c.End >= 0 {
		return // its beginning was cleared
	}
	if len(t.commands) == maxCommands {
		t.commands = t.commands[1:]
	}
	t.commands = append(t.commands, c)
}

// parts renders stretches as the parts of a state. It returns ptymgr.ErrOvertaken if the log has moved on.
func parts(pty *ptymgr.Terminal, content []stretch) ([]wire.Part, error) {
	parts := []wire.Part{}
	for _, s := range content {
		text, err := pty.Text(nil, s.from, s.to)
		if err != nil {
			return nil, err
		}
		switch c := s.command; {
		case c == nil && len(text) > 0:
			parts = append(parts, wire.Part{Type: wire.Unclassified, Value: string(text)})
		case c != nil:
			part := wire.Part{
				Type: wire.Command, CommandID: c.ID, CommandLine: c.Line, Output: string(text), Timestamp: c.Started.UnixMilli(),
			}
			if c.End >= 0 {
				part.IsComplete, part.ExitCode, part.DurationMs = true, c.Exit, new(c.Duration.Milliseconds())
			}
			parts = append(parts, part)
		}
	}
	return parts, nil
}

// executed and finished are the actions of a command.
func executed(c *ptymgr.Command) wire.TerminalCommandExecuted {
	return wire.TerminalCommandExecuted{CommandID: c.ID, CommandLine: c.Line, Timestamp: c.Started.UnixMilli()}
}

func finished(c *ptymgr.Command) wire.TerminalCommandFinished {
	return wire.TerminalCommandFinished{CommandID: c.ID, ExitCode: c.Exit, DurationMs: new(c.Duration.Milliseconds())}
}

// present returns events without numbers that bring a subscriber of this identity from any state to the present one.
// Host.mu is held.
func (t *terminal) present(i sharing.Identity) []event {
	state := t.state()
	events := []event{
		{action: wire.TerminalCleared{}},
		{action: wire.TerminalResized{Cols: state.Cols, Rows: state.Rows}},
		{action: wire.TerminalTitleChanged{Title: state.Title}},
		{action: wire.TerminalClaimed{Claim: state.Claim}},
	}
	if state.Cwd != "" {
		events = append(events, event{action: wire.TerminalCwdChanged{Cwd: state.Cwd}})
	}
	if state.SupportsCommandDetection {
		events = append(events, event{action: wire.TerminalCommandDetectionAvailable{}})
	}
	now := time.Now()
	for _, s := range t.content(i, restartBytes) {
		if s.command != nil {
			events = append(events, event{action: executed(s.command)})
		}
		for from := s.from; from < s.to; {
			end := t.pty.CutEnd(from, s.to, maxCut)
			events = append(events, event{from: from, to: end, at: now})
			from = end
		}
		if s.command != nil && s.command.End >= 0 {
			events = append(events, event{action: finished(s.command)})
		}
	}
	if t.exit != nil {
		events = append(events, event{action: wire.TerminalExited{ExitCode: &t.exit.Code}})
	}
	return events
}
