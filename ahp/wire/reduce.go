package wire

import "maps"

// The reducers apply an action to a state, in place. What is not for this state changes nothing. They are the same in
// all versions: a TerminalState that has a Lifecycle keeps to that form, another to ExitCode.

// ReduceRoot applies an action to the state of the root channel.
func ReduceRoot(s *RootState, a Action) {
	switch a := a.(type) {
	case RootTerminalsChanged:
		s.Terminals = a.Terminals
	case RootAgentsChanged:
		s.Agents = a.Agents
	case RootActiveSessionsChanged:
		s.ActiveSessions = &a.ActiveSessions
	case RootConfigChanged:
		s.configure(a)
	}
}

// configure does nothing if there is no configuration. It leaves the maps alone, which copies of the state may share.
func (s *RootState) configure(a RootConfigChanged) {
	if s.Config == nil {
		return
	}
	changed := *s.Config
	if a.Replace || changed.Values == nil {
		changed.Values = a.Config
	} else {
		changed.Values = maps.Clone(changed.Values)
		maps.Copy(changed.Values, a.Config)
	}
	s.Config = &changed
}

// ReduceTerminal applies an action to the state of a terminal. It changes the parts of Content in place.
func ReduceTerminal(s *TerminalState, a Action) {
	switch a := a.(type) {
	case TerminalData:
		s.print(a.Data)
	case TerminalResized:
		s.Cols, s.Rows = a.Cols, a.Rows
	case TerminalClaimed:
		s.Claim = a.Claim
	case TerminalTitleChanged:
		s.Title = a.Title
	case TerminalCwdChanged:
		s.Cwd = a.Cwd
	case TerminalExited:
		if s.Lifecycle != nil {
			s.Lifecycle = &Lifecycle{Status: Exited, ExitCode: a.ExitCode}
		} else {
			s.ExitCode = a.ExitCode
		}
	case TerminalCleared:
		s.Content = []Part{}
	case TerminalCommandDetectionAvailable:
		s.SupportsCommandDetection = true
	case TerminalCommandExecuted:
		s.SupportsCommandDetection = true
		s.Content = append(s.Content, Part{
			Type: Command, CommandID: a.CommandID, CommandLine: a.CommandLine, Timestamp: a.Timestamp,
		})
	case TerminalCommandFinished:
		for i := range s.Content {
			if p := &s.Content[i]; p.Type == Command && p.CommandID == a.CommandID {
				p.IsComplete, p.ExitCode, p.DurationMs = true, a.ExitCode, a.DurationMs
			}
		}
	}
}

// print appends output to the last part, or to a new one if the last is a command that has finished.
func (s *TerminalState) print(output string) {
	if n := len(s.Content); n > 0 {
		switch last := &s.Content[n-1]; {
		case last.Type == Command && !last.IsComplete:
			last.Output += output
			return
		case last.Type == Unclassified:
			last.Value += output
			return
		}
	}
	s.Content = append(s.Content, Part{Type: Unclassified, Value: output})
}

// ReduceSharing applies an action to the state of the sharing channel.
func ReduceSharing(s *SharingState, a Action) {
	if a, ok := a.(SharingChanged); ok {
		*s = a.State
	}
}
