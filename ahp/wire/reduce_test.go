package wire

import (
	"encoding/json"
	"testing"
)

// A command that was cleared away takes no output any more, and its end finds nothing.
func TestClearDuringACommand(t *testing.T) {
	s := TerminalState{Content: []Part{}}
	for _, a := range []Action{
		TerminalData{"$ "}, TerminalCommandExecuted{"c1", "make", 5}, TerminalData{"one"}, TerminalCleared{},
		TerminalData{"two"}, TerminalCommandFinished{"c1", new(0), nil}, TerminalData{"$ "},
	} {
		ReduceTerminal(&s, a)
	}
	want := `{"title":"","content":[{"type":"unclassified","value":"two$ "}],"claim":{"kind":""},"supportsCommandDetection":true}`
	if got := string(encode(s)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReducersLeaveWhatIsNotTheirs(t *testing.T) {
	for _, a := range []Action{
		RootTerminalsChanged{}, SharingChanged{}, SharingPausedSet{true}, TerminalInput{"x"}, Unknown{raws(`{"type":"terminal/new"}`)},
	} {
		s := TerminalState{Title: "a", Content: []Part{{Type: Unclassified, Value: "x"}}}
		before := string(encode(s))
		ReduceTerminal(&s, a)
		if got := string(encode(s)); got != before {
			t.Errorf("%s changed %s to %s", a.Type(), before, got)
		}
	}
	root := RootState{Agents: []json.RawMessage{}}
	ReduceRoot(&root, TerminalCleared{})
	if got := string(encode(root)); got != `{"agents":[]}` {
		t.Errorf("a terminal's action made the root %s", got)
	}
	sharing := SharingState{Paused: true}
	ReduceSharing(&sharing, SharingPausedSet{false})
	if !sharing.Paused {
		t.Error("what a client asks for changed the sharing state by itself")
	}
}

// A copy of a state that was made before keeps its values.
func TestConfigChangeSharesNothing(t *testing.T) {
	s := RootState{Config: &RootConfig{Values: map[string]json.RawMessage{"theme": raws(`"light"`)}}}
	before := s
	ReduceRoot(&s, RootConfigChanged{Config: map[string]json.RawMessage{"theme": raws(`"dark"`)}})
	if got := string(s.Config.Values["theme"]); got != `"dark"` {
		t.Errorf("the theme is %s", got)
	}
	if got := string(before.Config.Values["theme"]); got != `"light"` {
		t.Errorf("the copy's theme is %s", got)
	}
}

func TestReduceSharing(t *testing.T) {
	var s SharingState
	ReduceSharing(&s, SharingChanged{SharingState{Paused: true, Requests: []SharingRequest{{ID: "r"}}}})
	if !s.Paused || len(s.Requests) != 1 {
		t.Errorf("got %+v", s)
	}
}

func TestPartsAreStrict(t *testing.T) {
	for _, test := range []struct{ json, want string }{
		{`{"type":"unclassified"}`, "value is missing"},
		{`{"type":"picture"}`, `type must be "unclassified" or "command"`},
		{`{"type":"command","commandId":"c","commandLine":"l","output":"o","timestamp":1}`, "isComplete is missing"},
		{`{"type":"command","commandId":"c","commandLine":"l","output":5,"timestamp":1,"isComplete":true}`, "output must be a string"},
	} {
		var p Part
		if err := p.UnmarshalJSON([]byte(test.json)); err == nil || err.Error() != test.want {
			t.Errorf("got %v for %s, want %q", err, test.json, test.want)
		}
	}
}

func TestIsRoot(t *testing.T) {
	for uri, want := range map[string]bool{
		"ahp-root://": true, "ahp-root:": true, "agenthost:/root": true, "agenthost:/root/": true,
		"ahp-root://x": false, "agenthost:/terminal/1": false, "": false,
	} {
		if got := IsRoot(uri); got != want {
			t.Errorf("%q: %v", uri, got)
		}
	}
}
