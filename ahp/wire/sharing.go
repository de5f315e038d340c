package wire

import "time"

// SharingChannel is an extension of this host for the person's own clients: who uses which terminal, and what the person
// decides about it.
const SharingChannel = "ahp-tandem:/sharing"

// SharingState is the state of the SharingChannel.
type SharingState struct {
	Paused    bool                      `json:"paused"`    // programs are paused
	Terminals map[string]SharedTerminal `json:"terminals"` // by resource
	Requests  []SharingRequest          `json:"requests"`  // oldest first
}

// SharedTerminal says who uses a terminal.
type SharedTerminal struct {
	ID       string    `json:"id"`   // for REST and the byte lane
	Mode     string    `json:"mode"` // "private", "watch", "ask" or "share"
	Created  time.Time `json:"created"`
	Maker    Party     `json:"maker"`
	Holder   Party     `json:"holder"`
	Watchers []Party   `json:"watchers"`
}

// Party is somebody who uses a terminal.
type Party struct {
	Kind   string `json:"kind"` // "person", "program" or, of a holder, "session"
	Name   string `json:"name"`
	Client string `json:"client,omitempty"` // client id, or the session's URI
}

// SharingRequest is a program's claim that waits for the person.
type SharingRequest struct {
	ID       string    `json:"id"`
	Resource string    `json:"resource"`
	Program  string    `json:"program"`           // its name
	Session  string    `json:"session,omitempty"` // URI, if a session is to hold the terminal
	Created  time.Time `json:"created"`
}

// SharingChanged is the whole state. Only hosts send it.
type SharingChanged struct {
	State SharingState `json:"state"`
}

// SharingModeSet sets a terminal's mode.
type SharingModeSet struct {
	Resource string `json:"resource"`
	Mode     string `json:"mode"`
}

// SharingPausedSet pauses programs, or lets them go on.
type SharingPausedSet struct {
	Paused bool `json:"paused"`
}

// SharingRequestAnswered answers a request.
type SharingRequestAnswered struct {
	Request string `json:"request"` // its ID
	Answer  string `json:"answer"`  // "once", "tab", "always" or "no"
}

// The types of the actions on the wire.
func (SharingChanged) Type() string         { return "sharing/changed" }
func (SharingModeSet) Type() string         { return "sharing/modeSet" }
func (SharingPausedSet) Type() string       { return "sharing/pausedSet" }
func (SharingRequestAnswered) Type() string { return "sharing/requestAnswered" }

func readSharingChanged(o *object) Action {
	return SharingChanged{required(o, "state", decoded[SharingState])}
}

func readSharingModeSet(o *object) Action {
	return SharingModeSet{Resource: required(o, "resource", text), Mode: required(o, "mode", text)}
}

func readSharingPausedSet(o *object) Action {
	return SharingPausedSet{required(o, "paused", boolean)}
}

func readSharingRequestAnswered(o *object) Action {
	return SharingRequestAnswered{Request: required(o, "request", text), Answer: required(o, "answer", text)}
}
