package wire

import "encoding/base64"

// The state of a host is kept in one neutral form, with a Lifecycle everywhere, and rendered for each client. The methods
// For return copies that share what does not differ. Rendering what is rendered for the same version changes nothing.

// unknownExit stands for an exit without a code where a missing code means that the program runs.
const unknownExit = -1

// hasLifecycle reports whether the version has the key lifecycle, and the chat of a session's claim. Clients of versions
// before take a state with that key for another type and fail.
func (v Version) hasLifecycle() bool { return v.AtLeast(0, 9, 0) }

// For renders the claim. From 0.9 on a session's claim must name a chat; without one it is the session's default chat.
func (c Claim) For(v Version) Claim {
	switch {
	case !v.hasLifecycle():
		c.Chat = ""
	case c.Kind == ClaimSession && c.Chat == "":
		c.Chat = "ahp-chat://default/" + base64.RawURLEncoding.EncodeToString([]byte(c.Session))
	}
	return c
}

// For renders the terminal's line in the list.
func (t TerminalInfo) For(v Version) TerminalInfo {
	t.Claim = t.Claim.For(v)
	t.ExitCode, t.Lifecycle = exitFor(v, t.ExitCode, t.Lifecycle)
	return t
}

// For renders the state of a terminal.
func (t TerminalState) For(v Version) TerminalState {
	t.Claim = t.Claim.For(v)
	t.ExitCode, t.Lifecycle = exitFor(v, t.ExitCode, t.Lifecycle)
	return t
}

// For renders the state of the root channel.
func (s RootState) For(v Version) RootState {
	s.Terminals = terminalsFor(v, s.Terminals)
	return s
}

// For renders the list.
func (a RootTerminalsChanged) For(v Version) RootTerminalsChanged {
	a.Terminals = terminalsFor(v, a.Terminals)
	return a
}

// For renders the change.
func (a TerminalClaimed) For(v Version) TerminalClaimed {
	a.Claim = a.Claim.For(v)
	return a
}

// For renders the exit.
func (a TerminalExited) For(v Version) TerminalExited {
	if !v.hasLifecycle() && a.ExitCode == nil {
		a.ExitCode = new(unknownExit)
	}
	return a
}

// ActionFor renders any action.
func ActionFor(a Action, v Version) Action {
	switch a := a.(type) {
	case RootTerminalsChanged:
		return a.For(v)
	case TerminalClaimed:
		return a.For(v)
	case TerminalExited:
		return a.For(v)
	}
	return a
}

func terminalsFor(v Version, neutral []TerminalInfo) []TerminalInfo {
	if neutral == nil {
		return nil
	}
	rendered := make([]TerminalInfo, len(neutral))
	for i, t := range neutral {
		rendered[i] = t.For(v)
	}
	return rendered
}

// exitFor returns the one of the two that the version has.
func exitFor(v Version, code *int, l *Lifecycle) (*int, *Lifecycle) {
	switch {
	case v.hasLifecycle() && l != nil:
		return nil, l
	case v.hasLifecycle() && code != nil:
		return nil, &Lifecycle{Status: Exited, ExitCode: code}
	case v.hasLifecycle():
		return nil, &Lifecycle{Status: Running}
	case l == nil:
		return code, nil
	case l.Status != Exited:
		return nil, nil
	case l.ExitCode == nil:
		return new(unknownExit), nil
	default:
		return l.ExitCode, nil
	}
}
