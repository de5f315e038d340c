package ahp

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"tandem/ahp/wire"
)

// These are points of the acceptance list of the protocol's host reference, with their numbers, and the rows of its
// tables.

// 1
func TestPingIsAnsweredWithNullAlsoBeforeInitialize(t *testing.T) {
	s := newWorld(t, nil).open("person")
	for _, params := range []string{``, `,"params":null`, `,"params":{}`, `,"params":{"channel":"ahp-root://","other":[1]}`} {
		s.say(`{"jsonrpc":"2.0","id":7,"method":"ping"%s}`, params)
		if f := s.hear(); f.Text != `{"jsonrpc":"2.0","id":7,"result":null}` {
			t.Errorf("ping with %q: %s", params, f.Text)
		}
	}
	s.initialize("desk", "1.0.0", RootChannel)
	s.null(s.call("ping", `{"channel":"ahp-root://"}`))
}

// 2
func TestRequestBeforeInitializeFailsAndTheConnectionLives(t *testing.T) {
	s := newWorld(t, nil).open("person")
	for _, method := range []string{"subscribe", "createTerminal", "disposeTerminal", "listSessions", "resourceList", "nonsense"} {
		s.refused(s.call(method, `{"channel":"ahp-root://"}`), wire.InvalidRequest, "not initialized")
	}
	s.dispatch("ahp-root://", `{"type":"root/configChanged","config":{}}`) // ignored
	s.say(`{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"ahp-root://"}}`)
	s.sync()
	s.initialize("desk", "1.0.0")
	if len(s.seen) > 0 {
		t.Errorf("actions before any subscription: %v", s.seen)
	}
}

// 3
func TestTheHighestOfferedVersionThatIsSpokenIsChosen(t *testing.T) {
	w := newWorld(t, nil)
	for _, c := range []struct {
		offered string // JSON
		chosen  string // "" for an error
		code    int
	}{
		{`["0.6.0","1.0.0"]`, "1.0.0", 0},
		{`["1.1.0","1.0.0","0.10.0","0.9.0","0.6.0"]`, "1.1.0", 0},
		{`["0.5.2","0.6.0"]`, "0.6.0", 0},
		{`["0.6.0","0.5.2","0.5.1"]`, "0.6.0", 0},
		{`["0.5.1"]`, "0.5.1", 0},
		{`["0.7.0"]`, "0.7.0", 0},
		{`["0.8.3","0.9.0"]`, "0.9.0", 0},
		{`["0.9.0","0.10.0"]`, "0.10.0", 0}, // by numbers, not by letters
		{`["1.7.0"]`, "1.7.0", 0},
		{`["999.0.0","2.0.0","0.6.12"]`, "0.6.12", 0},
		{`["999.0.0"]`, "", wire.UnsupportedProtocolVersion},
		{`["0.5.0","0.11.0","2.0.0"]`, "", wire.UnsupportedProtocolVersion},
		{`[]`, "", wire.UnsupportedProtocolVersion},
		{`["01.0.0"]`, "", wire.InvalidParams},
		{`["1.0.0","1.0"]`, "", wire.InvalidParams},
		{`["1.0.0-rc.1"]`, "", wire.InvalidParams},
		{`["1.0.0",1]`, "", wire.InvalidParams},
		{`"1.0.0"`, "", wire.InvalidParams},
	} {
		s := w.open("person")
		f := s.call("initialize", fmt.Sprintf(`{"channel":"ahp-root://","clientId":"desk","protocolVersions":%s}`, c.offered))
		if c.chosen == "" {
			s.refused(f, c.code, "ersion")
			continue
		}
		var result wire.InitializeResult
		s.result(f, &result)
		if result.ProtocolVersion != c.chosen {
			t.Errorf("of %s chose %q, want %q", c.offered, result.ProtocolVersion, c.chosen)
		}
	}
}

// 4
func TestUnsupportedVersionNamesTheSupportedOnesAndThenClosesTheSocket(t *testing.T) {
	for _, offered := range []string{`["999.0.0"]`, `[]`} {
		s := newWorld(t, nil).open("person")
		f := s.call("initialize", `{"channel":"ahp-root://","clientId":"desk","protocolVersions":`+offered+`}`)
		s.refused(f, wire.UnsupportedProtocolVersion, "")
		var data struct{ SupportedVersions []string }
		if err := json.Unmarshal(f.Error.Data, &data); err != nil || !slices.Equal(data.SupportedVersions,
			[]string{"^1.0.0", "^0.10.0", "^0.9.0", "^0.8.0", "^0.7.0", "^0.6.0", "^0.5.1"}) {
			t.Errorf("data %s: %v", f.Error.Data, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, p, err := s.conn.Read(ctx)
		cancel()
		if code := websocket.CloseStatus(err); code != websocket.StatusNormalClosure {
			t.Errorf("after the error: %q, %v", p, err)
		}
	}
}

// 5
func TestWithoutInitialSubscriptionsThereAreNoSnapshotsAndNoActions(t *testing.T) {
	w := newWorld(t, nil)
	for i, subscriptions := range []string{``, `,"initialSubscriptions":[]`, `,"initialSubscriptions":null`} {
		s := w.open("person")
		f := s.call("initialize", `{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"desk"`+subscriptions+`}`)
		var result map[string]json.RawMessage
		s.result(f, &result)
		if string(result["snapshots"]) != "[]" {
			t.Errorf("with %q: %s", subscriptions, f.Result)
		}
		s.null(s.call("createTerminal", fmt.Sprintf(`{"channel":"ahp-terminal:/%d","claim":{"kind":"client","clientId":"desk"}}`, i)))
		s.sync()
		if len(s.seen) > 0 {
			t.Errorf("with %q: %v", subscriptions, s.seen)
		}
	}
}

// 6
func TestInitialSubscriptionsGiveSnapshotsInTheOrderAskedFor(t *testing.T) {
	w := newWorld(t, nil)
	first := w.join("person", "desk")
	first.create("ahp-terminal:/a", "desk")
	first.subscribe("ahp-terminal:/a")
	first.input("ahp-terminal:/a", "echo $((6*7))-here\r")
	first.untilText("ahp-terminal:/a", "42-here")
	s := w.open("person")
	result := s.initialize("desk", "1.0.0", "ahp-terminal:/a", RootChannel)
	if len(result.Snapshots) != 2 || result.Snapshots[0].Resource != "ahp-terminal:/a" || result.Snapshots[1].Resource != RootChannel {
		t.Fatalf("snapshots %v", result.Snapshots)
	}
	for _, snapshot := range result.Snapshots {
		if snapshot.FromSeq != result.ServerSeq {
			t.Errorf("%s from %d, the host is at %d", snapshot.Resource, snapshot.FromSeq, result.ServerSeq)
		}
	}
	if text := s.Text("ahp-terminal:/a"); !strings.Contains(text, "42-here") {
		t.Errorf("text %q", text)
	}
	if len(s.Root.Terminals) != 1 {
		t.Errorf("root %v", s.Root)
	}
	first.input("ahp-terminal:/a", "echo $((6*7))-there\r") // it is subscribed, too
	s.untilText("ahp-terminal:/a", "42-there")
}

// 7
func TestUnknownInitialSubscriptionIsLeftOut(t *testing.T) {
	w := newWorld(t, nil)
	s := w.open("person")
	result := s.initialize("desk", "1.0.0", "ahp-terminal:/later", "ahp-session:/none", RootChannel, "not a URI")
	if len(result.Snapshots) != 1 || result.Snapshots[0].Resource != RootChannel {
		t.Errorf("snapshots %v", result.Snapshots)
	}
	s.null(s.call("createTerminal", `{"channel":"ahp-terminal:/later","claim":{"kind":"client","clientId":"desk"}}`))
	s.input("ahp-terminal:/later", "exit\r")
	for len(s.Root.Terminals) == 0 || s.Root.Terminals[0].Lifecycle.Status != wire.Exited {
		s.hear()
	}
	for _, e := range s.seen {
		if e.Channel != RootChannel {
			t.Errorf("an action on a channel that could not be subscribed: %v", e)
		}
	}
}

func TestSecondInitializeFailsAndChangesNothing(t *testing.T) {
	w := newWorld(t, nil)
	s := w.enter("person", "desk", "0.6.0", RootChannel)
	for _, method := range []string{"initialize", "reconnect"} {
		f := s.call(method, `{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"another","lastSeenServerSeq":0,"subscriptions":[]}`)
		s.refused(f, wire.InvalidRequest, "already initialized")
	}
	s.null(s.call("createTerminal", `{"channel":"ahp-terminal:/a","claim":{"kind":"client","clientId":"desk"}}`))
	if len(s.Root.Terminals) != 1 || strings.Contains(strings.Join(s.frames, ""), "lifecycle") {
		t.Errorf("after a second handshake: %s", s.frames)
	}
}

func TestInitializeThatFailedCanBeRepeated(t *testing.T) {
	s := newWorld(t, nil).open("person")
	for _, params := range []string{
		`{"channel":"ahp-root://","protocolVersions":["1.0.0"]}`,
		`{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":""}`,
		`{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":7}`,
		`{"channel":"ahp-root://","clientId":"desk"}`,
		`{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"token-t1"}`, // a program's
		`[]`,
	} {
		s.refused(s.call("initialize", params), wire.InvalidParams, "")
	}
	if result := s.initialize("desk", "1.0.0", RootChannel); len(result.Snapshots) != 1 {
		t.Errorf("%v", result)
	}
}

func TestHandshakeSaysWhatTheVersionKnows(t *testing.T) {
	w := newWorld(t, nil)
	for version, info := range map[string]string{"0.5.1": "", "0.5.2": `{"name":"tandem","version":"test"}`, "1.0.0": `{"name":"tandem","version":"test"}`} {
		s := w.open("person")
		var result map[string]json.RawMessage
		s.result(s.call("initialize", fmt.Sprintf(`{"channel":"ahp-root://","protocolVersions":[%q],"clientId":"desk"}`, version)), &result)
		if got := string(result["serverInfo"]); got != info {
			t.Errorf("%s: serverInfo %s, want %s", version, got, info)
		}
		if got := string(result["defaultDirectory"]); got != fmt.Sprintf("%q", fileURI(w.sharing.Dir())) {
			t.Errorf("%s: defaultDirectory %s", version, got)
		}
	}
}

// lifecycleTold collects what sockets of a version are told of a terminal from its start to its end: two snapshots, a
// replay and everything between.
func (w *world) lifecycleTold(name, version string) (frames []string, snapshots []map[string]json.RawMessage) {
	t := w.t
	t.Helper()
	channel := "ahp-terminal:/" + name
	s := w.enter("claude", name, version, RootChannel)
	s.null(s.call("createTerminal", fmt.Sprintf(`{"channel":%q,"claim":{"kind":"client","clientId":%q}}`, channel, name)))
	snapshots = append(snapshots, rawState(t, s.subscribe(channel, "")))
	away := s.LastSeen
	s.dispatch(channel, `{"type":"terminal/claimed","claim":{"kind":"session","session":"ahp-session:/1","turnId":"u","toolCallId":"k"}}`)
	s.dispatch(channel, `{"type":"terminal/resized","cols":100,"rows":30}`)
	s.dispatch(channel, `{"type":"terminal/data","data":"forged"}`)
	s.input(channel, "exit 5\r")
	s.until("terminal/exited")
	s.sync()
	snapshots = append(snapshots, rawState(t, s.subscribe(channel, "")), rawState(t, s.subscribe(RootChannel, "")))
	_ = s.conn.CloseNow()
	back := w.open("claude")
	back.reconnect(name, away, channel, RootChannel)
	if last := back.frames[len(back.frames)-1]; !strings.Contains(last, `"type":"replay"`) || !strings.Contains(last, "terminal/exited") {
		t.Errorf("%s: reconnected with %s", version, last)
	}
	return append(s.frames, back.frames...), snapshots
}

// 23
func TestLifecycleIsToldFromVersion09OnAndOnlyThen(t *testing.T) {
	w := newWorld(t, nil)
	for i, version := range []string{"0.5.1", "0.6.0", "0.8.0"} {
		frames, snapshots := w.lifecycleTold(fmt.Sprint("old", i), version)
		for _, f := range frames {
			if strings.Contains(f, `"lifecycle"`) || strings.Contains(f, `"chat"`) {
				t.Errorf("%s is told %s", version, f)
			}
		}
		if _, exited := snapshots[0]["exitCode"]; exited || string(snapshots[1]["exitCode"]) != "5" {
			t.Errorf("%s: exit codes %s and %s", version, snapshots[0]["exitCode"], snapshots[1]["exitCode"])
		}
		if list := string(snapshots[2]["terminals"]); !strings.Contains(list, `"exitCode":5`) {
			t.Errorf("%s: list %s", version, list)
		}
	}
	for i, version := range []string{"0.9.0", "0.10.0", "1.0.0"} {
		frames, snapshots := w.lifecycleTold(fmt.Sprint("new", i), version)
		if running, exited := string(snapshots[0]["lifecycle"]), string(snapshots[1]["lifecycle"]); running != `{"status":"running"}` ||
			exited != `{"status":"exited","exitCode":5}` {
			t.Errorf("%s: lifecycles %s and %s", version, running, exited)
		}
		if code, there := snapshots[1]["exitCode"]; there {
			t.Errorf("%s: exit code %s beside the lifecycle", version, code)
		}
		for _, f := range frames {
			for _, claim := range regexp.MustCompile(`"claim":\{[^{}]*\}`).FindAllString(f, -1) {
				if strings.Contains(claim, `"session"`) && !strings.Contains(claim, `"chat":"ahp-chat:`) && !strings.Contains(f, "rejectionReason") {
					t.Errorf("%s is told of a session without its chat: %s", version, f)
				}
			}
			for _, info := range regexp.MustCompile(`\{"resource":"ahp-terminal:[^{}]*"claim":\{[^{}]*\}[^{}]*`).FindAllString(f, -1) {
				if !strings.Contains(info, `"lifecycle":`) {
					t.Errorf("%s is told of a terminal without lifecycle: %s", version, info)
				}
			}
		}
	}
}

// 24
func TestNumbersAreIntegers(t *testing.T) {
	w := newWorld(t, nil)
	integer := regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	numbers := 0
	for i, version := range []string{"0.5.1", "0.6.0", "1.0.0"} {
		frames, _ := w.lifecycleTold(fmt.Sprint("n", i), version)
		for _, f := range frames {
			var check func(any)
			check = func(v any) {
				switch v := v.(type) {
				case map[string]any:
					for _, member := range v {
						check(member)
					}
				case []any:
					for _, item := range v {
						check(item)
					}
				case json.Number:
					numbers++
					if n, err := v.Int64(); !integer.MatchString(v.String()) || err != nil || n >= 1<<53 {
						t.Errorf("%s in %s", v, f)
					}
				}
			}
			decoder := json.NewDecoder(strings.NewReader(f))
			decoder.UseNumber()
			var message any
			if err := decoder.Decode(&message); err != nil {
				t.Fatal(err)
			}
			check(message)
		}
	}
	if numbers < 100 {
		t.Errorf("only %d numbers", numbers)
	}
}

func TestIDsAreEchoedAsTheyWere(t *testing.T) {
	s := newWorld(t, nil).open("person")
	for _, id := range []string{`1`, `0`, `9007199254740991`, `"one"`, `"1"`, `""`, `"<é\"\u0007>"`} {
		s.say(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id)
		if f := s.hear(); string(f.ID) != id || string(f.Result) != "null" {
			t.Errorf("id %s: %s", id, f.Text)
		}
	}
}

func TestWhatIsNoRequestIsAnsweredWithTheErrorsOfJSONRPC(t *testing.T) {
	s := newWorld(t, nil).enter("person", "desk", "1.0.0", RootChannel)
	for _, c := range []struct {
		frame, id string
		code      int
	}{
		{`{"jsonrpc":"2.0","id":1,`, `null`, wire.ParseError},
		{``, `null`, wire.ParseError},
		{`nonsense`, `null`, wire.ParseError},
		{`{} {}`, `null`, wire.ParseError},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `null`, wire.InvalidRequest},
		{`[]`, `null`, wire.InvalidRequest},
		{`"ping"`, `null`, wire.InvalidRequest},
		{`7`, `null`, wire.InvalidRequest},
		{`null`, `null`, wire.InvalidRequest},
		{`{"jsonrpc":"2.0","id":4}`, `4`, wire.InvalidRequest},
		{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, `5`, wire.InvalidRequest},
		{`{"id":"a","method":"ping"}`, `"a"`, wire.InvalidRequest},
		{`{"jsonrpc":"2.0","id":6,"method":7}`, `6`, wire.InvalidRequest},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `null`, wire.InvalidRequest},
	} {
		s.say("%s", c.frame)
		f := s.hear()
		if f.Error == nil || f.Error.Code != c.code || string(f.ID) != c.id {
			t.Errorf("%s: %s", c.frame, f.Text)
		}
	}
	s.sync() // it lives
}

func TestUnknownRequestsAndParametersGetExactErrors(t *testing.T) {
	s := newWorld(t, nil).enter("person", "desk", "1.0.0")
	for _, c := range []struct {
		method, params string
		code           int
		words          string
	}{
		{"nonsense", `{}`, wire.MethodNotFound, "nonsense"},
		{"createChat", `{"channel":"ahp-session:/1","chat":"ahp-chat:/1"}`, wire.MethodNotFound, ""},
		{"authenticate", `{"resource":"a","token":"b"}`, wire.MethodNotFound, ""},
		{"createSession", `{"channel":"ahp-session:/1"}`, wire.ProviderNotFound, ""},
		{"subscribe", `{}`, wire.InvalidParams, "channel"},
		{"subscribe", `{"channel":7}`, wire.InvalidParams, "channel"},
		{"subscribe", `[]`, wire.InvalidParams, ""},
		{"subscribe", `{"channel":"ahp-terminal:/none"}`, wire.NotFound, "resource not found"},
		{"subscribe", `{"channel":"ahp-session:/none"}`, wire.SessionNotFound, "resource not found"},
		{"subscribe", `{"channel":"copilot-session:/none"}`, wire.SessionNotFound, "resource not found"},
		{"subscribe", `{"channel":"ahp-chat://default/x"}`, wire.SessionNotFound, "resource not found"},
		{"subscribe", `{"channel":"ahp-resource-watch:/1"}`, wire.NotFound, "resource not found"},
		{"disposeTerminal", `{}`, wire.InvalidParams, "channel"},
	} {
		f := s.call(c.method, c.params)
		s.refused(f, c.code, c.words)
		if strings.Contains(f.Text, ".go:") {
			t.Errorf("an error with a stack: %s", f.Text)
		}
	}
	if f := s.call("listSessions", `{"channel":"ahp-root://","limit":10}`); string(f.Result) != `{"items":[]}` {
		t.Errorf("sessions: %s", f.Text)
	}
}

func TestUnknownNotificationsAndResponsesAreIgnored(t *testing.T) {
	s := newWorld(t, nil).enter("person", "desk", "1.0.0", RootChannel)
	before := len(s.frames)
	s.say(`{"jsonrpc":"2.0","method":"nonsense","params":{"channel":"ahp-root://"}}`)
	s.say(`{"jsonrpc":"2.0","method":"channel/credit","params":7}`)
	s.say(`{"jsonrpc":"2.0","method":"ping"}`)
	s.say(`{"jsonrpc":"2.0","method":"unsubscribe"}`)
	s.say(`{"jsonrpc":"2.0","id":77,"result":{}}`)
	s.say(`{"jsonrpc":"2.0","id":78,"error":{"code":-32601,"message":"no"}}`)
	s.sync()
	if told := s.frames[before:]; len(told) != 1 {
		t.Errorf("told %s", told)
	}
}

func TestBinaryFramesAreReadAsText(t *testing.T) {
	s := newWorld(t, nil).open("person")
	s.write(websocket.MessageBinary, []byte(`{"jsonrpc":"2.0","id":"é","method":"ping"}`))
	if f := s.hear(); f.Text != `{"jsonrpc":"2.0","id":"é","result":null}` {
		t.Errorf("%s", f.Text)
	}
	s.write(websocket.MessageBinary, []byte("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}"))
	s.refused(s.hear(), wire.ParseError, "UTF-8")
	s.sync()
}
