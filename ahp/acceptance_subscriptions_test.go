package ahp

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

// 8
func TestSubscribingAgainGivesAFreshSnapshotAndNothingTwice(t *testing.T) {
	s, tab := newWorld(t, nil).tab("ask")
	s.input(tab, "echo $((6*7))-one\r")
	s.untilText(tab, "42-one")
	old := s.LastSeen
	for range 3 {
		snapshot := s.subscribe(tab, `{"maxLatencyMs":5}`)
		if text := s.Text(tab); strings.Count(text, "42-one") != 1 || snapshot.FromSeq < old {
			t.Errorf("snapshot from %d, after %d: %q", snapshot.FromSeq, old, text)
		}
	}
	before := len(s.seen)
	s.input(tab, "echo $((6*7))-two\r")
	s.untilText(tab, "42-two")
	s.dispatch(tab, `{"type":"terminal/resized","cols":99,"rows":9}`)
	s.sync()
	if text := s.Text(tab); strings.Count(text, "42-two") != 1 {
		t.Errorf("text %q", text)
	}
	if told := withOrigin(s.since(before, tab)); len(told) != 2 {
		t.Errorf("of two actions: %v", told)
	}
}

// checkNumbers fails the test if one of the numbers that a program printed in a row is missing or twice.
func checkNumbers(t *testing.T, text string) {
	t.Helper()
	_, text, _ = strings.Cut(text, "\n") // it may begin in the middle of a line
	last := -1
	for line := range strings.Lines(text) {
		n, err := strconv.Atoi(strings.TrimRight(line, "\r\n"))
		if err != nil || !strings.HasSuffix(line, "\n") {
			continue
		}
		if last >= 0 && n != last+1 {
			t.Fatalf("%d came after %d", n, last)
		}
		last = n
	}
}

// 9
func TestNothingIsLostOrDoubledBetweenSnapshotAndStreamUnderLoad(t *testing.T) {
	const rounds, block = 4, 5000
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	s.input(tab, "stty -echo; i=1; while read -r go; do seq $i $((i+"+fmt.Sprint(block)+"-1)); i=$((i+"+fmt.Sprint(block)+")); done\r")
	s.sync()
	peers := []*socket{
		w.enter("person", "one", "1.0.0"), w.enter("person", "two", "0.6.0"), w.enter("claude", "three", "1.0.0", RootChannel),
	}
	for round := range rounds {
		s.input(tab, "\n")
		for i := range 2 {
			for j, p := range peers {
				p.subscribe(tab, fmt.Sprintf(`{"maxLatencyMs":%d}`, (i+j)%3*10))
			}
		}
		last := fmt.Sprintf("\n%d\r\n", (round+1)*block)
		for _, p := range append(peers, s) {
			p.untilText(tab, last)
			checkNumbers(t, p.Text(tab))
		}
	}
	fresh := w.enter("person", "four", "1.0.0", tab)
	for _, p := range append(peers, s) {
		checkSameState(t, p, fresh, tab)
	}
}

// checkSameState compares what two clients have of a terminal, which are of the same version or their text alone. Of the
// text each has the end.
func checkSameState(t *testing.T, a, b *socket, channel string) {
	t.Helper()
	one, other := *a.Terminals[channel], *b.Terminals[channel]
	long, short := a.Text(channel), b.Text(channel)
	if len(long) < len(short) {
		long, short = short, long
	}
	if short == "" || !strings.HasSuffix(long, short) {
		t.Errorf("texts differ: …%q and …%q", long[max(0, len(long)-200):], short[max(0, len(short)-200):])
	}
	if (one.Lifecycle == nil) != (other.Lifecycle == nil) {
		return
	}
	one.Content, other.Content = nil, nil
	first, _ := json.Marshal(one)
	second, _ := json.Marshal(other)
	if string(first) != string(second) {
		t.Errorf("states differ:\n%s\n%s", first, second)
	}
}

func TestRootIsAlsoCalledAsItWasInEarlierVersions(t *testing.T) {
	w := newWorld(t, nil)
	s := w.enter("person", "desk", "0.5.1")
	snapshot := s.subscribe("agenthost:/root", "")
	if snapshot.Resource != "agenthost:/root" || !strings.Contains(string(snapshot.State), `"terminals":[]`) {
		t.Errorf("snapshot %+v", snapshot)
	}
	s.make("ahp-terminal:/a", "desk")
	if e := s.seen[len(s.seen)-1]; e.Channel != "agenthost:/root" || e.Action.Type() != "root/terminalsChanged" {
		t.Errorf("told %+v", e)
	}
	s.say(`{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"agenthost:/root"}}`)
	s.sync()
	before := len(s.seen)
	s.make("ahp-terminal:/b", "desk")
	if told := s.seen[before:]; len(told) > 0 {
		t.Errorf("told %v", told)
	}
}

func TestChannelThatIsNamedTwiceIsSubscribedOnce(t *testing.T) {
	w := newWorld(t, nil)
	s := w.open("person")
	result := s.initialize("desk", "1.0.0", RootChannel, "agenthost:/root", RootChannel)
	if len(result.Snapshots) != 1 {
		t.Errorf("snapshots %v", result.Snapshots)
	}
	s.make("ahp-terminal:/a", "desk")
	if len(s.seen) != 1 {
		t.Errorf("told %v", s.seen)
	}
	_ = s.conn.CloseNow()
	back := w.open("person")
	back.reconnect("desk", s.LastSeen, "agenthost:/root", RootChannel)
	back.make("ahp-terminal:/b", "desk")
	if len(back.seen) != 1 {
		t.Errorf("told %v", back.seen)
	}
}

func TestNothingComesAfterUnsubscribe(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	other := w.enter("person", "phone", "1.0.0", tab)
	s.say(`{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":%q}}`, tab)
	s.say(`{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"ahp-terminal:/none"}}`)
	s.sync()
	before := len(s.seen)
	other.input(tab, "echo $((6*7))-unseen\r")
	other.untilText(tab, "42-unseen")
	s.sync()
	if told := s.since(before, tab); len(told) > 0 {
		t.Errorf("told %v", told)
	}
	if s.subscribe(tab, ""); !strings.Contains(s.Text(tab), "42-unseen") {
		t.Errorf("output of meanwhile is not in %q", s.Text(tab))
	}
	other.input(tab, "echo $((6*7))-seen\r")
	s.untilText(tab, "42-seen")
}

func TestOutputWaitsForMoreAsLongAsASubscriberLetsIt(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	s.input(tab, "stty -echo; while read -r i; do echo tick $i; done\r")
	s.sync()
	prompt, patient := w.enter("person", "a", "1.0.0"), w.enter("claude", "b", "1.0.0")
	prompt.subscribe(tab, `{"maxLatencyMs":0}`)
	patient.subscribe(tab, `{"maxLatencyMs":500}`)
	tick := func(i int) string {
		s.input(tab, fmt.Sprintf("%d\n", i))
		words := fmt.Sprintf("tick %d\r\n", i)
		prompt.untilText(tab, words)
		return words
	}
	const ticks = 30
	for i := range ticks {
		tick(i)
	}
	last := tick(ticks)
	patient.untilText(tab, last)
	data := func(p *socket) (n int) {
		for _, e := range p.since(0, tab) {
			if _, ok := e.Action.(wire.TerminalData); ok {
				n++
			}
		}
		return n
	}
	if few, many := data(patient), data(prompt); many < ticks || few > many/2 {
		t.Errorf("%d envelopes within 0.5 s each, %d at once", few, many)
	}
	for i := range 3 { // what was numbered before a request is sent before its response
		words := tick(ticks + 1 + i)
		if patient.sync(); !strings.Contains(patient.Text(tab), words) {
			t.Errorf("a response came before %q", words)
		}
	}
	if a, b := prompt.Text(tab), patient.Text(tab); a[strings.Index(a, "tick 0"):] != b[strings.Index(b, "tick 0"):] {
		t.Errorf("texts differ: %q and %q", a, b)
	}
}

func TestPersonIsShownWhoReadsATerminalAlsoWhenTheyComeBackToIt(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	s.subscribe(SharingChannel, "")
	program := w.enter("claude", "c1", "1.0.0", RootChannel)
	watchers := func() (names []string) {
		s.sync()
		for _, p := range s.Sharing.Terminals[tab].Watchers {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		return names
	}
	want := []string{"Firefox on Linux", "claude"}
	program.subscribe(tab, "")
	if got := watchers(); !slices.Equal(got, want) {
		t.Errorf("at first %q", got)
	}
	s.setMode(tab, "private")
	if got := watchers(); !slices.Equal(got, want[:1]) {
		t.Errorf("of a private tab %q", got)
	}
	s.setMode(tab, "ask")
	program.subscribe(tab, "")
	if got := watchers(); !slices.Equal(got, want) {
		t.Errorf("after it was private %q", got)
	}
	s.null(s.call("disposeTerminal", fmt.Sprintf(`{"channel":%q}`, tab)))
	s.make(tab, "desk")
	s.subscribe(tab, "")
	program.subscribe(tab, "")
	if got := watchers(); !slices.Equal(got, want) {
		t.Errorf("of another terminal of the same name %q", got)
	}
}

// A host may leave windowed delivery out; then it says nothing of it.
func TestSubscriptionIsAnOrdinaryOneWhateverElseIsOffered(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	f := s.call("subscribe", fmt.Sprintf(`{"channel":%q,"view":{"turns":5},"nonsense":null,
		"flowControl":{"receive":{"windowBytes":65536,"maximumFrameBytes":16384,"maximumMessageBytes":1048576}}}`, tab))
	var members map[string]json.RawMessage
	if s.result(f, &members); len(members) != 1 || members["snapshot"] == nil {
		t.Errorf("%s", f.Text)
	}
	for _, delivery := range []string{`{"maxLatencyMs":-1}`, `{"maxLatencyMs":1.5}`, `{"maxLatencyMs":"1"}`, `7`} {
		s.refused(s.call("subscribe", fmt.Sprintf(`{"channel":%q,"delivery":%s}`, tab, delivery)), wire.InvalidParams, "delivery")
	}
}

func TestClearingShowsProgramsNothingOfAPrivateStretch(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("private")
	s.input(tab, "stty -echo; printf 'secret-%s ' $((6*7)); read -r line; echo $line\r")
	s.untilText(tab, "secret-42 ") // on the line of the cursor, which clearing keeps
	s.setMode(tab, "ask")
	program := w.enter("claude", "c1", "1.0.0", tab)
	away := program.LastSeen
	s.dispatch(tab, `{"type":"terminal/cleared"}`)
	s.sync()
	program.sync()
	s.input(tab, "open\r")
	s.untilText(tab, "open\r\n")
	program.untilText(tab, "open\r\n")
	program.subscribe(tab, "")
	back := w.open("claude")
	back.reconnect("c1", away, tab)
	if text := s.Text(tab); !strings.Contains(text, "secret-42 ") {
		t.Errorf("the person has %q", text)
	}
	if told := strings.Join(append(program.frames, back.frames...), ""); strings.Contains(told, "secret-42") {
		t.Errorf("a program is told %s", told)
	}
}

func TestARequestNamesABoundedNumberOfChannels(t *testing.T) {
	w := newWorld(t, nil)
	many := strings.Repeat(`"ahp-terminal:/none",`, maxNames) + `"ahp-root://"`
	s := w.open("person")
	s.refused(s.call("initialize", `{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"desk","initialSubscriptions":[`+many+`]}`),
		wire.InvalidParams, "at most 256")
	s.initialize("desk", "1.0.0")
	_ = s.conn.CloseNow()
	back := w.open("person")
	back.refused(back.call("reconnect", `{"channel":"ahp-root://","clientId":"desk","lastSeenServerSeq":1,"subscriptions":[`+many+`]}`),
		wire.InvalidParams, "at most 256")
}

var unescaped = strings.NewReplacer(`\r`, "\r", `\n`, "\n")

// follow takes actions until the terminal's text ends with the words, and remembers only the latest. It does not read
// them with encoding/json, which is slow where races are looked for.
func (s *socket) follow(channel, words string) {
	s.t.Helper()
	const before, after = `"action":{"type":"terminal/data","data":"`, `"},"serverSeq":`
	for state := s.Terminals[channel]; ; {
		text := s.frame()
		envelope, rest, isData := strings.Cut(text, before)
		data, number, _ := strings.Cut(rest, after)
		if !isData {
			s.understand(text)
			continue
		}
		seq, err := strconv.ParseInt(strings.TrimRight(number, "}"), 10, 64)
		if err != nil || seq <= s.LastSeen || !strings.Contains(envelope, channel) {
			s.t.Fatalf("after number %d: %.200s … %s", s.LastSeen, text, number)
		}
		s.LastSeen = seq
		wire.ReduceTerminal(state, wire.TerminalData{Data: unescaped.Replace(data)})
		last := &state.Content[len(state.Content)-1].Value
		if len(*last) > 256<<10 {
			*last = strings.Clone((*last)[128<<10:])
		}
		if strings.Contains((*last)[max(0, len(*last)-len(data)-len(words)):], words) {
			return
		}
	}
}

// 22
func TestSlowReadersStallNobodyAndTakeNoMemory(t *testing.T) {
	const slow = 8
	w := newWorld(t, func(c *sharing.Config) { c.Terminals.LogBytes = ptymgr.MinLogBytes })
	s, tab := w.tab("ask")
	var stalled []*socket
	for i := range slow {
		as := []string{"person", "claude", "other"}[i%3]
		stalled = append(stalled, w.enterTight(as, fmt.Sprint(as, i), tab)) // and reads no more
	}
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	s.input(tab, "seq 1 350000; echo $((6*7))-end\r") // 2.7 MB
	s.follow(tab, "42-end")
	checkNumbers(t, s.Text(tab))
	if grown := int64(heap()) - int64(before); grown > slow<<16+ptymgr.MinLogBytes+1<<20 {
		t.Errorf("%d slow readers of 2.7 MB cost %d bytes", slow, grown)
	}
	fresh := w.enter("person", "fresh", "1.0.0", tab)
	checkSameState(t, s, fresh, tab)
	for _, p := range stalled {
		p.follow(tab, "42-end") // it is brought to the present, in the order of the numbers
		checkNumbers(t, p.Text(tab))
		checkSameState(t, p, fresh, tab)
	}
	if n := w.host.Stats().Resyncs; n < slow {
		t.Errorf("%d of %d slow readers were overtaken", n, slow)
	}
}
