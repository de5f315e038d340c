package ahp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"tandem/ahp/wire"
)

// tab makes a terminal of the person's and returns a client of theirs and its channel.
func (w *world) tab(mode string) (s *socket, channel string) {
	w.t.Helper()
	s, channel = w.enter("person", "desk", "1.0.0", RootChannel), "ahp-terminal:/tab"
	s.null(s.call("createTerminal", `{"channel":"ahp-terminal:/tab","name":"tab","claim":{"kind":"client","clientId":"desk"}}`))
	s.setMode(channel, mode)
	s.subscribe(channel, "")
	s.untilText(channel, " ") // of the prompt
	return s, channel
}

// setMode sets the mode of a tab.
func (s *socket) setMode(channel, mode string) {
	s.t.Helper()
	s.dispatch(SharingChannel, fmt.Sprintf(`{"type":"sharing/modeSet","resource":%q,"mode":%q}`, channel, mode))
	s.sync()
	for _, e := range s.seen {
		if e.Channel == SharingChannel && e.RejectionReason != "" {
			s.t.Fatalf("setting the mode: %s", e.RejectionReason)
		}
	}
}

// since returns the actions on a channel that came after the first n.
func (s *socket) since(n int, channel string) (actions []wire.Envelope) {
	for _, e := range s.seen[n:] {
		if e.Channel == channel {
			actions = append(actions, e)
		}
	}
	return actions
}

// 10
func TestAcceptedActionsAreToldToAllSubscribersWithTheirOrigin(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	watcher := w.enter("claude", "c1", "1.0.0", tab)
	stranger := w.enter("other", "c2", "1.0.0", RootChannel)
	before, watched := len(s.seen), len(watcher.seen)
	var dispatched []wire.Origin
	for _, action := range []string{
		`{"type":"terminal/resized","cols":101,"rows":31}`,
		`{"type":"terminal/resized","cols":101,"rows":31}`, // what changes nothing, too
		`{"type":"terminal/titleChanged","title":"<build> é"}`,
		`{"type":"terminal/claimed","claim":{"kind":"session","session":"ahp-session:/1","turnId":"u","toolCallId":"k"}}`,
		`{"type":"terminal/claimed","claim":{"kind":"client","clientId":"desk"}}`,
		`{"type":"terminal/cleared"}`,
	} {
		dispatched = append(dispatched, wire.Origin{ClientID: "desk", ClientSeq: int64(s.dispatch(tab, action))})
	}
	s.sync()
	watcher.sync()
	stranger.sync()
	own, foreign := withOrigin(s.since(before, tab)), withOrigin(watcher.since(watched, tab))
	if len(own) != len(dispatched) || !reflect.DeepEqual(own, foreign) {
		t.Fatalf("its sender is told %v\nanother subscriber %v", own, foreign)
	}
	for i, e := range own {
		if *e.Origin != dispatched[i] || e.RejectionReason != "" {
			t.Errorf("action %d came as %+v of %+v", i, e, *e.Origin)
		}
	}
	if len(stranger.since(0, tab)) > 0 {
		t.Errorf("who did not subscribe is told %v", stranger.since(0, tab))
	}
	if got := watcher.Terminals[tab]; got.Cols != 101 || got.Title != "<build> é" || got.Claim.ClientID != "desk" {
		t.Errorf("state %+v", got)
	}
	for _, p := range []*socket{s, stranger} {
		if list := p.Root.Terminals; len(list) != 1 || list[0].Title != "<build> é" || list[0].Claim.ClientID != "desk" {
			t.Errorf("list %+v", list)
		}
	}
}

func withOrigin(all []wire.Envelope) (own []wire.Envelope) {
	for _, e := range all {
		if e.Origin != nil {
			own = append(own, e)
		}
	}
	return own
}

func TestOriginIsTheConnectionsWhateverTheClientSays(t *testing.T) {
	s, tab := newWorld(t, nil).tab("ask")
	s.acted++
	s.say(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":%q,"clientSeq":%d,"clientId":"c9","origin":{"clientId":"c9","clientSeq":7},
		"action":{"type":"terminal/titleChanged","title":"a","origin":{"clientId":"c9","clientSeq":7}}}}`, tab, s.acted)
	if e := s.own(); *e.Origin != (wire.Origin{ClientID: "desk", ClientSeq: int64(s.acted)}) {
		t.Errorf("origin %+v", e.Origin)
	}
}

// 10
func TestInputIsEchoedToItsSenderAloneAndIsInNoReplay(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("share")
	others := []*socket{w.enter("person", "phone", "1.0.0", tab, RootChannel), w.enter("claude", "c1", "1.0.0", tab)}
	away := s.LastSeen
	s.input(tab, "stty -echo; echo $((6*7))-quiet; read secret; echo $((6*7))-known\r")
	s.untilText(tab, "42-quiet")
	seq := s.input(tab, "hunter2\r")
	s.untilText(tab, "42-known")
	echoes := 0
	for _, e := range s.seen {
		if input, ok := e.Action.(wire.TerminalInput); ok {
			echoes++
			if last := input.Data == "hunter2\r"; last && *e.Origin != (wire.Origin{ClientID: "desk", ClientSeq: int64(seq)}) {
				t.Errorf("echo %+v", e)
			}
		}
	}
	if echoes != 2 {
		t.Errorf("%d echoes of 2 inputs", echoes)
	}
	for _, p := range others {
		p.untilText(tab, "42-known")
		p.sync()
		if told := strings.Join(p.frames, ""); strings.Contains(told, "hunter2") || strings.Contains(told, "terminal/input") {
			t.Errorf("told to another: %s", told)
		}
	}
	_ = s.conn.CloseNow()
	back := w.open("person")
	f := back.reconnect("desk", away, tab)
	if !strings.Contains(f.Text, `"replay"`) || !strings.Contains(f.Text, "42-known") || strings.Contains(f.Text, "hunter2") || strings.Contains(f.Text, "terminal/input") {
		t.Errorf("replay: %s", f.Text)
	}
}

// 11
func TestForgedActionsAreRefusedAndOnlyTheirSenderIsTold(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("share")
	other := w.enter("person", "phone", "1.0.0", tab, RootChannel)
	s.input(tab, "echo $((6*7))-true\r")
	s.untilText(tab, "42-true")
	other.untilText(tab, "42-true")
	s.sync()
	before := len(s.seen)
	state, _ := json.Marshal(s.Terminals[tab])
	var wrong []string
	for _, c := range []struct{ channel, action string }{
		{tab, `{"type":"terminal/data","data":"forged"}`},
		{tab, `{"type":"terminal/exited","exitCode":0}`},
		{tab, `{"type":"terminal/cwdChanged","cwd":"file:///forged"}`},
		{tab, `{"type":"terminal/commandDetectionAvailable"}`},
		{tab, `{"type":"terminal/commandExecuted","commandId":"f","commandLine":"forged","timestamp":1}`},
		{tab, `{"type":"terminal/commandFinished","commandId":"f"}`},
		{tab, `{"type":"terminal/nonExistentAction","x":[1,{"y":null}]}`},
		{tab, `{"type":"root/terminalsChanged","terminals":[]}`},
		{tab, `{"type":"session/titleChanged","title":"forged"}`},
		{tab, `{"type":"sharing/modeSet","resource":"ahp-terminal:/tab","mode":"share"}`},
		{RootChannel, `{"type":"root/terminalsChanged","terminals":[]}`},
		{RootChannel, `{"type":"root/agentsChanged","agents":[]}`},
		{RootChannel, `{"type":"root/configChanged","config":{"theme":"dark"}}`}, // there is no configuration
		{RootChannel, `{"type":"terminal/input","data":"forged"}`},
		{SharingChannel, `{"type":"sharing/changed","state":{"paused":true,"terminals":{},"requests":[]}}`},
		{SharingChannel, `{"type":"terminal/cleared"}`},
		// Such as cannot be read:
		{tab, `{"type":"terminal/resized","cols":"wide","rows":30}`},
		{tab, `{"type":"terminal/resized","cols":80.5,"rows":30}`},
		{tab, `{"type":"terminal/resized","rows":30}`},
		{tab, `{"type":"terminal/resized","cols":0,"rows":30}`},
		{tab, `{"type":"terminal/resized","cols":1001,"rows":30}`},
		{tab, `{"type":"terminal/input"}`},
		{tab, `{"type":"terminal/claimed","claim":{"kind":"client"}}`},
		{tab, `{"type":"terminal/claimed","claim":{"kind":"nobody"}}`},
		{tab, `{"type":"terminal/claimed","claim":{"kind":"client","clientId":"nobody"}}`},
		{tab, `{"type":"terminal/titleChanged","title":"\u001b[31m"}`},
		{tab, `{}`},
	} {
		s.dispatch(c.channel, c.action)
		wrong = append(wrong, c.action)
	}
	s.sync()
	other.sync()
	if told := s.seen[before:]; len(told) != len(wrong) {
		t.Fatalf("%d refusals of %d", len(told), len(wrong))
	}
	first := s.acted - len(wrong) + 1
	for i, e := range s.seen[before:] {
		if e.RejectionReason == "" || *e.Origin != (wire.Origin{ClientID: "desk", ClientSeq: int64(first + i)}) {
			t.Errorf("%s came back as %+v", wrong[i], e)
		}
		var told struct {
			Params struct{ Action any }
		}
		var action any
		_ = json.Unmarshal([]byte(s.frames[len(s.frames)-1-len(wrong)+i]), &told)
		_ = json.Unmarshal([]byte(wrong[i]), &action)
		if !reflect.DeepEqual(told.Params.Action, action) {
			t.Errorf("%s came back as %v", wrong[i], told.Params.Action)
		}
	}
	if told := strings.Join(other.frames, ""); strings.Contains(told, "forged") || strings.Contains(told, "rejectionReason") {
		t.Errorf("another subscriber is told of it: %s", told)
	}
	for _, p := range []*socket{s, other} {
		if after, _ := json.Marshal(p.Terminals[tab]); string(after) != string(state) {
			t.Errorf("the state was\n%s, now it is\n%s", state, after)
		}
	}
	if fresh, _ := json.Marshal(w.enter("person", "third", "1.0.0", tab).Terminals[tab]); string(fresh) != string(state) {
		t.Errorf("the state was\n%s, at the host it is\n%s", state, fresh)
	}
}

// 12
func TestActionOnAnUnknownChannelIsMetWithSilence(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("private")
	program := w.enter("claude", "c1", "1.0.0", RootChannel)
	for channel, p := range map[string]*socket{"ahp-terminal:/none": s, "ahp-session:/none": s, tab: program, SharingChannel: program} {
		p.sync()
		before := len(p.frames)
		p.input(channel, "exit\r")
		p.dispatch(channel, `{"type":"session/titleChanged","title":"a"}`)
		p.sync()
		if told := p.frames[before:]; len(told) != 1 {
			t.Errorf("on %s: %s", channel, told)
		}
	}
}

// 13
func TestOfTwoClientsThatClaimAtOnceOneWins(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("share")
	racers := []*socket{w.enter("claude", "c1", "1.0.0", tab), w.enter("other", "c2", "0.6.0", tab)}
	for round := range 10 {
		claimed := map[string]int{}
		heard := []int{len(racers[0].seen), len(racers[1].seen)}
		for i, p := range racers {
			p.dispatch(tab, fmt.Sprintf(`{"type":"terminal/claimed","claim":{"kind":"client","clientId":"c%d"}}`, i+1))
		}
		winner := ""
		for i, p := range racers {
			p.sync()
			for _, e := range p.since(heard[i], tab) {
				switch {
				case e.RejectionReason != "":
					claimed["refused"]++
				case e.Origin != nil && e.Origin.ClientID == fmt.Sprintf("c%d", i+1):
					claimed["granted"]++
					winner = e.Origin.ClientID
				}
			}
		}
		s.sync()
		for _, p := range append(racers, s) {
			p.sync()
			if claim := p.Terminals[tab].Claim; claim.ClientID != winner {
				t.Errorf("round %d: %s won, but shown is %+v", round, winner, claim)
			}
		}
		if claimed["granted"] != 1 || claimed["refused"] != 1 {
			t.Fatalf("round %d: %v", round, claimed)
		}
		s.dispatch(tab, `{"type":"terminal/claimed","claim":{"kind":"client","clientId":"desk"}}`)
		s.sync()
	}
}

// 14, for programs
func TestInputOfAProgramThatDoesNotHoldTheTerminalIsRefused(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("share")
	program := w.enter("claude", "c1", "1.0.0", tab)
	program.input(tab, "echo intruded\r")
	program.dispatch(tab, `{"type":"terminal/resized","cols":10,"rows":10}`)
	program.dispatch(tab, `{"type":"terminal/cleared"}`)
	program.dispatch(tab, `{"type":"terminal/titleChanged","title":"intruded"}`)
	program.sync()
	refused := program.since(0, tab)
	if len(refused) != 4 {
		t.Errorf("told %v", refused)
	}
	for _, e := range refused {
		if e.RejectionReason == "" {
			t.Errorf("not refused: %+v", e)
		}
	}
	s.input(tab, "echo $((6*7))-mine; stty size\r")
	s.untilText(tab, "24 80")
	if text := s.Text(tab); strings.Contains(text, "intruded") || s.Terminals[tab].Title == "intruded" {
		t.Errorf("it got through: %q", text)
	}
}

// 14, for the person: sharing.md has the first key take a program's terminal back, and deliver that key.
func TestFirstKeyOfThePersonTakesTheTerminalBackAndIsDelivered(t *testing.T) {
	w := newWorld(t, nil)
	const build = "ahp-terminal:/build"
	program := w.enter("claude", "c1", "1.0.0")
	program.null(program.call("createTerminal", `{"channel":"ahp-terminal:/build","claim":{"kind":"client","clientId":"c1"}}`))
	program.subscribe(build, "")
	program.untilText(build, " ")
	other := w.enter("other", "c2", "1.0.0", build)
	s := w.enter("person", "desk", "1.0.0", build)
	other.input(build, "echo intruded\r")
	other.sync()
	if told := other.since(0, build); len(told) != 1 || told[0].RejectionReason == "" {
		t.Errorf("input of another program: %v", told)
	}
	program.input(build, "echo $((6*7))-program\r")
	program.untilText(build, "42-program")
	s.input(build, "echo $((6*7))-person\r")
	taken := program.until("terminal/claimed")
	if claim := taken.Action.(wire.TerminalClaimed).Claim; claim.ClientID != "desk" || taken.Origin != nil {
		t.Errorf("taken back as %+v", taken)
	}
	program.untilText(build, "42-person")
	before := len(program.seen)
	program.input(build, "echo again\r")
	program.sync()
	if told := program.since(before, build); len(told) == 0 || told[len(told)-1].RejectionReason == "" {
		t.Errorf("after it was taken back: %v", told)
	}
	s.input(build, "echo $((6*7))-end\r")
	s.untilText(build, "42-end")
	if text := s.Text(build); strings.Contains(text, "intruded") || strings.Contains(text, "again") {
		t.Errorf("refused input arrived: %q", text)
	}
}

func TestWhoIsNotSubscribedIsToldOnlyOfRefusals(t *testing.T) {
	w := newWorld(t, nil)
	_, tab := w.tab("share")
	s := w.enter("person", "phone", "1.0.0")
	s.dispatch(tab, `{"type":"terminal/titleChanged","title":"named"}`)
	s.input(tab, "true\r")
	s.sync()
	if len(s.seen) > 0 {
		t.Errorf("told %v", s.seen)
	}
	s.dispatch(tab, `{"type":"terminal/data","data":"forged"}`)
	s.sync()
	if len(s.seen) != 1 || s.seen[0].RejectionReason == "" {
		t.Errorf("told %v", s.seen)
	}
	s.subscribe(tab, "")
	if title := s.Terminals[tab].Title; title != "named" {
		t.Errorf("title %q", title)
	}
}

func TestTerminalInsideAnActionIsIgnoredAsOlderClientsSendIt(t *testing.T) {
	s, tab := newWorld(t, nil).tab("ask")
	s.dispatch(tab, `{"type":"terminal/input","terminal":"ahp-terminal:/other","data":"echo $((6*7))-old\r"}`)
	s.untilText(tab, "42-old")
	s.sync()
	s.dispatch(tab, `{"type":"terminal/resized","terminal":"ahp-terminal:/tab","cols":90,"rows":20}`)
	if e := s.own(); e.RejectionReason != "" || s.Terminals[tab].Cols != 90 {
		t.Errorf("%+v", e)
	}
}

func TestActionThatWasCarriedOutIsNotRepeatedAfterReconnect(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	rename := func(s *socket, seq int, title string) {
		s.say(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":%q,"clientSeq":%d,"action":{"type":"terminal/titleChanged","title":%q}}}`, tab, seq, title)
	}
	rename(s, 10, "first")
	rename(s, 11, "second")
	s.sync()
	back := w.open("person") // while the old connection is still there, as far as the host knows
	f := back.reconnect("desk", s.LastSeen, tab)
	if f.Error != nil {
		t.Fatal(f.Text)
	}
	rename(back, 10, "first")
	rename(back, 11, "second")
	back.sync()
	if len(back.seen) > 0 {
		t.Errorf("repeated: %v", back.seen)
	}
	rename(back, 12, "third")
	if e := back.own(); e.Action.(wire.TerminalTitleChanged).Title != "third" || e.Origin.ClientSeq != 12 {
		t.Errorf("%+v", e)
	}
	_ = back.conn.CloseNow()
	anew := w.enter("person", "desk", "1.0.0", tab)
	rename(anew, 1, "anew") // a client that starts anew counts anew
	if e := anew.own(); e.Action.(wire.TerminalTitleChanged).Title != "anew" {
		t.Errorf("%+v", e)
	}
}
