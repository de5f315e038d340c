package wire

import "encoding/json"

// Action is something that happened on a channel, or that a client wants to happen. The action types of this package are
// all values, not pointers, and their JSON is AppendAction's.
type Action interface {
	// Type returns the action's type on the wire, as in "terminal/data".
	Type() string
}

// Unknown is an action of a type that is not spoken here. It goes on as it came.
type Unknown struct {
	Raw json.RawMessage // valid JSON
}

// Type returns the action's type, or "" if it has none.
func (a Unknown) Type() string {
	o, err := parseObject(a.Raw)
	if err != nil {
		return ""
	}
	return orZero(optional(o, "type", text))
}

// readers has, for each known type, what reads its actions.
var readers = map[string]func(*object) Action{
	TerminalData{}.Type():                      readTerminalData,
	TerminalOutput{}.Type():                    readTerminalOutput,
	TerminalInput{}.Type():                     readTerminalInput,
	TerminalResized{}.Type():                   readTerminalResized,
	TerminalClaimed{}.Type():                   readTerminalClaimed,
	TerminalTitleChanged{}.Type():              readTerminalTitleChanged,
	TerminalCwdChanged{}.Type():                readTerminalCwdChanged,
	TerminalExited{}.Type():                    readTerminalExited,
	TerminalCleared{}.Type():                   readTerminalCleared,
	TerminalCommandDetectionAvailable{}.Type(): readTerminalCommandDetectionAvailable,
	TerminalCommandExecuted{}.Type():           readTerminalCommandExecuted,
	TerminalCommandFinished{}.Type():           readTerminalCommandFinished,
	RootTerminalsChanged{}.Type():              readRootTerminalsChanged,
	RootAgentsChanged{}.Type():                 readRootAgentsChanged,
	RootActiveSessionsChanged{}.Type():         readRootActiveSessionsChanged,
	RootConfigChanged{}.Type():                 readRootConfigChanged,
	SharingChanged{}.Type():                    readSharingChanged,
	SharingModeSet{}.Type():                    readSharingModeSet,
	SharingPausedSet{}.Type():                  readSharingPausedSet,
	SharingRequestAnswered{}.Type():            readSharingRequestAnswered,
}

// UnmarshalAction returns the action in p. It is an error if p is no object with a type, or if the type is known and
// members are missing or of a wrong type; the error names the member. Nothing in the Action shares memory with p.
//
// A member "terminal", with which earlier versions named the channel, is ignored like others that are not known.
func UnmarshalAction(p []byte) (Action, error) {
	o, err := parseObject(p)
	if err != nil {
		return nil, inside("action", err)
	}
	kind := required(o, "type", name)
	if o.err != nil {
		return nil, o.err
	}
	read, ok := readers[kind]
	if !ok {
		return Unknown{Raw: append(json.RawMessage(nil), p...)}, nil
	}
	a := read(o)
	if o.err != nil {
		return nil, o.err
	}
	return a, nil
}

// AppendAction appends the action's JSON.
func AppendAction(dst []byte, a Action) []byte {
	switch a := a.(type) {
	case Unknown:
		return append(dst, a.Raw...)
	case TerminalData:
		dst = append(dst, `{"type":"terminal/data","data":`...)
		return append(appendText(dst, a.Data), '}')
	case TerminalOutput:
		dst = append(dst, `{"type":"terminal/output","data":`...)
		return append(appendText(dst, a.Data), '}')
	}
	members := encode(a)
	dst = append(dst, `{"type":`...)
	dst = appendText(dst, a.Type())
	if len(members) > len("{}") {
		dst = append(dst, ',')
	}
	return append(dst, members[1:]...)
}
