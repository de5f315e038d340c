package wire

import "encoding/base64"

// hasLifecycle reports whether the version writes an exit as a lifecycle, and the chat of a session's claim. Clients of
// earlier ones take a state with a lifecycle for that of a session, and fail.
func (v Version) hasLifecycle() bool { return v.AtLeast(0, 9, 0) }

// For returns the claim as the version has it.
func (c Claim) For(v Version) Claim {
	switch {
	case c.Kind != ClaimSession:
	case !v.hasLifecycle():
		c.Chat = ""
	case c.Chat == "":
		c.Chat = "ahp-chat://default/" + base64.RawURLEncoding.EncodeToString([]byte(c.Session))
	}
	return c
}

// For returns the terminal as the version has it. The receiver is in the neutral form, here and below.
func (t TerminalInfo) For(v Version) TerminalInfo {
	t.Claim = t.Claim.For(v)
	t.ExitCode, t.Lifecycle = exitFor(v, t.Lifecycle)
	return t
}

// For returns the state as the version has it.
func (s TerminalState) For(v Version) TerminalState {
	s.Claim = s.Claim.For(v)
	s.ExitCode, s.Lifecycle = exitFor(v, s.Lifecycle)
	return s
}

// For returns the state as the version has it.
func (s RootState) For(v Version) RootState {
	s.Terminals = terminalsFor(v, s.Terminals)
	return s
}

// For returns the action as the version has it.
func (a RootTerminalsChanged) For(v Version) RootTerminalsChanged {
	return RootTerminalsChanged{terminalsFor(v, a.Terminals)}
}

// ActionFor returns any action as the version has it.
func ActionFor(a Action, v Version) Action {
	switch a := a.(type) {
	case RootTerminalsChanged:
		return a.For(v)
	case TerminalClaimed:
		return TerminalClaimed{a.Claim.For(v)}
	}
	return a
}

func terminalsFor(v Version, list []TerminalInfo) []TerminalInfo {
	rendered := make([]TerminalInfo, len(list))
	for i, t := range list {
		rendered[i] = t.For(v)
	}
	return rendered
}

func exitFor(v Version, l *Lifecycle) (*int, *Lifecycle) {
	switch {
	case v.hasLifecycle() || l == nil:
		return nil, l
	case l.Status == Exited:
		return l.ExitCode, nil
	default:
		return nil, nil
	}
}
