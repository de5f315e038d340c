package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// actions has an example of every action and its JSON.
var actions = []struct {
	action Action
	json   string
}{
	{TerminalData{"a\x1b[0m<\"é"}, `{"type":"terminal/data","data":"a\u001b[0m<\"é"}`},
	{TerminalOutput{"a"}, `{"type":"terminal/output","data":"a"}`},
	{TerminalInput{"ls\r"}, `{"type":"terminal/input","data":"ls\r"}`},
	{TerminalResized{80, 24}, `{"type":"terminal/resized","cols":80,"rows":24}`},
	{TerminalClaimed{Claim{Kind: ClaimClient, ClientID: "c"}}, `{"type":"terminal/claimed","claim":{"kind":"client","clientId":"c"}}`},
	{TerminalClaimed{Claim{Kind: ClaimSession, Session: "s:/1", Chat: "c:/1", TurnID: "t", ToolCallID: "k"}},
		`{"type":"terminal/claimed","claim":{"kind":"session","session":"s:/1","chat":"c:/1","turnId":"t","toolCallId":"k"}}`},
	{TerminalTitleChanged{""}, `{"type":"terminal/titleChanged","title":""}`},
	{TerminalCwdChanged{"file:///"}, `{"type":"terminal/cwdChanged","cwd":"file:///"}`},
	{TerminalExited{}, `{"type":"terminal/exited"}`},
	{TerminalExited{new(0)}, `{"type":"terminal/exited","exitCode":0}`},
	{TerminalCleared{}, `{"type":"terminal/cleared"}`},
	{TerminalCommandDetectionAvailable{}, `{"type":"terminal/commandDetectionAvailable"}`},
	{TerminalCommandExecuted{"c1", "make", 1700000000000},
		`{"type":"terminal/commandExecuted","commandId":"c1","commandLine":"make","timestamp":1700000000000}`},
	{TerminalCommandFinished{"c1", new(-1), new(int64(0))},
		`{"type":"terminal/commandFinished","commandId":"c1","exitCode":-1,"durationMs":0}`},
	{TerminalCommandFinished{CommandID: "c1"}, `{"type":"terminal/commandFinished","commandId":"c1"}`},
	{RootTerminalsChanged{[]TerminalInfo{}}, `{"type":"root/terminalsChanged","terminals":[]}`},
	{RootTerminalsChanged{[]TerminalInfo{{Resource: "t:/1", Claim: Claim{Kind: ClaimClient, ClientID: "c"}, Lifecycle: &Lifecycle{Exited, new(1)}}}},
		`{"type":"root/terminalsChanged","terminals":[{"resource":"t:/1","title":"","claim":{"kind":"client","clientId":"c"},"lifecycle":{"status":"exited","exitCode":1}}]}`},
	{RootAgentsChanged{[]json.RawMessage{raws(`{"any":1}`)}}, `{"type":"root/agentsChanged","agents":[{"any":1}]}`},
	{RootActiveSessionsChanged{0}, `{"type":"root/activeSessionsChanged","activeSessions":0}`},
	{RootConfigChanged{map[string]json.RawMessage{"a": raws("[1]")}, true}, `{"type":"root/configChanged","config":{"a":[1]},"replace":true}`},
	{SharingChanged{SharingState{Terminals: map[string]SharedTerminal{}, Requests: []SharingRequest{}}},
		`{"type":"sharing/changed","state":{"paused":false,"terminals":{},"requests":[]}}`},
	{SharingModeSet{"t:/1", "ask"}, `{"type":"sharing/modeSet","resource":"t:/1","mode":"ask"}`},
	{SharingPausedSet{false}, `{"type":"sharing/pausedSet","paused":false}`},
	{SharingRequestAnswered{"r1", "once"}, `{"type":"sharing/requestAnswered","request":"r1","answer":"once"}`},
	{Unknown{raws(`{"type":"future/a","n":1.50}`)}, `{"type":"future/a","n":1.50}`},
}

func TestActionsAreReadAndWritten(t *testing.T) {
	seen := map[string]bool{}
	for _, test := range actions {
		if got := AppendAction([]byte("before"), test.action); string(got) != "before"+test.json {
			t.Errorf("got %s, want %s", got, test.json)
		}
		got, err := UnmarshalAction([]byte(test.json))
		if err != nil {
			t.Errorf("%v in %s", err, test.json)
		} else if !reflect.DeepEqual(got, test.action) {
			t.Errorf("got %#v from %s, want %#v", got, test.json, test.action)
		}
		seen[test.action.Type()] = true
	}
	for kind := range readers {
		if !seen[kind] {
			t.Errorf("no example of %s", kind)
		}
	}
}

func TestUnmarshalActionIsStrict(t *testing.T) {
	for _, test := range []struct{ json, want string }{
		{`5`, "action must be an object"},
		{`null`, "action must be an object"},
		{`{}`, "type is missing"},
		{`{"type":null}`, "type is missing"},
		{`{"type":5}`, "type must be a string"},
		{`{"type":""}`, "type must not be empty"},
		{`{"type":"terminal/data"}`, "data is missing"},
		{`{"type":"terminal/data","data":null}`, "data is missing"},
		{`{"type":"terminal/data","data":["a"]}`, "data must be a string"},
		{`{"type":"terminal/input","Data":"x"}`, "data is missing"},
		{`{"type":"terminal/input","data":5}`, "data must be a string"},
		{`{"type":"terminal/resized","cols":80}`, "rows is missing"},
		{`{"type":"terminal/resized","cols":"80","rows":24}`, "cols must be an integer"},
		{`{"type":"terminal/resized","cols":80,"rows":24.5}`, "rows must be an integer"},
		{`{"type":"terminal/resized","cols":80,"rows":1e999}`, "rows must be an integer"},
		{`{"type":"terminal/claimed"}`, "claim is missing"},
		{`{"type":"terminal/claimed","claim":"me"}`, "claim must be an object"},
		{`{"type":"terminal/claimed","claim":{}}`, "claim.kind is missing"},
		{`{"type":"terminal/claimed","claim":{"kind":"other"}}`, `claim.kind must be "client" or "session"`},
		{`{"type":"terminal/claimed","claim":{"kind":"client"}}`, "claim.clientId is missing"},
		{`{"type":"terminal/claimed","claim":{"kind":"client","clientId":""}}`, "claim.clientId must not be empty"},
		{`{"type":"terminal/claimed","claim":{"kind":"session","clientId":"c"}}`, "claim.session is missing"},
		{`{"type":"terminal/claimed","claim":{"kind":"session","session":"s","turnId":1}}`, "claim.turnId must be a string"},
		{`{"type":"terminal/claimed","claim":{"kind":"session","session":"s","chat":{}}}`, "claim.chat must be a string"},
		{`{"type":"terminal/titleChanged","title":1}`, "title must be a string"},
		{`{"type":"terminal/cwdChanged"}`, "cwd is missing"},
		{`{"type":"terminal/exited","exitCode":"0"}`, "exitCode must be an integer"},
		{`{"type":"terminal/commandExecuted","commandId":"c","commandLine":"","timestamp":-1}`, "timestamp must be an integer of at least 0"},
		{`{"type":"terminal/commandFinished","commandId":"c","durationMs":1.5}`, "durationMs must be an integer of at least 0"},
		{`{"type":"root/terminalsChanged","terminals":{}}`, "terminals must be a list"},
		{`{"type":"root/terminalsChanged","terminals":[{"resource":"t","title":"","claim":{"kind":"client","clientId":"c"}},{"resource":"t","title":"","claim":{"kind":"x"}}]}`,
			`terminals[1].claim.kind must be "client" or "session"`},
		{`{"type":"root/agentsChanged","agents":5}`, "agents must be a list"},
		{`{"type":"root/activeSessionsChanged","activeSessions":true}`, "activeSessions must be an integer"},
		{`{"type":"root/configChanged","config":[]}`, "config must not be a array"},
		{`{"type":"root/configChanged","config":{},"replace":1}`, "replace must be true or false"},
		{`{"type":"sharing/changed"}`, "state is missing"},
		{`{"type":"sharing/modeSet","resource":"t:/1"}`, "mode is missing"},
		{`{"type":"sharing/pausedSet"}`, "paused is missing"},
		{`{"type":"sharing/pausedSet","paused":"yes"}`, "paused must be true or false"},
		{`{"type":"sharing/requestAnswered","request":1,"answer":"no"}`, "request must be a string"},
	} {
		action, err := UnmarshalAction([]byte(test.json))
		if err == nil {
			t.Errorf("got %#v from %s, want: %s", action, test.json, test.want)
		} else if err.Error() != test.want {
			t.Errorf("got %q for %s, want %q", err, test.json, test.want)
		}
	}
}

func TestUnmarshalActionIgnoresWhatItDoesNotKnow(t *testing.T) {
	for _, test := range []struct {
		json string
		want Action
	}{
		{`{"type":"terminal/input","data":"x","terminal":"ahp-terminal:/1"}`, TerminalInput{"x"}},
		{`{"type":"terminal/input","data":"x","terminal":{"any":1},"Data":"y","DATA":5}`, TerminalInput{"x"}},
		{`{"type":"terminal/exited","exitCode":null}`, TerminalExited{}},
		{`{"type":"terminal/claimed","claim":{"kind":"client","clientId":"c","session":"s","chat":5}}`,
			TerminalClaimed{Claim{Kind: ClaimClient, ClientID: "c"}}},
		{`{"type":"terminal/claimed","claim":{"kind":"session","session":"s","turnId":null}}`,
			TerminalClaimed{Claim{Kind: ClaimSession, Session: "s"}}},
	} {
		got, err := UnmarshalAction([]byte(test.json))
		if err != nil {
			t.Errorf("%v in %s", err, test.json)
		} else if got != test.want {
			t.Errorf("got %#v from %s, want %#v", got, test.json, test.want)
		}
	}
}

func TestEnvelope(t *testing.T) {
	for _, test := range []struct {
		envelope Envelope
		json     string
	}{
		{Envelope{Channel: "c", Action: TerminalCleared{}, ServerSeq: 1790000000000050},
			`{"channel":"c","action":{"type":"terminal/cleared"},"serverSeq":1790000000000050}`},
		{Envelope{"c", Unknown{raws(`{"a":1}`)}, 1, &Origin{"me", 4}, `not "yours"`},
			`{"channel":"c","action":{"a":1},"serverSeq":1,"origin":{"clientId":"me","clientSeq":4},"rejectionReason":"not \"yours\""}`},
		{Envelope{Channel: "c", Action: TerminalInput{"<"}, ServerSeq: 2, RejectionReason: "bad \xff byte"},
			`{"channel":"c","action":{"type":"terminal/input","data":"<"},"serverSeq":2,"rejectionReason":"bad ` + "\uFFFD" + ` byte"}`},
	} {
		if got := AppendEnvelope(nil, test.envelope); string(got) != test.json {
			t.Errorf("got %s, want %s", got, test.json)
		}
		if got := encode(test.envelope); string(got) != test.json {
			t.Errorf("got %s, want %s", got, test.json)
		}
	}
	for _, test := range []struct{ json, want string }{
		{`[]`, "the value must be an object"},
		{`{"channel":"c","serverSeq":1}`, "action is missing"},
		{`{"channel":"c","action":{"type":"terminal/data"},"serverSeq":1}`, "action.data is missing"},
		{`{"channel":"","action":{"type":"terminal/cleared"},"serverSeq":1}`, "channel must not be empty"},
		{`{"channel":"c","action":{"type":"terminal/cleared"},"serverSeq":-1}`, "serverSeq must be an integer of at least 0"},
		{`{"channel":"c","action":{"type":"terminal/cleared"},"serverSeq":1,"origin":{"clientId":"c"}}`, "origin.clientSeq is missing"},
		{`{"channel":"c","action":{"type":"terminal/cleared"},"serverSeq":1,"rejectionReason":5}`, "rejectionReason must be a string"},
	} {
		var e Envelope
		if err := e.UnmarshalJSON([]byte(test.json)); err == nil || err.Error() != test.want {
			t.Errorf("got %v for %s, want %q", err, test.json, test.want)
		}
	}
	// What was refused comes back as it was.
	for _, action := range []string{`{"type":"terminal/data"}`, `{"type":"terminal/input","data":7}`, `{}`} {
		var e Envelope
		refused := `{"channel":"c","action":` + action + `,"serverSeq":1,"rejectionReason":"no"}`
		if err := e.UnmarshalJSON([]byte(refused)); err != nil || string(AppendEnvelope(nil, e)) != refused {
			t.Errorf("%s is read as %+v, %v", refused, e, err)
		}
	}
}

// Whatever is read can be written, reads the same again, and does no harm to any state.
func FuzzUnmarshalAction(f *testing.F) {
	for _, seed := range actions {
		f.Add([]byte(seed.json))
	}
	f.Add([]byte(`{"type":"sharing/changed","state":{"terminals":{"t":{"created":"2026-11-21T14:00:00.5+23:59","watchers":[{}]}},"requests":[{"created":"0000-01-01T00:00:00Z"}]}}`))
	f.Add([]byte(`{"type":"root/configChanged","config":{"a":null}}`))
	f.Fuzz(func(t *testing.T, p []byte) {
		a, err := UnmarshalAction(p)
		if err != nil {
			return
		}
		for _, v := range []Version{{0, 5, 1}, {0, 6, 0}, {1, 0, 0}} {
			if rendered := AppendAction(nil, ActionFor(a, v)); !json.Valid(rendered) {
				t.Errorf("rendered for %v: %s", v, rendered)
			}
		}
		written := AppendAction(nil, a)
		again, err := UnmarshalAction(written)
		if err != nil {
			t.Fatalf("%v in %s", err, written)
		}
		if got := AppendAction(nil, again); string(got) != string(written) {
			t.Errorf("%s became %s", written, got)
		}
		terminal := TerminalState{Content: []Part{{Type: Command, CommandID: "c1"}}, Lifecycle: &Lifecycle{Status: Running}}
		root := RootState{Config: &RootConfig{}}
		var sharing SharingState
		for range 2 {
			ReduceTerminal(&terminal, a)
			ReduceRoot(&root, a)
			ReduceSharing(&sharing, a)
		}
		for _, v := range []Version{{0, 6, 0}, {1, 0, 0}} {
			encode(terminal.For(v))
			encode(root.For(v))
		}
		encode(sharing)
	})
}

// However deep the JSON of what a client dispatches is, it can be sent back.
func TestDeepActionsAreWritten(t *testing.T) {
	const depth = 9_990 // with what is around it, about as deep as encoding/json reads
	deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	for _, action := range []string{
		`{"type":"future/a","deep":` + deep + `}`,
		`{"type":"root/configChanged","config":{"deep":` + deep + `}}`,
		`{"type":"root/agentsChanged","agents":[` + deep + `]}`,
	} {
		m, malformed := Parse([]byte(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"c","clientSeq":1,"action":` + action + `}}`))
		if malformed != nil {
			t.Fatal(malformed)
		}
		p, malformed := ParseDispatchAction(m.Params)
		if malformed != nil {
			t.Fatal(malformed)
		}
		a, err := UnmarshalAction(p.Action)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendEnvelope(nil, Envelope{Channel: "c", Action: a, ServerSeq: 1, RejectionReason: "no"}); !bytes.Contains(got, []byte(deep)) {
			t.Errorf("%s was not sent back whole", a.Type())
		}
	}
}
