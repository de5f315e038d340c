package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	ahpwire "tandem/ahp/wire"
	"tandem/server/login"
)

// secretTab is a tab of the person's that programs may watch, which will be private.
type secretTab struct {
	subject
	dir   string
	marks []string // what must not be seen of it
}

// openSecret opens a tab whose URI, title, directory and output can be told from all others'.
func (s *scene) openSecret(by *actor) secretTab {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "secret-dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	it := s.run(by, map[string]any{"command": "/bin/sh", "cwd": dir, "name": "secret-title"})
	return secretTab{it, dir, []string{it.id, it.uri, "secret-", "SECRET"}}
}

// leaks reports what of a private tab is in text.
func (it secretTab) leaks(text string) string {
	for _, mark := range it.marks {
		if at := strings.Index(text, mark); at >= 0 {
			return fmt.Sprintf("%q in …%s", mark, text[max(at-60, 0):min(at+60, len(text))])
		}
	}
	return ""
}

// ended returns why a socket ended.
func (l *lane) ended() websocket.CloseError {
	l.t.Helper()
	for {
		if err := l.next(); err != nil {
			why, _ := errors.AsType[websocket.CloseError](err)
			return why
		}
	}
}

// withoutDate is an answer but for when it was given.
func (a answer) withoutDate() string {
	a.header.Del("Date")
	return fmt.Sprint(a.status, a.header, string(a.body))
}

// everywhere returns what a program is told about a terminal wherever it can ask, by what it asks. Terminal ids and URIs
// in it are replaced, so that two terminals that are told of alike look alike.
func (s *scene) everywhere(who *actor, it subject) map[string]string {
	s.t.Helper()
	told := map[string]string{}
	path := "api/terminals/" + it.id
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{"GET", path, nil},
		{"HEAD", path, nil},
		{"PATCH", path, map[string]any{"title": "mine"}},
		{"PATCH", path, map[string]any{"title": "\x07"}},
		{"PATCH", path, map[string]any{"nonsense": true}},
		{"DELETE", path, nil},
		{"POST", path + "/tickets", nil},
		{"GET", "ws/terminal?session_id=" + it.id, nil},
		{"GET", "ws/terminal?since=0&session_id=" + it.id, nil},
	} {
		told[fmt.Sprintf("%s %s %v", r.method, strings.ReplaceAll(r.path, it.id, "ID"), r.body)] = who.do(r.method, r.path, r.body).withoutDate()
	}
	_, status := who.view(it, "")
	told["upgrade"] = fmt.Sprint(status)
	p := who.ahp
	ask := func(what string, params any, method string) {
		ctx, cancel := p.within()
		defer cancel()
		var result json.RawMessage
		err := p.Call(ctx, method, params, &result)
		told[what] = fmt.Sprintf("%s %v", result, err)
	}
	ask("subscribe", ahpwire.SubscribeParams{Channel: it.uri}, "subscribe")
	ask("dispose", ahpwire.ChannelParams{Channel: it.uri}, "disposeTerminal")
	for _, a := range []ahpwire.Action{
		ahpwire.TerminalInput{Data: "x"}, ahpwire.TerminalResized{Cols: 10, Rows: 10}, ahpwire.TerminalResized{Cols: -1}, claimFor(who.name), claimFor("nobody"),
		claimForSession("ahp-session:/s", ""), ahpwire.TerminalTitleChanged{Title: "mine"}, ahpwire.TerminalCleared{},
		ahpwire.TerminalData{Data: "forged"}, ahpwire.TerminalExited{}, ahpwire.Unknown{Raw: json.RawMessage(`{"type":"terminal/unknown"}`)},
		ahpwire.Unknown{Raw: json.RawMessage(`{"type":"terminal/claimed"}`)},
	} {
		told[fmt.Sprintf("dispatch %+v", a)] = fmt.Sprint(who.onAHP(it.uri, a))
	}
	told["mode"] = fmt.Sprint(who.onAHP(ahpwire.SharingChannel, ahpwire.SharingModeSet{Resource: it.uri, Mode: "share"}))
	for what, text := range told {
		text = strings.ReplaceAll(text, it.uri, "URI")
		told[what] = strings.ReplaceAll(text, it.id, "ID")
	}
	return told
}

func TestPrivateTabIsAsIfItDidNotExist(t *testing.T) {
	s := openScene(t, nil)
	// One that the person made and a program holds, and one that a program made.
	lent, made := s.openSecret(s.desk), s.openSecret(s.claude)
	s.hand(lent.subject, s.claude)
	unknown := subject{"A" + lent.id[1:], "ahp-terminal:/A" + lent.id[1:]}
	programs := []*actor{s.claude, s.twin, s.codex, s.reader}
	s.mode(lent.subject, "private")
	s.mode(made.subject, "private")
	for _, it := range []secretTab{lent, made} {
		if holder := s.holder(it.subject); holder != s.desk.name {
			t.Errorf("%s holds what is private", holder)
		}
		for _, who := range programs {
			want := s.everywhere(who, unknown)
			for what, told := range s.everywhere(who, it.subject) {
				if told != want[what] {
					t.Errorf("%s, %s: told\n%s\nof what is private, and\n%s\nof what does not exist", who.name, what, told, want[what])
				}
			}
			if a := who.do("GET", "api/terminals", nil); it.leaks(string(a.body)) != "" {
				t.Errorf("%s lists %s", who.name, a)
			}
			if who.ahp.sync(); who.ahp.listed(it.uri) {
				t.Errorf("%s is shown it in the list", who.name)
			}
			newcomer := s.connect(who.token, who.name)
			if result := newcomer.initialize(ahpwire.RootChannel, it.uri, unknown.uri); len(result.Snapshots) != 1 || it.leaks(string(result.Snapshots[0].State)) != "" {
				t.Errorf("%s begins with %d snapshots, %s", who.name, len(result.Snapshots), result.Snapshots[0].State)
			}
			err := newcomer.tryCreate(it.uri, who.name)
			if code := codeOf(err); code != ahpwire.InvalidParams && who != s.reader || code == ahpwire.AlreadyExists || strings.Contains(err.Error(), "exists") {
				t.Errorf("%s makes one of the same name: %v", who.name, err)
			}
			newcomer.Close()
		}
		if s.find(it.subject) == nil {
			t.Fatal("a program disposed of it")
		}
		if info := s.info(it.subject); info.Mode.String() != "private" || info.Title != "secret-title" || info.Claim.Client != s.desk.name {
			t.Errorf("a program changed it: %+v", info)
		}
	}
}

// To programs that use a tab it ends as if it was disposed of.
func TestTabThatBecomesPrivateEndsForPrograms(t *testing.T) {
	s := openScene(t, nil)
	it, gone := s.openSecret(s.desk), s.openSecret(s.desk)
	var ends []*lane
	for _, it := range []secretTab{it, gone} {
		s.codex.ahp.subscribe(it.uri)
		s.hand(it.subject, s.codex)
		l, _ := s.codex.view(it.subject, "")
		l.frame("ready")
		ends = append(ends, l)
	}
	screen, _ := s.desk.view(it.subject, "")
	screen.frame("ready")
	s.codex.ahp.sync()
	told := len(s.codex.ahp.seen)
	last := s.codex.ahp.LastSeen
	s.mode(it.subject, "private")
	if v := disposeREST(s, s.desk, gone.subject); v != done {
		t.Fatal(v)
	}
	if private, disposed := ends[0].ended(), ends[1].ended(); private != disposed || private.Code != closeDisposed {
		t.Errorf("the byte lane ends with %v, and of one that was disposed of with %v", private, disposed)
	}
	s.prints(it.subject, "echo SEC''RET\n", "SECRET")
	s.codex.ahp.sync()
	lists := 0
	for _, e := range s.codex.ahp.seen[told:] {
		if _, ok := e.Action.(ahpwire.RootTerminalsChanged); ok {
			lists++
		}
		if e.Channel != ahpwire.RootChannel {
			t.Errorf("told %+v", e)
		}
	}
	if lists != 2 || len(s.codex.ahp.Root.Terminals) != 0 {
		t.Errorf("told %d lists, the last of which is %+v", lists, s.codex.ahp.Root.Terminals)
	}
	screen.types("echo still-$((40+2))\n")
	screen.see("still-42")

	// The same for one that was away.
	s.codex.ahp.Close()
	back := s.connect(s.codex.token, s.codex.name)
	ctx, cancel := back.within()
	defer cancel()
	result, err := back.Reconnect(ctx, last, ahpwire.RootChannel, it.uri, gone.uri)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(result.Missing, []string{it.uri, gone.uri}) || result.Snapshots != nil {
		t.Errorf("missing are %v; snapshots %v", result.Missing, result.Snapshots)
	}
	for _, e := range result.Actions {
		if e.Channel != ahpwire.RootChannel {
			t.Errorf("replayed: %+v", e)
		}
	}
}

// What happens to a private tab makes nobody else hear anything, not even a list that has not changed.
func TestNothingIsToldOfAPrivateTab(t *testing.T) {
	s := openScene(t, nil)
	s.open(s.claude)
	it := s.openSecret(s.desk)
	s.mode(it.subject, "private")
	programs := []*actor{s.claude, s.twin, s.codex, s.reader}
	for _, who := range programs { // with a list that came by an action
		who.ahp.sync()
	}
	before := s.connect(s.codex.token, "new")
	before.initialize(ahpwire.RootChannel)
	before.Close()
	resume := func(p *peer, from int64) {
		t.Helper()
		ctx, cancel := p.within()
		defer cancel()
		result, err := p.Reconnect(ctx, from, ahpwire.RootChannel)
		if err != nil || len(result.Actions) != 0 || result.Snapshots != nil {
			t.Errorf("replayed %+v, %v", result, err)
		}
	}
	newcomers := map[string]*peer{"by a snapshot": s.connect(s.codex.token, "newer"), "by a replay": s.connect(s.codex.token, "new")}
	newcomers["by a snapshot"].initialize(ahpwire.RootChannel)
	resume(newcomers["by a replay"], before.LastSeen)
	told := map[string]int{}
	for _, who := range programs {
		told[who.name] = len(who.ahp.seen)
	}
	last := s.codex.ahp.LastSeen

	happen := func() {
		s.phone.ahp.must(it.uri, claimFor(s.phone.name))
		s.phone.ahp.must(it.uri, ahpwire.TerminalTitleChanged{Title: "secret-title-2"})
		s.prints(it.subject, "printf 'SEC''RET \\033]0;secret-title-3\\007'; cd /; echo\n", "SECRET")
		s.phone.ahp.must(it.uri, ahpwire.TerminalTitleChanged{Title: ""})
		s.phone.ahp.must(it.uri, ahpwire.TerminalResized{Cols: 50, Rows: 20})
		s.phone.ahp.must(it.uri, ahpwire.TerminalCleared{})
		s.mode(it.subject, "private")
		s.hand(it.subject, s.desk)
	}
	happen()
	another := s.openSecret(s.desk) // which programs see for a moment: there is no other way to make one
	s.mode(another.subject, "private")
	for _, who := range programs {
		who.ahp.until("the other tab coming and going", func() bool { return len(who.ahp.seen) >= told[who.name]+2 })
		told[who.name] += 2
	}
	happen()
	s.prints(it.subject, "exit\n", "exit")
	eventually(t, "the shell ends", func() bool { return s.info(it.subject).Exit != nil })
	if v := disposeREST(s, s.desk, it.subject); v != done {
		t.Fatal(v)
	}
	for _, who := range programs {
		who.ahp.sync()
		for _, e := range who.ahp.seen[told[who.name]:] {
			t.Errorf("%s is told %+v", who.name, e)
		}
	}
	for how, p := range newcomers {
		p.sync()
		if len(p.seen) != 2 {
			t.Errorf("one that knows the list %s is told %+v", how, p.seen)
		}
	}
	newcomers["by a replay"].Close()
	resume(s.connect(s.codex.token, "new"), newcomers["by a replay"].LastSeen)
	s.codex.ahp.Close()
	back := s.connect(s.codex.token, s.codex.name)
	ctx, cancel := back.within()
	defer cancel()
	result, err := back.Reconnect(ctx, last, ahpwire.RootChannel)
	if err != nil || len(result.Actions) != 2 {
		t.Errorf("replayed %+v, %v", result, err)
	}
}

// Who watches a tab is shown to the person also after it was private.
func TestWatchersAreShownAfterATabWasPrivate(t *testing.T) {
	s := openScene(t, nil)
	it := s.open(s.desk)
	for range 2 {
		s.codex.ahp.subscribe(it.uri)
		s.desk.ahp.sync()
		if watchers := s.desk.ahp.Sharing.Terminals[it.uri].Watchers; len(watchers) != 1 || watchers[0].Name != "codex" {
			t.Errorf("watched by %+v", watchers)
		}
		s.mode(it, "private")
		s.desk.ahp.sync()
		if watchers := s.desk.ahp.Sharing.Terminals[it.uri].Watchers; len(watchers) != 0 {
			t.Errorf("in private watched by %+v", watchers)
		}
		s.mode(it, "ask")
	}
}

// shown is all that somebody is shown of a terminal, asked in every way there is.
func (s *scene) shown(who *actor, it subject) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	const end = "[end]"
	s.prints(it, "echo '[e''nd]'\n", end)
	_, head := s.find(it).Pty().Bounds()
	for _, since := range []string{"", "0", "1", fmt.Sprint(head / 2), fmt.Sprint(head - 20)} {
		l, status := who.view(it, since)
		if l == nil {
			s.t.Fatalf("status %d", status)
		}
		for !strings.Contains(string(l.log), end) && l.offset < head {
			if err := l.next(); err != nil {
				s.t.Fatal(err)
			}
		}
		all["byte lane since "+since] = string(l.log)
		l.conn.CloseNow()
	}
	who.ahp.unsubscribe(it.uri)
	who.ahp.subscribe(it.uri)
	all["subscribe"] = who.ahp.Text(it.uri)
	for what, text := range all {
		if !strings.Contains(text, end) && what != fmt.Sprintf("byte lane since %d", head-20) {
			s.t.Errorf("%s: shown only %q", what, text)
		}
	}
	return all
}

// What was printed before programs could see a tab is never shown to them, at whatever offset and number they ask.
func TestFloorHoldsAtEveryDoor(t *testing.T) {
	s := openScene(t, nil)
	it := s.open(s.desk)
	s.prints(it, "echo o''ne\n", "one")
	s.codex.ahp.subscribe(it.uri)
	s.codex.ahp.reads(it.uri, "one")
	numbers := []int64{s.codex.ahp.LastSeen}
	s.mode(it, "private")
	s.prints(it, "echo SEC''RET\n", "SECRET")
	s.mode(it, "watch")
	s.prints(it, "echo thr''ee\n", "three")
	s.codex.ahp.subscribe(it.uri)
	numbers = append(numbers, s.codex.ahp.LastSeen)
	s.mode(it, "private")
	s.prints(it, "echo SEC''RET\n", "SECRET")
	s.mode(it, "share")
	check := func(who *actor, not ...string) {
		t.Helper()
		for what, text := range s.shown(who, it) {
			for _, not := range not {
				if strings.Contains(text, not) {
					t.Errorf("%s, %s: shown %q of before", who.name, what, not)
				}
			}
		}
	}
	resume := func(who *actor, not ...string) {
		t.Helper()
		for _, from := range append(numbers, s.codex.ahp.LastSeen) {
			who.ahp.Close()
			who.ahp = s.connect(who.token, who.name)
			ctx, cancel := who.ahp.within()
			result, err := who.ahp.Reconnect(ctx, from, ahpwire.RootChannel, it.uri)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(result.Actions)
			if err != nil {
				t.Fatal(err)
			}
			for _, snapshot := range result.Snapshots {
				text = append(text, snapshot.State...)
			}
			for _, not := range not {
				if strings.Contains(string(text), not) {
					t.Errorf("%s is shown %q of before by a reconnect from %d: %s", who.name, not, from, text)
				}
			}
		}
		who.ahp.sync()
	}
	check(s.codex, "one", "SECRET", "three")
	check(s.reader, "one", "SECRET", "three")
	resume(s.codex, "SECRET")
	s.codex.ahp.subscribe(it.uri)
	if texts := s.shown(s.desk, it); !strings.Contains(texts["subscribe"], "SECRET") || !strings.Contains(texts["byte lane since 0"], "one") {
		t.Errorf("the person is shown %q", texts)
	}

	// What was cleared is shown to nobody.
	s.prints(it, "echo CLEA''RED\n", "CLEARED")
	s.codex.ahp.reads(it.uri, "CLEARED")
	numbers = append(numbers, s.codex.ahp.LastSeen)
	s.prints(it, "echo CLEA''RED\n", "CLEARED")
	s.desk.ahp.must(it.uri, ahpwire.TerminalCleared{})
	check(s.codex, "one", "SECRET", "three", "CLEARED")
	check(s.desk, "one", "SECRET", "three", "CLEARED")
	resume(s.codex, "SECRET", "CLEARED")
}

// A private tab is in nothing that the server writes down, and in no number with a name.
func TestPrivateTabIsInNoLogAndNoMetric(t *testing.T) {
	var log syncBuffer
	s := openScene(t, func(cfg *Config) { cfg.Logger = log.logger() })
	it := s.openSecret(s.desk)
	s.mode(it.subject, "private")
	screen, _ := s.desk.view(it.subject, "")
	screen.types("echo SEC''RET-$((40+2))\n")
	screen.see("SECRET-42")
	for _, who := range []*actor{s.claude, s.codex, s.reader} {
		s.everywhere(who, it.subject)
	}
	s.desk.ahp.must(it.uri, ahpwire.TerminalTitleChanged{Title: "secret-title-2"})
	monitor := s.program(t, s.token(t, "monitor", login.ReadMetrics))
	a := monitor.do("GET", "metrics", nil)
	if a.status != 200 || it.leaks(string(a.body)) != "" || !strings.Contains(string(a.body), "tandem_terminals") {
		t.Errorf("metrics: %d, %s", a.status, it.leaks(string(a.body)))
	}
	for _, who := range []*actor{s.desk, s.phone, s.claude, s.twin, s.codex, s.reader} {
		who.ahp.Close()
	}
	screen.conn.CloseNow()
	s.stop()
	text := log.String()
	for _, done := range []string{"terminal started", "/api/terminals/{id}", "/ahp"} {
		if !strings.Contains(text, done) {
			t.Errorf("the log does not tell of %s", done)
		}
	}
	for _, mark := range []string{"secret-", "SECRET", it.dir, "URI", "mine"} {
		if strings.Contains(text, mark) {
			t.Errorf("the log has %q:\n%s", mark, text)
		}
	}
	// Its id is there for its start and end, not for who asks for it.
	for line := range strings.Lines(text) {
		if strings.Contains(line, it.id) && !strings.Contains(line, "msg=\"terminal ") {
			t.Errorf("the log has %s", line)
		}
	}
}
