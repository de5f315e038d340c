package wire

import (
	"strings"
	"testing"
)

var (
	v051 = Version{0, 5, 1}
	v08  = Version{0, 8, 9}
	v09  = Version{0, 9, 0}
	v1   = Version{1, 0, 0}
)

func TestExitFor(t *testing.T) {
	const holder = `"title":"","content":[],"claim":{"kind":"client","clientId":"c"}`
	for _, test := range []struct {
		name           string
		state          TerminalState
		before09, from string
	}{
		{"running", TerminalState{Lifecycle: &Lifecycle{Status: Running}}, ``, `,"lifecycle":{"status":"running"}`},
		{"exited", TerminalState{Lifecycle: &Lifecycle{Exited, new(0)}}, `,"exitCode":0`, `,"lifecycle":{"status":"exited","exitCode":0}`},
		{"exited without a code", TerminalState{Lifecycle: &Lifecycle{Exited, nil}}, `,"exitCode":-1`, `,"lifecycle":{"status":"exited"}`},
		{"old form, running", TerminalState{}, ``, `,"lifecycle":{"status":"running"}`},
		{"old form, exited", TerminalState{ExitCode: new(3)}, `,"exitCode":3`, `,"lifecycle":{"status":"exited","exitCode":3}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.state.Content = []Part{}
			test.state.Claim = Claim{Kind: ClaimClient, ClientID: "c"}
			for _, v := range []Version{v051, v08, v09, v1} {
				want := `{` + holder + test.before09 + `}`
				if v.AtLeast(0, 9, 0) {
					want = `{` + holder + test.from + `}`
				}
				rendered := test.state.For(v)
				if got := string(encode(rendered)); got != want {
					t.Errorf("%v: got %s, want %s", v, got, want)
				}
				if got := string(encode(rendered.For(v))); got != want {
					t.Errorf("%v, twice: got %s, want %s", v, got, want)
				}
			}
		})
	}
}

func TestClaimFor(t *testing.T) {
	session := Claim{Kind: ClaimSession, Session: "copilot:/s1?>", TurnID: "t"}
	for _, test := range []struct {
		claim Claim
		v     Version
		chat  string
	}{
		{session, v1, "ahp-chat://default/Y29waWxvdDovczE_Pg"},
		{session, v09, "ahp-chat://default/Y29waWxvdDovczE_Pg"},
		{session, v08, ""},
		{Claim{Kind: ClaimSession, Session: "s", Chat: "c:/1"}, v1, "c:/1"},
		{Claim{Kind: ClaimSession, Session: "s", Chat: "c:/1"}, v08, ""},
		{Claim{Kind: ClaimClient, ClientID: "c"}, v1, ""},
		{Claim{Kind: ClaimClient, ClientID: "c"}, v08, ""},
	} {
		want := test.claim
		want.Chat = test.chat
		if got := test.claim.For(test.v); got != want {
			t.Errorf("%v: got %+v, want %+v", test.v, got, want)
		}
	}
}

func TestActionFor(t *testing.T) {
	list := RootTerminalsChanged{[]TerminalInfo{{
		Resource: "t:/1", Claim: Claim{Kind: ClaimSession, Session: "s", Chat: "c"}, Lifecycle: &Lifecycle{Exited, new(1)},
	}}}
	before := string(AppendAction(nil, list))
	for _, test := range []struct {
		action Action
		v      Version
		want   string
	}{
		{list, v08, `{"type":"root/terminalsChanged","terminals":[{"resource":"t:/1","title":"","claim":{"kind":"session","session":"s"},"exitCode":1}]}`},
		{list, v1, before},
		{RootTerminalsChanged{[]TerminalInfo{}}, v08, `{"type":"root/terminalsChanged","terminals":[]}`},
		{TerminalClaimed{Claim{Kind: ClaimSession, Session: "s", Chat: "c"}}, v08, `{"type":"terminal/claimed","claim":{"kind":"session","session":"s"}}`},
		{TerminalExited{}, v08, `{"type":"terminal/exited","exitCode":-1}`},
		{TerminalExited{}, v1, `{"type":"terminal/exited"}`},
		{TerminalExited{new(2)}, v08, `{"type":"terminal/exited","exitCode":2}`},
		{TerminalData{"x"}, v08, `{"type":"terminal/data","data":"x"}`},
	} {
		if got := string(AppendAction(nil, ActionFor(test.action, test.v))); got != test.want {
			t.Errorf("%v: got %s, want %s", test.v, got, test.want)
		}
	}
	if after := string(AppendAction(nil, list)); after != before {
		t.Errorf("rendering changed the neutral form: %s", after)
	}
}

// A 0.6 client takes any state with the key lifecycle for a session's.
func TestNoLifecycleBefore09(t *testing.T) {
	info := TerminalInfo{Claim: Claim{Kind: ClaimClient, ClientID: "c"}, Lifecycle: &Lifecycle{Exited, new(1)}}
	root := RootState{Terminals: []TerminalInfo{info}}
	for _, v := range []Version{v051, {0, 6, 0}, v08} {
		if got := string(encode(root.For(v))); strings.Contains(got, "lifecycle") {
			t.Errorf("%v: %s", v, got)
		}
	}
	if got := RootState(RootState{}).For(v08); got.Terminals != nil {
		t.Errorf("an absent list became %v", got.Terminals)
	}
}
