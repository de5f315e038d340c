package ahp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tandem/ahp/wire"
	"tandem/sharing"
)

// make creates a terminal that a client holds.
func (s *socket) make(channel, clientID string) {
	s.t.Helper()
	s.null(s.call("createTerminal", fmt.Sprintf(`{"channel":%q,"claim":{"kind":"client","clientId":%q}}`, channel, clientID)))
}

// 15
func TestTerminalIsNotCreatedTwice(t *testing.T) {
	w := newWorld(t, nil)
	s, other := w.enter("person", "desk", "1.0.0"), w.enter("claude", "c1", "1.0.0")
	const create = `{"jsonrpc":"2.0","id":"make","method":"createTerminal","params":{"channel":%q,"claim":{"kind":"client","clientId":%q}}}`
	for round := range 3 {
		channel := fmt.Sprint("ahp-terminal:/", round)
		s.say(create, channel, "desk") // at once
		other.say(create, channel, "c1")
		outcome := map[bool]*socket{}
		for _, p := range []*socket{s, other} {
			f := p.answer(`"make"`)
			if outcome[f.Error == nil] = p; f.Error != nil {
				p.refused(f, wire.AlreadyExists, "already exists")
			}
		}
		if len(outcome) != 2 {
			t.Errorf("round %d: both had the same outcome", round)
		}
		s.refused(s.call("createTerminal", fmt.Sprintf(`{"channel":%q,"claim":{"kind":"client","clientId":"desk"}}`, channel)),
			wire.AlreadyExists, "already exists")
	}
	if list := w.enter("person", "desk", "1.0.0", RootChannel).Root.Terminals; len(list) != 3 {
		t.Errorf("list %v", list)
	}
}

// 16
func TestDisposingOfAnUnknownTerminalIsDone(t *testing.T) {
	w := newWorld(t, nil)
	s := w.enter("person", "desk", "1.0.0", RootChannel)
	dispose := func(channel string) frame { return s.call("disposeTerminal", fmt.Sprintf(`{"channel":%q}`, channel)) }
	s.null(dispose("ahp-terminal:/none"))
	s.null(dispose("ahp-session:/none"))
	s.make("ahp-terminal:/a", "desk")
	s.make("ahp-terminal:/b", "desk")
	s.null(dispose("ahp-terminal:/a"))
	if list := s.Root.Terminals; len(list) != 1 || list[0].Resource != "ahp-terminal:/b" {
		t.Errorf("list %v", list) // it is told before the response
	}
	s.null(dispose("ahp-terminal:/a"))
	s.refused(dispose(RootChannel), wire.InvalidParams, "no terminal")
	s.refused(s.call("subscribe", `{"channel":"ahp-terminal:/a"}`), wire.NotFound, "resource not found")
	s.make("ahp-terminal:/a", "desk") // the name is free again
}

func TestSubscribersOfADisposedTerminalHearNoMoreOfIt(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	s.input(tab, "while :; do echo more; done\r")
	s.untilText(tab, "more\r\nmore")
	s.null(s.call("disposeTerminal", `{"channel":"ahp-terminal:/tab"}`))
	before := len(s.seen)
	s.input(tab, "exit\r")
	s.make(tab, "desk") // another one of that name is not what was subscribed
	s.input(tab, "echo hello\r")
	s.sync()
	if told := s.since(before, tab); len(told) > 0 {
		t.Errorf("told %v", told)
	}
}

// 17
func TestExitComesAfterAllOutputAndTheTerminalStaysUntilItIsDisposedOf(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	s.input(tab, "seq 1 20000; exit 7\r")
	exited := s.until("terminal/exited")
	if code := exited.Action.(wire.TerminalExited).ExitCode; code == nil || *code != 7 || exited.Origin != nil {
		t.Errorf("exit %+v", exited)
	}
	if text := s.Text(tab); !strings.Contains(text, "19999\r\n20000\r\n") {
		t.Errorf("before the exit: …%q", text[max(0, len(text)-200):])
	}
	if status := s.Root.Terminals[0].Lifecycle.Status; status != wire.Running {
		t.Errorf("in the list it is %s before it exited", status)
	}
	for s.Root.Terminals[0].Lifecycle.Status != wire.Exited {
		s.hear()
	}
	end := len(s.seen)
	s.input(tab, "echo late\r")
	s.dispatch(tab, `{"type":"terminal/resized","cols":50,"rows":10}`)
	s.dispatch(tab, `{"type":"terminal/titleChanged","title":"over"}`)
	s.dispatch(tab, `{"type":"terminal/claimed","claim":{"kind":"session","session":"ahp-session:/1"}}`)
	s.dispatch(tab, `{"type":"terminal/cleared"}`)
	s.sync()
	own := withOrigin(s.since(end, tab))
	if len(own) != 5 {
		t.Fatalf("after the exit: %v", own)
	}
	for i, e := range own {
		if refused := e.RejectionReason != ""; refused != (i < 2) {
			t.Errorf("after the exit: %+v", e)
		}
	}
	for _, e := range s.seen[end:] {
		if kind := e.Action.Type(); kind == "terminal/exited" {
			t.Errorf("it exited twice")
		}
	}
	state := w.enter("person", "phone", "1.0.0", tab).Terminals[tab]
	if l := state.Lifecycle; l.Status != wire.Exited || *l.ExitCode != 7 || state.Title != "over" || state.Cols != 80 {
		t.Errorf("state %+v", state)
	}
	s.null(s.call("disposeTerminal", `{"channel":"ahp-terminal:/tab"}`))
	if len(s.Root.Terminals) != 0 {
		t.Errorf("list %v", s.Root.Terminals)
	}
}

func TestDeathBySignalHasANumber(t *testing.T) {
	s, tab := newWorld(t, nil).tab("ask")
	s.input(tab, "kill -9 $$\r")
	if code := s.until("terminal/exited").Action.(wire.TerminalExited).ExitCode; code == nil || *code != 128+9 {
		t.Errorf("exit code %v", code)
	}
}

// printPieces prints pieces one by one, each when the one before it was read from the pty, and calls between after each.
func (w *world) printPieces(s *socket, channel string, pieces []string, between func(i int)) {
	t := w.t
	t.Helper()
	var script strings.Builder
	script.WriteString("stty raw -echo\nprintf START\n")
	for _, piece := range pieces {
		script.WriteString("read -r go\nprintf %b '")
		script.WriteString(octal(piece) + "'\n")
	}
	script.WriteString("read -r go\nexit 0\n")
	path := filepath.Join(t.TempDir(), "pieces")
	if err := os.WriteFile(path, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.input(channel, "clear; exec sh "+path+"\r")
	s.untilText(channel, "START")
	printed := w.sharing.Stats().OutputBytes
	for i, piece := range pieces {
		s.input(channel, "\n")
		printed += uint64(len(piece))
		for limit := time.Now().Add(patience); w.sharing.Stats().OutputBytes < printed; {
			if time.Now().After(limit) {
				t.Fatalf("piece %d was not read", i)
			}
			time.Sleep(100 * time.Microsecond)
		}
		between(i)
	}
}

// checkSplits prints a sample once for each byte at which it can be split, and once byte by byte, and compares what a
// subscriber is sent with the text that is wanted; so it does what a snapshot from between the two halves shows, with
// what comes after it.
func checkSplits(t *testing.T, sample, wanted string) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	fresh := w.enter("person", "desk", "1.0.0")
	var pieces []string
	for i := 1; i < len(sample); i++ {
		pieces = append(pieces, sample[:i], sample[i:]+"\r\n")
	}
	byBytes := len(pieces)
	pieces = append(pieces, strings.Split(sample, "")...)
	var all string
	output := func(s *socket) string {
		_, text, _ := strings.Cut(s.Text(tab), "START")
		return text
	}
	w.printPieces(s, tab, pieces, func(i int) {
		switch {
		case i >= byBytes:
			return
		case i%2 == 0:
			fresh.subscribe(tab, "")
			return
		}
		all += wanted + "\r\n"
		for _, p := range []*socket{s, fresh} {
			for len(output(p)) < len(all) {
				p.hear()
			}
			if got := output(p); got != all {
				t.Fatalf("split at %d of %q:\ngot  %q\nwant %q", i/2+1, sample, got[min(len(got), len(all)-len(wanted)-2):], wanted+"\r\n")
			}
		}
	})
	s.input(tab, "\n")
	s.until("terminal/exited")
	if got := output(s); got != all+wanted {
		t.Errorf("byte by byte:\ngot  %q\nwant %q", strings.TrimPrefix(got, all), wanted)
	}
}

// 18
func TestIntegrationSequencesAndQueriesAreRemovedAtEverySplit(t *testing.T) {
	checkSplits(t,
		"a\x1b]633;A\ab\x1b]633;E;echo \\x3b Ü;nonce\ac\x1b]633;C\x1b\\d\x1b]633;P;Cwd=/tmp\x1b\\e\x1b]633;D;0\af\u009d633;B\u009cg"+
			"\x1b]133;A\ah\x1b[6ni\x1b[31mj\x1b]10;?\x1b\\k\x1b]0;name\al€",
		"abcdefghi\x1b[31mjk\x1b]0;name\al€")
}

// 19
func TestCharactersAreWholeAtEverySplit(t *testing.T) {
	sample := "aé€😀b\xffc\xc3d\xe2\x82e\xf0\x9f\x98f\xc0\x80g\xed\xa0\x80h\xf4\x90\x80\x80i\u0085é"
	var wanted strings.Builder
	for p := sample; len(p) > 0; {
		r, n := utf8.DecodeRuneInString(p)
		wanted.WriteRune(r) // one U+FFFD for each byte that is none of a character
		p = p[n:]
	}
	checkSplits(t, sample, wanted.String())
}

// 19
func TestUnfinishedCharacterIsSentBeforeTheExit(t *testing.T) {
	w := newWorld(t, nil)
	s, tab := w.tab("ask")
	w.printPieces(s, tab, []string{"a\xf0\x9f\x98"}, func(int) {})
	s.input(tab, "\n")
	s.until("terminal/exited")
	if text := s.Text(tab); !strings.HasSuffix(text, "STARTa\uFFFD\uFFFD\uFFFD") {
		t.Errorf("text %q", text)
	}
}

func TestTerminalIsMadeAsAskedFor(t *testing.T) {
	w := newWorld(t, nil)
	s := w.enter("person", "desk", "1.0.0", RootChannel)
	dir := filepath.Join(t.TempDir(), "a b é")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.null(s.call("createTerminal", fmt.Sprintf(`{"channel":"agenthost-terminal:/x/1","name":"build","cwd":%q,"cols":100,"rows":40,
		"claim":{"kind":"session","session":"ahp-session:/1","turnId":"u","toolCallId":"k"}}`, fileURI(dir))))
	const channel = "agenthost-terminal:/x/1"
	state := s.subscribe(channel, "")
	claim := wire.Claim{Kind: wire.ClaimSession, Session: "ahp-session:/1", Chat: "ahp-chat://default/YWhwLXNlc3Npb246LzE", TurnID: "u", ToolCallID: "k"}
	if got := s.Terminals[channel]; got.Title != "build" || got.Cols != 100 || got.Rows != 40 || got.Cwd != fileURI(dir) || got.Claim != claim {
		t.Errorf("state %s", state.State)
	}
	if list := s.Root.Terminals; len(list) != 1 || list[0].Resource != channel || list[0].Title != "build" || list[0].Claim != claim {
		t.Errorf("list %+v", list)
	}
	s.input(channel, "pwd; stty size\r")
	s.untilText(channel, "a b é\r\n40 100")
	s.null(s.call("createTerminal", `{"channel":"ahp-terminal:/plain","claim":{"kind":"client","clientId":"desk"}}`))
	s.subscribe("ahp-terminal:/plain", "")
	if got := s.Terminals["ahp-terminal:/plain"]; got.Cols != 80 || got.Rows != 24 || got.Cwd != fileURI(w.sharing.Dir()) || got.Title == "" {
		t.Errorf("state %+v", got)
	}
}

func TestWrongTerminalsAreNotMade(t *testing.T) {
	w := newWorld(t, nil)
	s := w.enter("person", "desk", "1.0.0", RootChannel)
	w.enter("person", "phone", "1.0.0")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const claim = `"claim":{"kind":"client","clientId":"desk"}`
	for _, c := range []struct {
		params string
		code   int
		words  string
	}{
		{`{"channel":"ahp-terminal:/a"}`, wire.InvalidParams, "claim"},
		{`{"channel":"ahp-terminal:/a","claim":null}`, wire.InvalidParams, "claim"},
		{`{"channel":"ahp-terminal:/a","claim":{"kind":"client"}}`, wire.InvalidParams, "clientId"},
		{`{"channel":"ahp-terminal:/a","claim":{"kind":"client","clientId":"phone"}}`, wire.InvalidParams, "claim"},
		{`{"channel":"ahp-terminal:/a","claim":{"kind":"client","clientId":"nobody"}}`, wire.InvalidParams, "claim"},
		{`{"channel":"ahp-terminal:/a","claim":{"kind":"session"}}`, wire.InvalidParams, "session"},
		{`{"channel":"ahp-terminal:/a","claim":{"kind":"guest"}}`, wire.InvalidParams, "kind"},
		{`{` + claim + `}`, wire.InvalidParams, "channel"},
		{`{"channel":"",` + claim + `}`, wire.InvalidParams, "channel"},
		{`{"channel":"plain",` + claim + `}`, wire.InvalidParams, "channel"},
		{`{"channel":"ahp-terminal:/a b",` + claim + `}`, wire.InvalidParams, "channel"},
		{`{"channel":"ahp-root://",` + claim + `}`, wire.InvalidParams, "channel"},
		{`{"channel":"agenthost:/root",` + claim + `}`, wire.InvalidParams, "channel"},
		{`{"channel":"ahp-session:/1",` + claim + `}`, wire.InvalidParams, "channel"},
		{`{"channel":"ahp-chat:/1",` + claim + `}`, wire.InvalidParams, "channel"},
		{`{"channel":"ahp-tandem:/sharing",` + claim + `}`, wire.InvalidParams, "channel"},
		{`{"channel":"ahp-terminal:/` + strings.Repeat("a", 256) + `",` + claim + `}`, wire.InvalidParams, "256"},
		{`{"channel":"ahp-terminal:/a","cols":0,` + claim + `}`, wire.InvalidParams, "cols"},
		{`{"channel":"ahp-terminal:/a","cols":-1,` + claim + `}`, wire.InvalidParams, "cols"},
		{`{"channel":"ahp-terminal:/a","cols":80.5,` + claim + `}`, wire.InvalidParams, "cols"},
		{`{"channel":"ahp-terminal:/a","cols":"80",` + claim + `}`, wire.InvalidParams, "cols"},
		{`{"channel":"ahp-terminal:/a","cols":1001,` + claim + `}`, wire.InvalidParams, "1000"},
		{`{"channel":"ahp-terminal:/a","rows":0,` + claim + `}`, wire.InvalidParams, "rows"},
		{`{"channel":"ahp-terminal:/a","rows":1e9,` + claim + `}`, wire.InvalidParams, ""},
		{`{"channel":"ahp-terminal:/a","cwd":"file:///no/such/dir",` + claim + `}`, wire.NotFound, "directory not found"},
		{`{"channel":"ahp-terminal:/a","cwd":"file://` + file + `",` + claim + `}`, wire.NotFound, "directory"},
		{`{"channel":"ahp-terminal:/a","cwd":"file://elsewhere/tmp",` + claim + `}`, wire.InvalidParams, "cwd"},
		{`{"channel":"ahp-terminal:/a","cwd":"https://example.com/",` + claim + `}`, wire.InvalidParams, "cwd"},
		{`{"channel":"ahp-terminal:/a","cwd":"relative",` + claim + `}`, wire.InvalidParams, "cwd"},
		{`{"channel":"ahp-terminal:/a","name":"\u001b]0;x\u0007",` + claim + `}`, wire.InvalidParams, "name"},
		{`{"channel":"ahp-terminal:/a","name":7,` + claim + `}`, wire.InvalidParams, "name"},
	} {
		if f := s.call("createTerminal", c.params); f.Error == nil || f.Error.Code != c.code || !strings.Contains(f.Error.Message, c.words) {
			t.Errorf("%s: %s", c.params, f.Text)
		}
	}
	s.sync()
	if len(s.seen) > 0 || w.sharing.Stats().Live > 0 {
		t.Errorf("told %v", s.seen)
	}
	s.make("ahp-terminal:/a", "desk") // the name was not used up
}

func TestLimitOfLiveTerminalsIsInTheError(t *testing.T) {
	w := newWorld(t, func(c *sharing.Config) { c.Terminals.Shell = "/bin/cat" })
	program, s := w.enter("claude", "c1", "1.0.0"), w.enter("person", "desk", "1.0.0")
	made := 0
	fill := func(s *socket, clientID string) {
		for {
			f := s.call("createTerminal", fmt.Sprintf(`{"channel":"ahp-terminal:/%d","claim":{"kind":"client","clientId":%q}}`, made, clientID))
			if f.Error != nil {
				var data any
				_ = json.Unmarshal(f.Error.Data, &data)
				s.refused(f, wire.Internal, "limit of 10 live terminals reached")
				if string(f.Error.Data) != `{"limit":10}` {
					t.Errorf("data %s", f.Error.Data)
				}
				return
			}
			made++
		}
	}
	if fill(program, "c1"); made != 8 {
		t.Errorf("a program made %d terminals: two are kept for people", made)
	}
	if fill(s, "desk"); made != 10 {
		t.Errorf("%d terminals were made", made)
	}
	s.null(s.call("disposeTerminal", `{"channel":"ahp-terminal:/0"}`))
	fill(program, "c1")
	if fill(s, "desk"); made != 11 {
		t.Errorf("%d terminals were made", made)
	}
}

// 25
func TestFixturesOfReducersHoldAtTheHost(t *testing.T) {
	w := newWorld(t, nil)
	for folder, version := range map[string]string{"reducers": "0.6.0", "reducers-1.x/derived": "1.0.0"} {
		files, err := filepath.Glob(filepath.Join(fixtures(t), folder, "*-terminal-*.json"))
		if err != nil || len(files) < 10 {
			t.Fatalf("fixtures: %v, %v", files, err)
		}
		for _, file := range files {
			t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
				w.playFixture(t, file, version)
			})
		}
	}
}

// playFixture does at a real terminal what a reducer's fixture says, and expects the fixture's state at the host and at a
// client that applied the actions.
func (w *world) playFixture(t *testing.T, file, version string) {
	var fixture struct {
		Initial, Expected wire.TerminalState
		Actions           []json.RawMessage
	}
	p, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(p, &fixture); err != nil {
		t.Fatal(err)
	}
	client := w.enter("person", "vscode-1", version)
	defer client.conn.CloseNow()
	s := w.enter("person", "c1", version)
	defer s.conn.CloseNow()
	s.t = t
	const channel = "ahp-terminal:/fixture"
	initial := fixture.Initial
	claim, _ := json.Marshal(initial.Claim)
	size := ""
	if initial.Cols > 0 {
		size = fmt.Sprintf(`,"cols":%d,"rows":%d`, initial.Cols, initial.Rows)
	}
	s.null(s.call("createTerminal", fmt.Sprintf(`{"channel":%q,"name":%q,"claim":%s%s}`, channel, initial.Title, claim, size)))
	defer s.call("disposeTerminal", fmt.Sprintf(`{"channel":%q}`, channel))
	s.subscribe(channel, "")
	s.input(channel, "stty raw -echo; printf %s%s STA RT; while read -r line; do eval \"$line\"; done\r")
	s.untilText(channel, "START")
	show := func(text string, shown func(wire.TerminalState) bool) {
		s.input(channel, "printf %b '"+octal(text)+"'\n")
		for !shown(*s.Terminals[channel]) {
			s.hear()
		}
	}
	print := func(text string) {
		want := len(s.Text(channel)) + len(text)
		show(text, func(wire.TerminalState) bool { return len(s.Text(channel)) >= want })
	}
	move := func(cwd string) {
		show("\x1b]7;"+cwd+"\a", func(s wire.TerminalState) bool { return s.Cwd == cwd })
	}
	execute := func(line string) {
		count := len(s.Terminals[channel].Content)
		show("\x1b]633;E;"+line+"\a\x1b]633;C\a", func(s wire.TerminalState) bool { return len(s.Content) > count })
	}
	finish := func(code int) {
		show(fmt.Sprintf("\x1b]633;D;%d\a", code), func(s wire.TerminalState) bool { return s.Content[len(s.Content)-1].IsComplete })
	}
	for _, part := range initial.Content {
		if part.Type == wire.Unclassified {
			print(part.Value)
			continue
		}
		execute(part.CommandLine)
		print(part.Output)
		if part.IsComplete {
			finish(*part.ExitCode)
		}
	}
	if initial.Cwd != "" {
		move(initial.Cwd)
	}
	cleared := false
	for _, raw := range fixture.Actions {
		action, err := wire.UnmarshalAction(raw)
		if err != nil {
			t.Fatal(err)
		}
		switch action := action.(type) {
		case wire.TerminalData:
			print(action.Data)
		case wire.TerminalCwdChanged:
			move(action.Cwd)
		case wire.TerminalCommandDetectionAvailable:
			show("\x1b]633;A\a", func(s wire.TerminalState) bool { return s.SupportsCommandDetection })
		case wire.TerminalCommandExecuted:
			execute(action.CommandLine)
		case wire.TerminalCommandFinished:
			finish(*action.ExitCode)
		case wire.TerminalExited:
			if action.ExitCode == nil {
				t.Skip("a program that runs here has an exit code")
			}
			s.input(channel, fmt.Sprintf("exit %d\n", *action.ExitCode))
			s.until("terminal/exited")
		default:
			s.sync()
			s.dispatch(channel, string(raw))
			_, unknown := action.(wire.Unknown)
			if e := s.own(); (e.RejectionReason != "") != unknown {
				t.Fatalf("%s came back as %+v", raw, e)
			}
			_, clears := action.(wire.TerminalCleared)
			cleared = cleared || clears
		}
	}
	fresh := w.enter("person", "c2", version, channel)
	defer fresh.conn.CloseNow()
	s.sync()
	want := fixture.Expected
	for who, p := range map[string]*socket{"the client": s, "the host": fresh} {
		got := *p.Terminals[channel]
		if got.Title != want.Title || got.Claim != want.Claim || want.Cols != 0 && (got.Cols != want.Cols || got.Rows != want.Rows) ||
			want.Cwd != "" && got.Cwd != want.Cwd || got.SupportsCommandDetection != want.SupportsCommandDetection {
			t.Errorf("%s has %+v, want %+v", who, got, want)
		}
		if g, w := fmt.Sprint(ended(got)), fmt.Sprint(ended(want)); g != w {
			t.Errorf("%s has exit %s, want %s", who, g, w)
		}
		g, w := outline(got.Content), outline(want.Content)
		if cleared && !strings.Contains(g, "hello world") && !strings.Contains(g, wire.Command) {
			continue // but for the line that the cursor is on, which the host says again
		}
		if g != w {
			t.Errorf("%s has\n%s\nwant\n%s", who, g, w)
		}
	}
}

// outline returns what there is to compare in content, from START on: when a command ran and its id differ.
func outline(content []wire.Part) string {
	var lines []string
	for _, p := range content {
		if _, after, found := strings.Cut(p.Value, "START"); found {
			p.Value = after
		}
		switch {
		case p.Type == wire.Command && p.IsComplete:
			lines = append(lines, fmt.Sprintf("command %q printed %q, and ended with %d: %t", p.CommandLine, p.Output, *p.ExitCode, p.DurationMs != nil))
		case p.Type == wire.Command:
			lines = append(lines, fmt.Sprintf("command %q printed %q", p.CommandLine, p.Output))
		case p.Value != "":
			lines = append(lines, fmt.Sprintf("%q", p.Value))
		}
	}
	return strings.Join(lines, "\n")
}

// octal returns text as printf %b takes it.
func octal(text string) string {
	var escaped strings.Builder
	for _, b := range []byte(text) {
		fmt.Fprintf(&escaped, `\0%03o`, b)
	}
	return escaped.String()
}

// ended returns how a state says that the program has ended.
func ended(s wire.TerminalState) (said []any) {
	if s.ExitCode != nil {
		said = append(said, "code", *s.ExitCode)
	}
	if l := s.Lifecycle; l != nil {
		said = append(said, l.Status)
		if l.ExitCode != nil {
			said = append(said, *l.ExitCode)
		}
	}
	return said
}
