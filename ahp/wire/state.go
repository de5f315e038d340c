package wire

import (
	"encoding/json"
	"strings"
)

// RootChannel is the channel of the host itself; terminals are in the scheme TerminalScheme unless their clients chose
// another.
const (
	RootChannel    = "ahp-root://"
	TerminalScheme = "ahp-terminal"
)

// IsRoot reports whether uri is the RootChannel, also as earlier versions spelled it.
func IsRoot(uri string) bool {
	uri = strings.TrimRight(uri, "/")
	return uri == "ahp-root:" || uri == "agenthost:/root"
}

// RootState is the state of the RootChannel.
type RootState struct {
	Agents         []json.RawMessage `json:"agents"` // not looked into here
	ActiveSessions *int              `json:"activeSessions,omitempty"`
	Terminals      []TerminalInfo    `json:"terminals,omitzero"` // nil is absent, which is not the same as none
	Config         *RootConfig       `json:"config,omitempty"`
}

// RootConfig is the host's configuration, as far as clients see it.
type RootConfig struct {
	Schema json.RawMessage            `json:"schema,omitzero"`
	Values map[string]json.RawMessage `json:"values"`
}

// TerminalInfo is a terminal in the list of all. ExitCode and Lifecycle say the same in versions before and from 0.9; the
// neutral form is Lifecycle.
type TerminalInfo struct {
	Resource  string     `json:"resource"` // URI of its channel
	Title     string     `json:"title"`
	Claim     Claim      `json:"claim"`
	ExitCode  *int       `json:"exitCode,omitempty"` // nil while the program runs
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`

	ExecutionTarget string `json:"executionTarget,omitempty"` // ExecutedByClient; absent if the host runs it
}

// UnmarshalJSON is as strict as UnmarshalAction.
func (t *TerminalInfo) UnmarshalJSON(p []byte) error {
	o, err := parseObject(p)
	if err != nil {
		return err
	}
	*t = TerminalInfo{
		Resource: required(o, "resource", name), Title: required(o, "title", text), Claim: required(o, "claim", claim),
		ExitCode: optional(o, "exitCode", integer), Lifecycle: optional(o, "lifecycle", lifecycle),
		ExecutionTarget: orZero(optional(o, "executionTarget", text)),
	}
	return o.err
}

// ExecutedByClient is the ExecutionTarget of a terminal whose program runs at the client that holds it. It never changes.
const ExecutedByClient = "client"

// Statuses of a Lifecycle.
const (
	Running = "running"
	Exited  = "exited"
)

// Lifecycle says whether a terminal's program runs.
type Lifecycle struct {
	Status   string `json:"status"`
	ExitCode *int   `json:"exitCode,omitempty"` // of Exited; nil if there is none
}

func lifecycle(raw json.RawMessage) (Lifecycle, error) {
	o, err := parseObject(raw)
	if err != nil {
		return Lifecycle{}, err
	}
	return Lifecycle{Status: required(o, "status", text), ExitCode: optional(o, "exitCode", integer)}, o.err
}

// TerminalState is the state of a terminal's channel. As to ExitCode and Lifecycle, see TerminalInfo.
type TerminalState struct {
	Title                    string     `json:"title"`
	Cwd                      string     `json:"cwd,omitempty"`  // URI
	Cols                     int        `json:"cols,omitempty"` // 0 if not known
	Rows                     int        `json:"rows,omitempty"`
	Content                  []Part     `json:"content"`
	Claim                    Claim      `json:"claim"`
	SupportsCommandDetection bool       `json:"supportsCommandDetection,omitempty"`
	ExitCode                 *int       `json:"exitCode,omitempty"`
	Lifecycle                *Lifecycle `json:"lifecycle,omitempty"`
	ExecutionTarget          string     `json:"executionTarget,omitempty"`
}

// Types of parts.
const (
	Unclassified = "unclassified"
	Command      = "command"
)

// Part is a piece of a terminal's content. All outputs in a row are the terminal's output.
type Part struct {
	Type string

	Value string // output, of Unclassified

	// Of Command.
	CommandID   string
	CommandLine string
	Output      string
	Timestamp   int64 // when it started: Unix time, in milliseconds
	IsComplete  bool
	ExitCode    *int   // nil if not known
	DurationMs  *int64 // nil if not known
}

// commandPart is a Part of type Command on the wire.
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

// MarshalJSON writes the members that parts of the type have.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.Type == Command {
		return marshal(commandPart{
			p.Type, p.CommandID, p.CommandLine, p.Output, p.Timestamp, p.IsComplete, p.ExitCode, p.DurationMs,
		})
	}
	dst := append([]byte(`{"type":`), encode(p.Type)...)
	dst = append(dst, `,"value":`...)
	return append(appendText(dst, p.Value), '}'), nil
}

// UnmarshalJSON takes the members that parts of the type have.
func (p *Part) UnmarshalJSON(b []byte) error {
	o, err := parseObject(b)
	if err != nil {
		return err
	}
	switch kind := required(o, "type", text); kind {
	case Unclassified:
		*p = Part{Type: kind, Value: required(o, "value", text)}
	case Command:
		*p = Part{
			Type: kind, CommandID: required(o, "commandId", text), CommandLine: required(o, "commandLine", text),
			Output: required(o, "output", text), Timestamp: required(o, "timestamp", count),
			IsComplete: required(o, "isComplete", boolean), ExitCode: optional(o, "exitCode", integer),
			DurationMs: optional(o, "durationMs", count),
		}
	default:
		o.fail("type", errMust(`be "unclassified" or "command"`))
	}
	return o.err
}

// Snapshot is the state of a channel as of a number.
type Snapshot struct {
	Resource string          `json:"resource"` // the channel
	State    json.RawMessage `json:"state"`    // of the type that the channel has
	FromSeq  int64           `json:"fromSeq"`  // everything up to this number is in it
}

// NewSnapshot returns a Snapshot of a RootState, TerminalState or SharingState, rendered for the client's version.
func NewSnapshot(resource string, state any, fromSeq int64) Snapshot {
	return Snapshot{Resource: resource, State: encode(state), FromSeq: fromSeq}
}
