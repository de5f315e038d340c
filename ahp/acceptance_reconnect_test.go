package ahp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

// recovery reads the result of reconnect.
func (s *socket) recovery(f frame) wire.ReconnectResult {
	s.t.Helper()
	var result wire.ReconnectResult
	s.result(f, &result)
	var members map[string]json.RawMessage
	s.result(f, &members)
	_, missing := members["missing"]
	_, actions := members["actions"]
	_, snapshots := members["snapshots"]
	if replay := result.Type == "replay"; replay != missing || replay != actions || replay == snapshots ||
		!replay && result.Type != "snapshot" || strings.Contains(f.Text, "null") {
		s.t.Errorf("neither replay nor snapshot: %.500s", f.Text)
	}
	return result
}

// comparable returns what happened, without what differs between subscribers that are told the same: neighbouring output
// is one.
func comparable(all []wire.Envelope) (told []string) {
	var data strings.Builder
	channel := ""
	flush := func() {
		if data.Len() > 0 {
			told = append(told, channel+" "+data.String())
			data.Reset()
		}
	}
	for _, e := range all {
		output, isData := e.Action.(wire.TerminalData)
		if !isData || e.Channel != channel {
			flush()
		}
		channel = e.Channel
		if isData {
			data.WriteString(output.Data)
		} else {
			text, _ := json.Marshal(e)
			told = append(told, string(text))
		}
	}
	flush()
	return told
}

// 20
func TestReplayIsExactlyWhatWasMissed(t *testing.T) {
	w := newWorld(t, nil)
	const one, two, late = "ahp-terminal:/tab", "ahp-terminal:/two", "ahp-terminal:/late"
	s, _ := w.tab("ask")
	s.null(s.call("createTerminal", `{"channel":"ahp-terminal:/two","name":"two","claim":{"kind":"client","clientId":"desk"}}`))
	s.subscribe(two, "")
	s.untilText(two, " ")
	channels := []string{two, RootChannel, one}
	stays, leaves := w.enter("person", "stays", "1.0.0", channels...), w.enter("person", "leaves", "1.0.0", channels...)
	_ = leaves.conn.CloseNow()
	happen := func(i int) {
		s.input(one, fmt.Sprintf("echo $((6*7))-%d é\r", i))
		s.untilText(one, fmt.Sprintf("42-%d é\r\n", i))
		s.dispatch(one, fmt.Sprintf(`{"type":"terminal/resized","cols":%d,"rows":24}`, 81+i))
		s.input(two, fmt.Sprintf("seq %d %d\r", i*1000, i*1000+300))
		s.untilText(two, fmt.Sprintf("\n%d\r\n", i*1000+300))
		s.dispatch(two, fmt.Sprintf(`{"type":"terminal/titleChanged","title":"number %d"}`, i))
		s.dispatch(one, `{"type":"terminal/claimed","claim":{"kind":"session","session":"ahp-session:/1"}}`)
		s.dispatch(one, `{"type":"terminal/data","data":"forged"}`)
		s.dispatch(one, `{"type":"terminal/claimed","claim":{"kind":"client","clientId":"desk"}}`)
		s.sync()
	}
	for i := range 4 {
		happen(i)
	}
	s.null(s.call("createTerminal", fmt.Sprintf(`{"channel":%q,"name":"late","claim":{"kind":"client","clientId":"desk"}}`, late)))
	back := w.open("person")
	back.Mirror = leaves.Mirror
	result := back.recovery(back.reconnect("leaves", leaves.LastSeen, channels...))
	if result.Type != "replay" || len(result.Missing) > 0 {
		t.Fatalf("%s, missing %q", result.Type, result.Missing)
	}
	for _, e := range result.Actions {
		if e.ServerSeq <= back.LastSeen {
			t.Errorf("number %d came after %d", e.ServerSeq, back.LastSeen)
		}
		back.seen = append(back.seen, e)
		back.Apply(e)
	}
	happen(5) // it is subscribed again
	back.sync()
	stays.sync()
	if got, want := comparable(back.seen), comparable(stays.seen); !slices.Equal(got, want) {
		t.Errorf("who reconnected was told\n%s\nwho stayed\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !reflect.DeepEqual(back.Root, stays.Root) || len(back.Root.Terminals) != 3 {
		t.Errorf("lists %v and %v", back.Root, stays.Root)
	}
	fresh := w.enter("person", "fresh", "1.0.0", channels...)
	for _, channel := range []string{one, two} {
		checkSameState(t, back, stays, channel)
		checkSameState(t, back, fresh, channel)
	}
}

// 20
func TestReconnectNamesWhatIsMissing(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	s.make("ahp-terminal:/gone", "desk")
	program := w.enter("claude", "c1", "1.0.0", tab, "ahp-terminal:/gone", RootChannel)
	_ = program.conn.CloseNow()
	s.null(s.call("disposeTerminal", `{"channel":"ahp-terminal:/gone"}`))
	back := w.open("claude")
	result := back.recovery(back.reconnect("c1", program.LastSeen, "ahp-terminal:/gone", tab, "ahp-terminal:/never", RootChannel))
	if want := []string{"ahp-terminal:/gone", "ahp-terminal:/never"}; result.Type != "replay" || !slices.Equal(result.Missing, want) {
		t.Errorf("%s, missing %q", result.Type, result.Missing)
	}
	_ = back.conn.CloseNow()
	s.setMode(tab, "private") // for programs it is gone, too
	again := w.open("claude")
	f := again.reconnect("c1", program.LastSeen, tab, RootChannel)
	if result := again.recovery(f); result.Type != "replay" || !slices.Equal(result.Missing, []string{tab}) {
		t.Errorf("%s, missing %q", result.Type, result.Missing)
	}
	again.input(tab, "true\r")
	again.sync()
	if told := again.since(0, tab); len(told) > 0 {
		t.Errorf("told %v", told)
	}
}

func TestReconnectWithoutSubscriptionsReplaysNothing(t *testing.T) {
	w := newWorld(t, nil)
	first := w.open("person").initialize("desk", "1.0.0")
	s := w.open("person")
	f := s.call("reconnect", fmt.Sprintf(`{"clientId":"desk","lastSeenServerSeq":%d,"subscriptions":null}`, first.ServerSeq))
	if string(f.Result) != `{"type":"replay","actions":[],"missing":[]}` {
		t.Errorf("%s", f.Text)
	}
	if f := s.call("listSessions", `{"channel":"ahp-root://"}`); string(f.Result) != `{"items":[]}` {
		t.Errorf("%s", f.Text)
	}
}

// 20
func TestWhatIsTooMuchToReplayIsASnapshot(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	overflows := map[string]func(){
		"output": func() {
			s.input(tab, "seq 1 40000; echo $((6*7))-much\r")
			s.untilText(tab, "42-much")
		},
		"events": func() {
			for i := range maxEvents + 10 {
				s.dispatch(tab, fmt.Sprintf(`{"type":"terminal/resized","cols":%d,"rows":24}`, 50+i%2))
			}
			s.sync()
		},
	}
	for name, happen := range overflows {
		away := w.enter("person", name, "1.0.0", tab, RootChannel)
		_ = away.conn.CloseNow()
		happen()
		back := w.open("person")
		result := back.recovery(back.reconnect(name, away.LastSeen, tab, "ahp-terminal:/none", RootChannel))
		if result.Type != "snapshot" || len(result.Snapshots) != 2 || result.Snapshots[0].Resource != tab || result.Snapshots[1].Resource != RootChannel {
			t.Fatalf("%s: %s of %d", name, result.Type, len(result.Snapshots))
		}
		for _, snapshot := range result.Snapshots {
			back.take(snapshot)
		}
		checkSameState(t, back, w.enter("person", "fresh", "1.0.0", tab), tab)
		s.input(tab, "echo $((6*7))-after-"+name+"\r")
		back.untilText(tab, "42-after-"+name)
	}
}

// 20: what was cleared is shown to nobody, so it is in no replay either.
func TestWhatWasClearedIsNotReplayed(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	away := w.enter("person", "away", "1.0.0", tab)
	_ = away.conn.CloseNow()
	s.input(tab, "echo $((6*7))-gone; echo; echo $((6*7))-kept\r")
	s.untilText(tab, "42-kept\r\n")
	s.dispatch(tab, `{"type":"terminal/cleared"}`)
	s.sync()
	back := w.open("person")
	f := back.reconnect("away", away.LastSeen, tab)
	if result := back.recovery(f); result.Type != "snapshot" || strings.Contains(f.Text, "42-gone") {
		t.Errorf("%s", f.Text)
	}
}

// 20
func TestNumberThatTheHostDidNotGiveIsNeverReplayedFrom(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	w.enter("person", "back", "1.0.0")
	for _, seen := range []int64{s.LastSeen + 1000, s.LastSeen + 1_000_000, 1<<53 - 1, w.host.born - 1, 1, 0} {
		for _, channels := range [][]string{{tab, RootChannel}, {RootChannel}, {}} {
			back := w.open("person")
			result := back.recovery(back.reconnect("back", seen, channels...))
			if result.Type != "snapshot" || len(result.Snapshots) != len(channels) {
				t.Errorf("from %d on %q, at %d: %+v", seen, channels, s.LastSeen, result)
			}
			_ = back.conn.CloseNow()
		}
	}
}

// 20
func TestWhoWasOvertakenAndLeftInTheMiddleOfItIsGivenASnapshot(t *testing.T) {
	w := newWorld(t, func(c *sharing.Config) { c.Terminals.LogBytes = ptymgr.MinLogBytes })
	s, tab := w.tab("ask")
	slow := w.enterTight("claude", "slow", tab)
	s.input(tab, "seq 1 350000; echo $((6*7))-end\r")
	s.follow(tab, "42-end")
	var group []int64 // the numbers of what brings it to the present, and of what follows
	for {
		text := slow.frame()
		if len(group) == 0 && !strings.Contains(text, "terminal/cleared") {
			continue
		}
		slow.understand(text)
		group = append(group, slow.LastSeen)
		if strings.Contains(slow.Text(tab), "42-end") {
			break
		}
	}
	w.host.mu.Lock()
	tears := slices.Clone(w.host.clients[keyOf(identities["claude"], "slow")].tears)
	w.host.mu.Unlock()
	inside := 0
	for i, seen := range group {
		torn := slices.ContainsFunc(tears, func(t tear) bool { return t.from < seen && seen < t.to })
		last := i == len(group)-1
		if !torn && !last {
			continue // between two of them, or behind the last
		}
		inside++
		back := w.open("claude")
		result := back.recovery(back.reconnect("slow", seen, tab))
		if want := map[bool]string{true: "snapshot", false: "replay"}[torn]; result.Type != want {
			t.Errorf("after %d of %d: %s", i+1, len(group), result.Type)
		}
		if last && len(comparable(result.Actions)) > 1 {
			t.Errorf("after all of it: %v", result.Actions)
		}
		_ = back.conn.CloseNow()
	}
	if inside < 5 || tears[0].from >= group[0] || group[0] >= tears[0].to {
		t.Errorf("it was brought to the present by %v, which is noted as %v", group, tears)
	}
}

// 21
func TestUnknownClientCannotReconnectButInitialize(t *testing.T) {
	s := newWorld(t, nil).open("person")
	s.refused(s.reconnect("stranger", 11, RootChannel), wire.NotFound, "")
	s.refused(s.call("reconnect", `{"clientId":"stranger"}`), wire.InvalidParams, "")
	if result := s.initialize("stranger", "1.0.0", RootChannel); len(result.Snapshots) != 1 {
		t.Errorf("%+v", result)
	}
	if f := s.call("listSessions", `{"channel":"ahp-root://"}`); string(f.Result) != `{"items":[]}` {
		t.Errorf("%s", f.Text)
	}
}

// 20
func TestClientOfAnotherIdentityDoesNotReconnectAsThisOne(t *testing.T) {
	w := newWorld(t, nil)
	mine := w.enter("claude", "c1", "1.0.0", RootChannel)
	for _, as := range []string{"other", "person"} {
		s := w.open(as)
		s.refused(s.reconnect("c1", mine.LastSeen, RootChannel), wire.NotFound, "")
		s.refused(s.call("initialize", `{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"c1"}`), wire.InvalidParams, "somebody else's")
		s.initialize(as, "1.0.0", RootChannel)
	}
	mine.sync() // it lives
	_ = mine.conn.CloseNow()
	w.open("other").reconnect("c1", mine.LastSeen, RootChannel)
	back := w.open("claude")
	if result := back.recovery(back.reconnect("c1", mine.LastSeen, RootChannel)); result.Type != "replay" {
		t.Errorf("%+v", result)
	}
}

// Two windows of one browser have the same client id, and count their actions each by itself.
func TestWindowsWithOneClientIDKeepTheirOwnCounts(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask") // the first window
	second := w.enter("person", "desk", "1.0.0", tab)
	for range 30 {
		second.dispatch(tab, `{"type":"terminal/cleared"}`)
	}
	second.sync()
	_ = second.conn.CloseNow()
	_ = s.conn.CloseNow()
	back := w.open("person")
	back.acted = s.acted
	if f := back.reconnect("desk", s.LastSeen, tab); f.Error != nil {
		t.Fatal(f.Text)
	}
	seq := back.dispatch(tab, `{"type":"terminal/titleChanged","title":"heard"}`)
	back.sync()
	own := withOrigin(back.seen)
	if len(own) != 1 || own[0].Origin.ClientSeq != int64(seq) {
		t.Errorf("told %v", own)
	}
}

func TestClientsThatWentAwayAreForgottenInTheEnd(t *testing.T) {
	w := newWorld(t, nil)
	for range 3 {
		w.enter("person", "desk", "1.0.0", RootChannel)
	}
	first, second := w.enter("claude", "c1", "1.0.0"), w.enter("claude", "c1", "1.0.0")
	_, _ = first.conn.CloseNow(), second.conn.CloseNow()
	key := keyOf(identities["claude"], "c1")
	away := func() bool {
		w.host.mu.Lock()
		defer w.host.mu.Unlock()
		return w.host.clients[key].connections == 0
	}
	for limit := time.Now().Add(patience); !away(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("it is still taken to be there")
		}
	}
	w.host.mu.Lock()
	w.host.clients[key].away = time.Now().Add(-rememberFor - time.Second)
	w.host.mu.Unlock()
	w.enter("claude", "c2", "1.0.0")
	s := w.open("claude")
	s.refused(s.reconnect("c1", 1), wire.NotFound, "")
}
