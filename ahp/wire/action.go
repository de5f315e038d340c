package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Action is something that changes, or asks to change, the state of a channel. Actions are values: one of the structs
// below.
type Action interface{ Type() string }

// Actions of terminals. Clients dispatch TerminalInput, TerminalResized, TerminalClaimed, TerminalTitleChanged and
// TerminalCleared; the host alone the others.
type (
	// TerminalData is output of the program.
	TerminalData struct {
		Data string `json:"data"`
	}
	// TerminalInput is input for the program. It changes no state.
	TerminalInput struct {
		Data string `json:"data"`
	}
	// TerminalResized is a size, in cells.
	TerminalResized struct {
		Cols int `json:"cols"`
		Rows int `json:"rows"`
	}
	// TerminalClaimed says who holds the terminal now.
	TerminalClaimed struct {
		Claim Claim `json:"claim"`
	}
	// TerminalTitleChanged is a new title.
	TerminalTitleChanged struct {
		Title string `json:"title"`
	}
	// TerminalCwdChanged is a new current directory, as a URI.
	TerminalCwdChanged struct {
		Cwd string `json:"cwd"`
	}
	// TerminalExited says that the process has ended; ExitCode is nil if nobody knows how.
	TerminalExited struct {
		ExitCode *int `json:"exitCode,omitempty"`
	}
	// TerminalCleared drops the content.
	TerminalCleared struct{}
	// TerminalCommandDetectionAvailable says that the shell tells where commands begin and end.
	TerminalCommandDetectionAvailable struct{}
	// TerminalCommandExecuted begins a command. Timestamp is Unix time in milliseconds.
	TerminalCommandExecuted struct {
		CommandID   string `json:"commandId"`
		CommandLine string `json:"commandLine"`
		Timestamp   int64  `json:"timestamp"`
	}
	// TerminalCommandFinished ends a command.
	TerminalCommandFinished struct {
		CommandID  string `json:"commandId"`
		ExitCode   *int   `json:"exitCode,omitempty"`
		DurationMs *int64 `json:"durationMs,omitempty"`
	}
)

// Actions of the root channel.
type (
	// RootTerminalsChanged is the whole list of terminals.
	RootTerminalsChanged struct {
		Terminals []TerminalInfo `json:"terminals"`
	}
	// RootAgentsChanged is the whole list of agents.
	RootAgentsChanged struct {
		Agents []json.RawMessage `json:"agents"`
	}
	// RootActiveSessionsChanged is how many sessions are active.
	RootActiveSessionsChanged struct {
		ActiveSessions int `json:"activeSessions"`
	}
	// RootConfigChanged sets some values of the configuration, or, to replace, all.
	RootConfigChanged struct {
		Config  map[string]json.RawMessage `json:"config"`
		Replace bool                       `json:"replace,omitempty"`
	}
)

// Actions of the sharing channel, which is an extension. Clients dispatch all but the first.
type (
	// SharingChanged is the whole state.
	SharingChanged struct {
		State SharingState `json:"state"`
	}
	// SharingModeSet sets what programs may do at a terminal.
	SharingModeSet struct {
		Resource string `json:"resource"`
		Mode     string `json:"mode"`
	}
	// SharingPausedSet pauses all programs, or lets them go on.
	SharingPausedSet struct {
		Paused bool `json:"paused"`
	}
	// SharingRequestAnswered answers a program that asked: "once", "tab", "always" or "no".
	SharingRequestAnswered struct {
		Request string `json:"request"`
		Answer  string `json:"answer"`
	}
)

// Unknown is an action of a type that this package does not know. It is written as it was read.
type Unknown struct{ Raw json.RawMessage }

func (TerminalData) Type() string                      { return "terminal/data" }
func (TerminalInput) Type() string                     { return "terminal/input" }
func (TerminalResized) Type() string                   { return "terminal/resized" }
func (TerminalClaimed) Type() string                   { return "terminal/claimed" }
func (TerminalTitleChanged) Type() string              { return "terminal/titleChanged" }
func (TerminalCwdChanged) Type() string                { return "terminal/cwdChanged" }
func (TerminalExited) Type() string                    { return "terminal/exited" }
func (TerminalCleared) Type() string                   { return "terminal/cleared" }
func (TerminalCommandDetectionAvailable) Type() string { return "terminal/commandDetectionAvailable" }
func (TerminalCommandExecuted) Type() string           { return "terminal/commandExecuted" }
func (TerminalCommandFinished) Type() string           { return "terminal/commandFinished" }
func (RootTerminalsChanged) Type() string              { return "root/terminalsChanged" }
func (RootAgentsChanged) Type() string                 { return "root/agentsChanged" }
func (RootActiveSessionsChanged) Type() string         { return "root/activeSessionsChanged" }
func (RootConfigChanged) Type() string                 { return "root/configChanged" }
func (SharingChanged) Type() string                    { return "sharing/changed" }
func (SharingModeSet) Type() string                    { return "sharing/modeSet" }
func (SharingPausedSet) Type() string                  { return "sharing/pausedSet" }
func (SharingRequestAnswered) Type() string            { return "sharing/requestAnswered" }

// Type returns the type that the action gives itself, or "".
func (u Unknown) Type() string {
	var named struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(u.Raw, &named)
	return named.Type
}

// readers read the fields of each known type.
var readers = map[string]func([]byte) (Action, error){
	"terminal/data":                      read[TerminalData]("data"),
	"terminal/input":                     read[TerminalInput]("data"),
	"terminal/resized":                   read[TerminalResized]("cols", "rows"),
	"terminal/claimed":                   read[TerminalClaimed]("claim"),
	"terminal/titleChanged":              read[TerminalTitleChanged]("title"),
	"terminal/cwdChanged":                read[TerminalCwdChanged]("cwd"),
	"terminal/exited":                    read[TerminalExited](),
	"terminal/cleared":                   read[TerminalCleared](),
	"terminal/commandDetectionAvailable": read[TerminalCommandDetectionAvailable](),
	"terminal/commandExecuted":           read[TerminalCommandExecuted]("commandId", "commandLine", "timestamp"),
	"terminal/commandFinished":           read[TerminalCommandFinished]("commandId"),
	"root/terminalsChanged":              read[RootTerminalsChanged]("terminals"),
	"root/agentsChanged":                 read[RootAgentsChanged]("agents"),
	"root/activeSessionsChanged":         read[RootActiveSessionsChanged]("activeSessions"),
	"root/configChanged":                 read[RootConfigChanged]("config"),
	"sharing/changed":                    read[SharingChanged]("state"),
	"sharing/modeSet":                    read[SharingModeSet]("resource", "mode"),
	"sharing/pausedSet":                  read[SharingPausedSet]("paused"),
	"sharing/requestAnswered":            read[SharingRequestAnswered]("request", "answer"),
}

// read returns a reader for actions of type T that have all the required fields.
func read[T Action](required ...string) func([]byte) (Action, error) {
	return func(p []byte) (Action, error) {
		var action T
		if err := decode(p, &action, required...); err != nil {
			return nil, fmt.Errorf("%s: %s", action.Type(), err.Message)
		}
		return action, nil
	}
}

// UnmarshalAction reads an action. One of an unknown type is an Unknown; an error says what is wrong with one of a known
// type, or that there is no type.
func UnmarshalAction(p []byte) (Action, error) {
	var named struct {
		Type *string `json:"type"`
	}
	if json.Unmarshal(p, &named) != nil || named.Type == nil {
		return nil, fmt.Errorf("an action is an object with a type")
	}
	if read := readers[*named.Type]; read != nil {
		return read(p)
	}
	return Unknown{append(json.RawMessage(nil), p...)}, nil
}

// AppendAction appends an action as JSON.
func AppendAction(dst []byte, a Action) []byte {
	if u, ok := a.(Unknown); ok {
		return append(dst, u.Raw...)
	}
	dst = append(dst, `{"type":`...)
	dst = AppendString(dst, []byte(a.Type()))
	fields := appendJSON(nil, a) // an object
	if len(fields) > len(`{}`) {
		dst = append(dst, ',')
	}
	return append(dst, fields[1:]...)
}

// Envelope carries an action on a channel.
type Envelope struct {
	Channel         string
	Action          Action
	ServerSeq       int64   // the host's number of the event
	Origin          *Origin // nil for the host's own
	RejectionReason string  // why the host did not do it; "" if it did
}

// Origin says which client dispatched an action, and that client's own number for it.
type Origin struct {
	ClientID  string `json:"clientId"`
	ClientSeq int64  `json:"clientSeq"`
}

// AppendEnvelope appends an envelope as JSON.
func AppendEnvelope(dst []byte, e Envelope) []byte {
	dst = append(dst, `{"channel":`...)
	dst = AppendString(dst, []byte(e.Channel))
	dst = append(dst, `,"action":`...)
	dst = AppendAction(dst, e.Action)
	dst = append(dst, `,"serverSeq":`...)
	dst = strconv.AppendInt(dst, e.ServerSeq, 10)
	if e.Origin != nil {
		dst = append(dst, `,"origin":`...)
		dst = appendJSON(dst, e.Origin)
	}
	if e.RejectionReason != "" {
		dst = append(dst, `,"rejectionReason":`...)
		dst = appendJSON(dst, e.RejectionReason)
	}
	return append(dst, '}')
}

// MarshalJSON writes the envelope.
func (e Envelope) MarshalJSON() ([]byte, error) { return AppendEnvelope(nil, e), nil }

// UnmarshalJSON reads an envelope.
func (e *Envelope) UnmarshalJSON(p []byte) error {
	var raw struct {
		Channel         string          `json:"channel"`
		Action          json.RawMessage `json:"action"`
		ServerSeq       int64           `json:"serverSeq"`
		Origin          *Origin         `json:"origin"`
		RejectionReason string          `json:"rejectionReason"`
	}
	if err := json.Unmarshal(p, &raw); err != nil {
		return fmt.Errorf("reading an envelope: %w", err)
	}
	action, err := UnmarshalAction(raw.Action)
	if err != nil {
		return err
	}
	*e = Envelope{raw.Channel, action, raw.ServerSeq, raw.Origin, raw.RejectionReason}
	return nil
}
