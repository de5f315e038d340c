package wire

import (
	"encoding/json"
	"time"
)

// The channels that are always there, and the scheme of terminals that the host names.
const (
	RootChannel    = "ahp-root://"
	SharingChannel = "ahp-tandem:/sharing" // an extension, for people's clients
	TerminalScheme = "ahp-terminal"
)

// Claim says who holds a terminal: a client or a session.
type Claim struct {
	Kind       string `json:"kind"` // ClaimClient or ClaimSession
	ClientID   string `json:"clientId,omitempty"`
	Session    string `json:"session,omitempty"` // URI
	Chat       string `json:"chat,omitempty"`    // URI; from 0.9 on
	TurnID     string `json:"turnId,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
}

// The kinds of Claim.
const (
	ClaimClient  = "client"
	ClaimSession = "session"
)

// Lifecycle is how far a process is.
type Lifecycle struct {
	Status   string `json:"status"` // Running or Exited
	ExitCode *int   `json:"exitCode,omitempty"`
}

// The values of Lifecycle.Status.
const (
	Running = "running"
	Exited  = "exited"
)

// TerminalInfo is a terminal in the root list. The neutral form has a Lifecycle; versions before 0.9 have the exit code
// in its place.
type TerminalInfo struct {
	Resource  string     `json:"resource"` // URI
	Title     string     `json:"title"`
	Claim     Claim      `json:"claim"`
	ExitCode  *int       `json:"exitCode,omitempty"`
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`
}

// RootState is the state of the root channel.
type RootState struct {
	Agents         []json.RawMessage `json:"agents"`
	ActiveSessions *int              `json:"activeSessions,omitempty"`
	Terminals      []TerminalInfo    `json:"terminals,omitempty"`
	Config         *RootConfig       `json:"config,omitempty"`
}

// RootConfig is the host's configuration as clients see it.
type RootConfig struct {
	Schema json.RawMessage            `json:"schema"`
	Values map[string]json.RawMessage `json:"values"`
}

// TerminalState is the state of a terminal's channel. The neutral form has a Lifecycle, as TerminalInfo.
type TerminalState struct {
	Title                    string     `json:"title"`
	Cwd                      string     `json:"cwd,omitempty"` // URI
	Cols                     int        `json:"cols,omitempty"`
	Rows                     int        `json:"rows,omitempty"`
	Content                  []Part     `json:"content"`
	ExitCode                 *int       `json:"exitCode,omitempty"`
	Lifecycle                *Lifecycle `json:"lifecycle,omitempty"`
	Claim                    Claim      `json:"claim"`
	SupportsCommandDetection bool       `json:"supportsCommandDetection,omitempty"`
}

// Part is a stretch of output: of a command, or of none.
type Part struct {
	Type string // Unclassified or Command

	Value string // of an unclassified part

	CommandID   string
	CommandLine string
	Output      string
	Timestamp   int64 // Unix time in milliseconds
	IsComplete  bool
	ExitCode    *int
	DurationMs  *int64
}

// The values of Part.Type.
const (
	Unclassified = "unclassified"
	Command      = "command"
)

type unclassifiedPart struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type commandPart struct {
	Type        string `json:"type"`
	CommandID   string `json:"commandId"`
	CommandLine string `json:"commandLine"`
	Output      string `json:"output"`
	Timestamp   int64  `json:"timestamp"`
	IsComplete  bool   `json:"isComplete"`
	ExitCode    *int   `json:"exitCode,omitempty"`
	DurationMs  *int64 `json:"durationMs,omitempty"`
}

// MarshalJSON writes the fields of the part's type.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.Type == Command {
		return appendJSON(nil, commandPart{
			p.Type, p.CommandID, p.CommandLine, p.Output, p.Timestamp, p.IsComplete, p.ExitCode, p.DurationMs,
		}), nil
	}
	dst := append([]byte(`{"type":`), appendJSON(nil, p.Type)...)
	dst = append(dst, `,"value":`...)
	return append(AppendString(dst, []byte(p.Value)), '}'), nil
}

// UnmarshalJSON reads a part of either type.
func (p *Part) UnmarshalJSON(b []byte) error {
	var all struct {
		commandPart
		Value string `json:"value"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	c := all.commandPart
	*p = Part{c.Type, all.Value, c.CommandID, c.CommandLine, c.Output, c.Timestamp, c.IsComplete, c.ExitCode, c.DurationMs}
	return nil
}

// Text returns the part's output.
func (p Part) Text() string {
	if p.Type == Command {
		return p.Output
	}
	return p.Value
}

// Text returns the terminal's output as one stream.
func (s *TerminalState) Text() string {
	var text []byte
	for _, p := range s.Content {
		text = append(text, p.Text()...)
	}
	return string(text)
}

// SharingState is the state of the sharing channel.
type SharingState struct {
	Paused    bool                      `json:"paused"`    // programs are
	Terminals map[string]SharedTerminal `json:"terminals"` // by URI
	Requests  []SharingRequest          `json:"requests"`  // oldest first
}

// SharedTerminal says who uses a terminal.
type SharedTerminal struct {
	ID       string    `json:"id"`   // at the byte lane and in REST
	Mode     string    `json:"mode"` // "private", "watch", "ask" or "share"
	Created  time.Time `json:"created"`
	Maker    Party     `json:"maker"`
	Holder   Party     `json:"holder"`
	Watchers []Party   `json:"watchers"`
}

// Party is somebody who uses a terminal.
type Party struct {
	Kind   string `json:"kind"` // "person", "program" or "session"
	Name   string `json:"name"`
	Client string `json:"client,omitempty"` // client id, or the session's URI
}

// SharingRequest is a program's claim that waits for the person.
type SharingRequest struct {
	ID       string    `json:"id"`
	Resource string    `json:"resource"` // URI of the terminal
	Program  string    `json:"program"`  // its name
	Session  string    `json:"session,omitempty"`
	Created  time.Time `json:"created"`
}

// Snapshot is the state of a channel at a number.
type Snapshot struct {
	Resource string          `json:"resource"`
	State    json.RawMessage `json:"state"`
	FromSeq  int64           `json:"fromSeq"`
}

// NewSnapshot returns a snapshot of a state.
func NewSnapshot(resource string, state any, seq int64) Snapshot {
	return Snapshot{resource, appendJSON(nil, state), seq}
}
