package server

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	ahpwire "tandem/ahp/wire"
	"tandem/server/login"
)

// assaultAHP opens a socket to the host by hand, with a token.
func (s *instance) assaultAHP(t *testing.T, token string) *hostile {
	t.Helper()
	h := s.browser(t).upgradeByHand(t, "ahp", map[string]string{"Authorization": "Bearer " + token, "Origin": ""})
	response, err := http.ReadResponse(h.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("status %d", response.StatusCode)
	}
	return h
}

// says sends a message as one frame.
func (h *hostile) says(format string, args ...any) {
	h.t.Helper()
	h.sends(wire(wireFin|wireText, fmt.Sprintf(format, args...)))
}

// closing waits until the server says that it closes, and returns its code.
func (h *hostile) closing() websocket.StatusCode {
	h.t.Helper()
	for {
		opcode, payload, err := h.next()
		if err != nil || opcode == wireClose && len(payload) < 2 {
			h.t.Fatalf("waiting for a close: %v", err)
		}
		if opcode == wireClose {
			return websocket.StatusCode(binary.BigEndian.Uint16(payload))
		}
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"%s"}}`

// What only the host says is not taken from anybody, whoever holds the terminal, and nobody else hears of it.
func TestForgedActionsAreRefused(t *testing.T) {
	s := openScene(t, nil)
	it := s.run(s.desk, rawCat)
	s.desk.ahp.must(it.uri, ahpwire.TerminalTitleChanged{Title: "one that stays"})
	s.hand(it, s.claude)
	s.codex.ahp.subscribe(it.uri)
	s.codex.ahp.reads(it.uri, "ready")
	s.codex.ahp.sync()
	told := len(s.codex.ahp.seen)
	before, err := json.Marshal(s.codex.ahp.Terminals[it.uri])
	if err != nil {
		t.Fatal(err)
	}
	zero := 0
	forged := map[string][]ahpwire.Action{
		it.uri: {
			ahpwire.TerminalData{Data: "forged"}, ahpwire.TerminalExited{ExitCode: &zero}, ahpwire.TerminalCwdChanged{Cwd: "file:///forged"},
			ahpwire.TerminalCommandDetectionAvailable{}, ahpwire.TerminalCommandExecuted{CommandID: "c", CommandLine: "forged"},
			ahpwire.TerminalCommandFinished{CommandID: "c"}, ahpwire.RootTerminalsChanged{Terminals: []ahpwire.TerminalInfo{}},
			ahpwire.SharingModeSet{Resource: it.uri, Mode: "share"}, ahpwire.SharingPausedSet{Paused: true},
			ahpwire.Unknown{Raw: json.RawMessage(`{"type":"terminal/unheardOf"}`)}, ahpwire.Unknown{Raw: json.RawMessage(`{"type":"terminal/input","data":7}`)},
			ahpwire.Unknown{Raw: json.RawMessage(`{"type":"Terminal/Input","data":"x"}`)}, ahpwire.Unknown{Raw: json.RawMessage(`{}`)},
			ahpwire.Unknown{Raw: json.RawMessage(`{"type":"terminal/claimed","claim":{"kind":"client"}}`)},
		},
		ahpwire.RootChannel: {
			ahpwire.RootTerminalsChanged{Terminals: []ahpwire.TerminalInfo{}}, ahpwire.RootAgentsChanged{Agents: []json.RawMessage{}},
			ahpwire.RootActiveSessionsChanged{ActiveSessions: 5}, ahpwire.RootConfigChanged{}, ahpwire.TerminalInput{Data: "x"}, ahpwire.TerminalCleared{},
		},
	}
	for channel, actions := range forged {
		for _, who := range []*actor{s.claude, s.codex, s.reader, s.desk} {
			for _, a := range actions {
				if refused := who.ahp.does(channel, a); refused == "" {
					t.Errorf("%s: %s on %s is taken", who.name, ahpwire.AppendAction(nil, a), channel)
				}
			}
		}
	}
	for _, a := range []ahpwire.Action{ahpwire.SharingChanged{}, ahpwire.TerminalCleared{}, ahpwire.RootTerminalsChanged{Terminals: []ahpwire.TerminalInfo{}}} {
		if refused := s.desk.ahp.does(ahpwire.SharingChannel, a); refused == "" {
			t.Errorf("%T on the sharing channel is taken", a)
		}
	}
	for _, e := range s.codex.ahp.seen[told:] {
		if e.Origin == nil || e.Origin.ClientID != s.codex.name || e.RejectionReason == "" {
			t.Errorf("one that had no part in it is told %+v", e)
		}
	}
	s.codex.ahp.subscribe(it.uri)
	if after, err := json.Marshal(s.codex.ahp.Terminals[it.uri]); err != nil || string(after) != string(before) {
		t.Errorf("the state was %s and is %s", before, after)
	}
}

// The id that a client calls itself by gives it nothing that its token does not.
func TestAnotherClientsIDIsNoIdentity(t *testing.T) {
	s := openScene(t, nil)
	it := s.run(s.desk, rawCat)
	s.mode(it, "watch")
	id := strings.TrimPrefix(s.desk.name, "login-")
	for _, name := range []string{s.desk.name, s.phone.name, "login-" + strings.Repeat("A", len(id)), "login-", s.claude.name, s.twin.name, "token-", "token-x"} {
		thief := s.connect(s.codex.token, name)
		ctx, cancel := thief.within()
		if _, err := thief.Reconnect(ctx, s.desk.ahp.LastSeen, ahpwire.RootChannel, ahpwire.SharingChannel, it.uri); codeOf(err) != ahpwire.NotFound {
			t.Errorf("reconnecting as %s: %v", name, err)
		}
		if _, err := thief.Initialize(ctx, ahpwire.RootChannel, ahpwire.SharingChannel); codeOf(err) != ahpwire.InvalidParams {
			t.Errorf("beginning as %s: %v", name, err)
		}
		if err := thief.trySubscribe(it.uri); codeOf(err) != ahpwire.InvalidRequest {
			t.Errorf("without a name: %v", err)
		}
		thief.dispatch(it.uri, ahpwire.TerminalInput{Data: "stolen"})
		thief.sync()
		cancel()
		thief.Close()
	}
	// A person's other browser may: all logins are one person. A name that is free is anybody's first.
	if result := s.phone.dialAHP("", s.desk.name).initialize(ahpwire.SharingChannel); len(result.Snapshots) != 1 {
		t.Errorf("a person's other browser is shown %+v", result.Snapshots)
	}
	s.connect(s.codex.token, "free").initialize()
	late := s.desk.dialAHP("", "free")
	ctx, cancel := late.within()
	defer cancel()
	if _, err := late.Initialize(ctx); codeOf(err) != ahpwire.InvalidParams {
		t.Errorf("two identities have one name: %v", err)
	}
	screen, _ := s.desk.view(it, "")
	screen.see("ready")
	screen.types("[end]")
	screen.see("[end]")
	if holder := s.holder(it); holder != s.desk.name {
		t.Errorf("%s holds the terminal", holder)
	}
	s.desk.ahp.sync()
	for _, e := range s.desk.ahp.seen {
		if e.Origin != nil && e.Origin.ClientID != s.desk.name {
			t.Errorf("an action is ascribed to %s", e.Origin.ClientID)
		}
	}
}

func TestMessageThatIsTooBigClosesAHP(t *testing.T) {
	w := watch(t, nil)
	token := w.s.token(t, "claude", login.ReadTerminals)
	for name, bytes := range map[string]string{
		"10 MB in fragments": wire(wireText, "") + strings.Repeat(wire(wireContinuation, strings.Repeat("x", 64<<10)), 160),
		"10 MB of a string":  wire(wireFin|wireText, `{"jsonrpc":"2.0","id":"`+strings.Repeat("x", 10<<20)+`","method":"ping"}`),
	} {
		h := w.s.assaultAHP(t, token)
		h.says(hello, "c")
		h.told("protocolVersion")
		h.sends(bytes)
		if code := h.ended(); code != 1009 {
			t.Errorf("%s: closed with %d", name, code)
		}
		h.conn.Close()
		w.unharmed(name)
	}
	h := w.s.assaultAHP(t, token)
	h.says(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"%s"}}`, strings.Repeat("x", 2<<20-100))
	h.told(`"id":1,"result":null`)
	h.conn.Close()
	w.leaksNothing()
}

// Nonsense is answered, where it can be, and changes nothing.
func TestGarbageIsAnswered(t *testing.T) {
	s := openScene(t, nil)
	it := s.open(s.desk)
	deep := strings.Repeat(`{"a":[`, 5000) + strings.Repeat(`]}`, 5000)
	h := s.assaultAHP(t, s.claude.token)
	try := func(initialized bool) {
		t.Helper()
		for message, want := range map[string]string{
			``: "-32700", `nonsense`: "-32700", "\xff\xfe\x00": "-32700", `{`: "-32700", `{} {}`: "-32700", strings.Repeat("[", 200_000): "-32700",
			`[]`: "-32600", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`: "-32600", `7`: "-32600", `null`: "-32600", `"x"`: "-32600", `{}`: "-32600", deep: "-32600",
			`{"jsonrpc":"1.0","id":9,"method":"ping"}`: "-32600", `{"jsonrpc":"2.0","id":{},"method":"ping"}`: "-32600",
			`{"jsonrpc":"2.0","id":9,"method":7}`: "-32600", `{"jsonrpc":"2.0","id":9,"method":""}`: "-32600",
			`{"jsonrpc":"2.0","id":9,"method":"initialize"}`: "-32600", `{"jsonrpc":"2.0","id":9,"method":"reconnect","params":[]}`: "-32600",
			`{"jsonrpc":"2.0","id":9,"method":"subscribe","params":"x"}`:     "-32600",
			`{"jsonrpc":"2.0","id":9,"method":"createTerminal","params":{}}`: "-32600",
			`{"jsonrpc":"2.0","id":9,"method":"shutdown"}`:                   "-32600",
		} {
			if initialized && strings.Contains(message, `"subscribe"`) || initialized && strings.Contains(message, `"createTerminal"`) {
				want = "-32602"
			}
			if initialized && strings.Contains(message, "shutdown") {
				want = "-32601"
			}
			if !initialized && (strings.Contains(message, `"initialize"`) || strings.Contains(message, `"reconnect"`)) {
				want = "-32602"
			}
			h.says("%s", message)
			h.told(want)
		}
		// To these there is no answer.
		for _, message := range []string{
			`{"jsonrpc":"2.0","method":"nonsense"}`, `{"jsonrpc":"2.0","method":"dispatchAction"}`, `{"jsonrpc":"2.0","method":"unsubscribe","params":[]}`,
			`{"jsonrpc":"2.0","id":5,"result":{}}`, `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}`, `{"jsonrpc":"2.0","method":"action","params":{}}`,
			`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"` + it.uri + `","clientSeq":-1,"action":{"type":"terminal/input","data":"x"}}}`,
			`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"` + it.uri + `","clientSeq":1e3,"action":[]}}`,
		} {
			h.says("%s", message)
		}
		h.sends(wire(wireFin|wireBinary, `{"jsonrpc":"2.0","id":"binary","method":"ping"}`)) // is taken for text
		for answers := 0; ; answers++ {
			opcode, payload, err := h.next()
			if err != nil {
				t.Fatal(err)
			}
			if opcode == wireText && strings.Contains(string(payload), `"id":"binary"`) {
				break
			}
			t.Errorf("answered %.200s", payload)
		}
	}
	try(false)
	h.says(hello, "garbage")
	h.told("protocolVersion")
	try(true)
	if live := s.terminals.Stats().Live; live != 1 {
		t.Errorf("there are %d terminals", live)
	}
}

func TestThousandsOfSubscriptionsTakeNoMemory(t *testing.T) {
	s := openScene(t, nil)
	it := s.open(s.desk)
	h := s.assaultAHP(t, s.codex.token)
	h.says(hello, "flood")
	h.told("protocolVersion")
	cycle := func(n int) {
		t.Helper()
		var writer sync.WaitGroup
		writer.Go(func() {
			for i := range n {
				h.says(`{"jsonrpc":"2.0","id":"known","method":"subscribe","params":{"channel":"%s"}}`, it.uri)
				h.says(`{"jsonrpc":"2.0","id":"unknown","method":"subscribe","params":{"channel":"ahp-terminal:/unknown-%d"}}`, i)
				h.says(`{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"ahp-terminal:/unknown-%d"}}`, i)
				if i%2 == 0 {
					h.says(`{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"%s"}}`, it.uri)
				}
			}
			h.says(`{"jsonrpc":"2.0","id":"done","method":"ping"}`)
		})
		h.told(`"id":"done"`)
		writer.Wait()
		for _, other := range []*actor{s.desk, s.phone} { // who are told who watches
			other.ahp.sync()
			other.ahp.seen = nil
		}
	}
	cycle(100)
	before := measureUsage(t)
	cycle(1000)
	fallsBackTo(t, before, 2<<20)
	if n := s.ahp.Stats().Subscriptions; n > 10 {
		t.Errorf("%d subscriptions", n)
	}

	// Many in one request.
	many := make([]string, 50_000)
	for i := range many {
		many[i] = fmt.Sprintf("ahp-terminal:/%d", i)
	}
	newcomer := s.connect(s.codex.token, "newcomer")
	ctx, cancel := newcomer.within()
	defer cancel()
	if _, err := newcomer.Initialize(ctx, many...); codeOf(err) != ahpwire.InvalidParams {
		t.Errorf("initialize: %v", err)
	}
	if _, err := newcomer.Reconnect(ctx, 0, many...); codeOf(err) != ahpwire.InvalidParams {
		t.Errorf("reconnect: %v", err)
	}
	// One under many names, and many times.
	var names []string
	for i := range 200 {
		names = append(names, "ahp-root:"+strings.Repeat("/", i), it.uri)
	}
	names = append(names[:250], "agenthost:/root")
	had := s.ahp.Stats().Subscriptions
	if result := newcomer.initialize(names...); len(result.Snapshots) != 2 {
		t.Errorf("%d snapshots", len(result.Snapshots))
	}
	if n := s.ahp.Stats().Subscriptions; n != had+2 {
		t.Errorf("%d subscriptions more", n-had)
	}
	s.desk.ahp.must(it.uri, ahpwire.TerminalTitleChanged{Title: "once"})
	newcomer.sync()
	if len(newcomer.seen) != 2 { // the title, and the list with it
		t.Errorf("told %+v", newcomer.seen)
	}
}

// Clients that send what has answers, and take none of them: the host stops to read from them, keeps little, serves
// others, and is rid of them as soon as their token is revoked.
func TestClientsThatTakeNoAnswersAreBounded(t *testing.T) {
	w := watch(t, nil)
	var uri terminalJSON
	w.c.do("GET", "api/terminals/"+w.id, nil).into(t, &uri)
	token := w.s.token(t, "claude", login.ReadTerminals, login.WriteTerminals)
	some, big := strings.Repeat("x", 1<<10), strings.Repeat("x", 1<<20)
	dispatch := `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"` + uri.Channel + `","clientSeq":%d,"action":`
	floods := map[string]string{
		"pings":           `{"jsonrpc":"2.0","id":"%d` + some + `","method":"ping"}`,
		"subscriptions":   `{"jsonrpc":"2.0","id":%d,"method":"subscribe","params":{"channel":"` + uri.Channel + `"}}`,
		"refused titles":  dispatch + `{"type":"terminal/titleChanged","title":"` + big + `"}}}`,
		"unknown actions": dispatch + `{"type":"x","x":"` + big + `"}}}`,
	}
	const most = 128 << 20 // bytes, more than what lies between can hold
	attackers := map[string]*hostile{}
	var writers sync.WaitGroup
	for name, message := range floods {
		h := w.s.assaultAHP(t, token)
		attackers[name] = h
		h.says(hello, name)
		writers.Go(func() {
			sent := 0
			for i := 1; ; i++ {
				frame := wire(wireFin|wireText, fmt.Sprintf(message, i))
				_ = h.conn.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
				n, err := h.conn.Write([]byte(frame))
				if sent += n; errors.Is(err, os.ErrDeadlineExceeded) {
					return
				}
				if err != nil || sent > most {
					t.Errorf("%s: %v after %d bytes", name, err, sent)
					return
				}
			}
		})
	}
	writers.Wait()
	w.unharmed("the floods")
	now := measureUsage(t)
	if now.heap > w.before.heap+32<<20 {
		t.Errorf("from %v to %v", w.before, now)
	}
	if n := w.s.ahp.Stats().Connections; n != len(attackers) {
		t.Fatalf("%d connections", n)
	}
	if err := w.s.logins.RevokeToken("claude"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the host is rid of them", func() bool { return w.s.ahp.Stats().Connections == 0 })
	for _, h := range attackers {
		h.conn.Close()
	}
	w.unharmed("the floods")
	w.leaksNothing()
}

// A token that is revoked ends what it is in the middle of, at once, and what was done by then stays.
func TestRevokedTokenEndsAHPInTheMiddle(t *testing.T) {
	s := openScene(t, nil)
	it := s.run(s.desk, script("stty raw -echo; echo ready; while :; do echo still here; sleep 0.01; done"))
	s.claude.ahp.subscribe(it.uri)
	s.claude.ahp.reads(it.uri, "still here")
	s.hand(it, s.claude)
	half := s.assaultAHP(t, s.claude.token)
	half.says(hello, "half")
	half.told("protocolVersion")
	half.sends(wireHead(wireFin|wireText, 1<<20) + `{"jsonrpc":"2.0","id":1,`)
	lane, _ := s.claude.view(it, "")
	lane.see("still here")
	if err := s.logins.RevokeToken("claude"); err != nil {
		t.Fatal(err)
	}
	for what, code := range map[string]websocket.StatusCode{
		"AHP": s.claude.ahp.closed(), "AHP of another client": s.twin.ahp.closed(), "the byte lane": lane.closed(),
		"AHP in the middle of a message": half.closing(),
	} {
		if code != closeLoginEnded {
			t.Errorf("%s closed with %d", what, code)
		}
	}
	bare := s.browser(t)
	bare.origin = ""
	if status := bare.bearing(s.claude.token).statusOfAHP(""); status != http.StatusUnauthorized {
		t.Errorf("coming back: %d", status)
	}
	if status := bare.statusOfAHP("?tkn=" + s.claude.token); status != http.StatusUnauthorized {
		t.Errorf("coming back: %d", status)
	}
	// Others go on, and what it held is still there.
	s.codex.ahp.subscribe(it.uri)
	s.codex.ahp.reads(it.uri, "still here")
	if holder := s.holder(it); holder != s.claude.name {
		t.Errorf("%s holds the terminal, before the grace is over", holder)
	}
	screen, _ := s.desk.view(it, "")
	screen.types("k")
	eventually(t, "the person has it back", func() bool { return s.holder(it) == s.desk.name })
}
