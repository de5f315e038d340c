package wire

import "encoding/json"

// RootTerminalsChanged is the list of all terminals. Only hosts send it.
type RootTerminalsChanged struct {
	Terminals []TerminalInfo `json:"terminals"`
}

// RootAgentsChanged is the list of all agents, which are not looked into here. Only hosts send it.
type RootAgentsChanged struct {
	Agents []json.RawMessage `json:"agents"`
}

// RootActiveSessionsChanged is the number of sessions. Only hosts send it.
type RootActiveSessionsChanged struct {
	ActiveSessions int `json:"activeSessions"`
}

// RootConfigChanged sets values of the host's configuration, or, with Replace, all of them.
type RootConfigChanged struct {
	Config  map[string]json.RawMessage `json:"config"`
	Replace bool                       `json:"replace,omitempty"`
}

// The types of the actions on the wire.
func (RootTerminalsChanged) Type() string      { return "root/terminalsChanged" }
func (RootAgentsChanged) Type() string         { return "root/agentsChanged" }
func (RootActiveSessionsChanged) Type() string { return "root/activeSessionsChanged" }
func (RootConfigChanged) Type() string         { return "root/configChanged" }

func readRootTerminalsChanged(o *object) Action {
	return RootTerminalsChanged{required(o, "terminals", listOf(decoded[TerminalInfo]))}
}

func readRootAgentsChanged(o *object) Action {
	return RootAgentsChanged{required(o, "agents", listOf(raw))}
}

func readRootActiveSessionsChanged(o *object) Action {
	return RootActiveSessionsChanged{required(o, "activeSessions", integer)}
}

func readRootConfigChanged(o *object) Action {
	return RootConfigChanged{
		Config:  required(o, "config", decoded[map[string]json.RawMessage]),
		Replace: orZero(optional(o, "replace", boolean)),
	}
}
