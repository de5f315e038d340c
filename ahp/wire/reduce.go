package wire

// ReduceRoot applies an action to the state of the root channel. Actions that are not the root's change nothing.
func ReduceRoot(s *RootState, a Action) {
	switch a := a.(type) {
	case RootTerminalsChanged:
		s.Terminals = a.Terminals
	case RootAgentsChanged:
		s.Agents = a.Agents
	case RootActiveSessionsChanged:
		s.ActiveSessions = &a.ActiveSessions
	case RootConfigChanged:
		if s.Config == nil {
			return
		}
		if a.Replace {
			s.Config.Values = a.Config
			return
		}
		for key, value := range a.Config {
			s.Config.Values[key] = value
		}
	}
}

// ReduceTerminal applies an action to the state of a terminal's channel. Actions that are not a terminal's change nothing.
func ReduceTerminal(s *TerminalState, a Action) {
	switch a := a.(type) {
	case TerminalData:
		s.append(a.Data)
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
			s.Lifecycle = &Lifecycle{Exited, a.ExitCode}
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

// append adds output to the command that runs, or to the last part if it is of none, or else to a new one.
func (s *TerminalState) append(data string) {
	if n := len(s.Content); n > 0 {
		switch p := &s.Content[n-1]; {
		case p.Type == Command && !p.IsComplete:
			p.Output += data
			return
		case p.Type == Unclassified:
			p.Value += data
			return
		}
	}
	s.Content = append(s.Content, Part{Type: Unclassified, Value: data})
}

// ReduceSharing applies an action to the state of the sharing channel.
func ReduceSharing(s *SharingState, a Action) {
	if a, ok := a.(SharingChanged); ok {
		*s = a.State
	}
}
