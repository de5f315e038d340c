package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	ahpwire "tandem/ahp/wire"
	"tandem/sharing"
)

// verdict is what came of asking: done; refused, with a reason; not found; or nothing, where a door says nothing.
type verdict struct{ what, reason string }

var (
	done     = verdict{what: "done"}
	notFound = verdict{what: "not found"}
	nothing  = verdict{what: "nothing"}
)

func refusedFor(reason string) verdict { return verdict{"refused", reason} }

func (a answer) verdict() verdict {
	switch {
	case a.status < 300:
		return done
	case a.status == http.StatusNotFound:
		return notFound
	}
	return refusedFor(a.String())
}

// verdictOf is that of an AHP request's error.
func verdictOf(err error) verdict {
	switch codeOf(err) {
	case 0:
		return done
	case ahpwire.NotFound:
		return notFound
	}
	return refusedFor(err.Error())
}

// onLane has somebody do something on the byte lane. It stays open until
// closeLanes: what it does to the size ends with it.
func (s *scene) onLane(a *actor, it subject, do func(*lane) *frame) verdict {
	l, status := a.view(it, "")
	switch {
	case status == http.StatusNotFound:
		return notFound
	case l == nil:
		return refusedFor(fmt.Sprint("status ", status))
	}
	s.lanes = append(s.lanes, l)
	l.frame("ready")
	if refused := do(l); refused != nil {
		if refused.Code != "refused" {
			a.t.Errorf("error frame %+v", refused)
		}
		return refusedFor(refused.Title)
	}
	return nothing
}

// onAHP has somebody dispatch an action, to which there is an answer only if it is refused.
func (a *actor) onAHP(channel string, action ahpwire.Action) verdict {
	if refused := a.ahp.does(channel, action); refused != "" {
		return refusedFor(refused)
	}
	return nothing
}

// try is how somebody does something at one door.
type try func(*scene, *actor, subject) verdict

// cannot stands for a door that has no way to ask for something.
var cannot try

// effect is what doing something changes.
type effect func(*scene, subject) any

// acts are the rows of the table of sharing but for claims: the columns are the person, the program that holds the
// terminal, another program, and the session's own side.
var acts = []struct {
	name                          string
	person, holds, other, session string
	rest, lane, ahp               try
	effect                        effect
}{
	{"read", "always", "yes", "by mode", "yes", readREST, readLane, readAHP, nil},
	{"read privately", "always", "not found", "not found", "not found", readREST, readLane, readAHP, nil},
	{"type", "always", "yes", "no", "yes", cannot, typeLane, typeAHP, inputOf},
	{"resize while nobody shows it", "always", "yes", "no", "yes", cannot, resizeLane, resizeAHP, sizeOf},
	{"resize at a browser while another shows it", "always", "no", "no", "no", cannot, resizeLane, cannot, sizeOf},
	{"resize otherwise while a browser shows it", "no", "no", "no", "no", cannot, cannot, resizeAHP, sizeOf},
	{"clear", "always", "yes", "no", "yes", cannot, clearLane, clearAHP, tailOf},
	{"rename", "always", "yes", "no", "yes", renameREST, cannot, renameAHP, titleOf},
	{"dispose of one's own", "always", "yes", "no", "yes", disposeREST, cannot, disposeAHP, whetherThere},
	{"dispose of another's", "always", "no", "no", "no", disposeREST, cannot, disposeAHP, whetherThere},
	{"change the mode", "always", "no", "no", "no", cannot, cannot, setModeAHP, modeOf},
}

func readREST(s *scene, who *actor, it subject) verdict {
	one := who.do("GET", "api/terminals/"+it.id, nil).verdict()
	a := who.do("GET", "api/terminals", nil)
	if a.verdict() != done {
		return a.verdict()
	}
	var list []terminalJSON
	a.into(s.t, &list)
	in := slices.ContainsFunc(list, func(t terminalJSON) bool { return t.ID == it.id })
	if in != (one == done) {
		s.t.Errorf("GET: %v, and in the list: %v", one, in)
	}
	return one
}

func readLane(s *scene, who *actor, it subject) verdict {
	v := s.onLane(who, it, func(*lane) *frame { return nil })
	if v == nothing {
		return done
	}
	return v
}

func readAHP(s *scene, who *actor, it subject) verdict {
	who.ahp.sync()
	listed := who.ahp.listed(it.uri)
	v := verdictOf(who.ahp.trySubscribe(it.uri))
	if listed != (v == done) {
		s.t.Errorf("subscribe: %v, and in the list: %v", v, listed)
	}
	who.ahp.unsubscribe(it.uri)
	return v
}

func typeLane(s *scene, who *actor, it subject) verdict {
	return s.onLane(who, it, func(l *lane) *frame { return l.asks("", "x") })
}

func typeAHP(_ *scene, who *actor, it subject) verdict {
	return who.onAHP(it.uri, ahpwire.TerminalInput{Data: "x"})
}

func inputOf(s *scene, _ subject) any { return s.terminals.Stats().InputBytes }

// anotherSize is smaller than the terminal's, so that it counts beside that of another viewer.
func (s *scene) anotherSize(it subject) (cols, rows int) {
	size := s.info(it).Size
	return size.Cols - 1, size.Rows
}

func resizeLane(s *scene, who *actor, it subject) verdict {
	cols, rows := s.anotherSize(it)
	return s.onLane(who, it, func(l *lane) *frame {
		return l.asks(fmt.Sprintf(`{"type":"resize","cols":%d,"rows":%d}`, cols, rows), "")
	})
}

func resizeAHP(s *scene, who *actor, it subject) verdict {
	cols, rows := s.anotherSize(it)
	return who.onAHP(it.uri, ahpwire.TerminalResized{Cols: cols, Rows: rows})
}

func sizeOf(s *scene, it subject) any { return s.info(it).Size }

func clearLane(s *scene, who *actor, it subject) verdict {
	return s.onLane(who, it, func(l *lane) *frame { return l.asks(`{"type":"clear"}`, "") })
}

func clearAHP(_ *scene, who *actor, it subject) verdict {
	return who.onAHP(it.uri, ahpwire.TerminalCleared{})
}

func tailOf(s *scene, it subject) any {
	tail, _ := s.find(it).Pty().Bounds()
	return tail
}

func (s *scene) anotherTitle(it subject) string { return s.info(it).Title + "+" }

func renameREST(s *scene, who *actor, it subject) verdict {
	return who.do("PATCH", "api/terminals/"+it.id, map[string]any{"title": s.anotherTitle(it)}).verdict()
}

func renameAHP(s *scene, who *actor, it subject) verdict {
	return who.onAHP(it.uri, ahpwire.TerminalTitleChanged{Title: s.anotherTitle(it)})
}

func titleOf(s *scene, it subject) any { return s.info(it).Title }

func disposeREST(_ *scene, who *actor, it subject) verdict {
	return who.do("DELETE", "api/terminals/"+it.id, nil).verdict()
}

func disposeAHP(_ *scene, who *actor, it subject) verdict {
	return verdictOf(who.ahp.tryDispose(it.uri))
}

func whetherThere(s *scene, it subject) any { return s.find(it) != nil }

func setModeAHP(s *scene, who *actor, it subject) verdict {
	mode := "watch"
	if modeOf(s, it) == sharing.Watch {
		mode = "share"
	}
	return who.onAHP(ahpwire.SharingChannel, ahpwire.SharingModeSet{Resource: it.uri, Mode: mode})
}

func modeOf(s *scene, it subject) any { return s.info(it).Mode }

// column is somebody at a terminal, and how that comes to be held as the column has it.
type column struct {
	name    string
	who     func(*scene) *actor
	held    func(*scene, subject)
	onlyAHP bool // REST and the byte lane have no client ids: there, all of a program's clients are one
}

func desk(s *scene) *actor   { return s.desk }
func phone(s *scene) *actor  { return s.phone }
func claude(s *scene) *actor { return s.claude }
func twin(s *scene) *actor   { return s.twin }
func codex(s *scene) *actor  { return s.codex }
func reader(s *scene) *actor { return s.reader }

func byDesk(s *scene, it subject)    { s.hand(it, s.desk) }
func byPhone(s *scene, it subject)   { s.hand(it, s.phone) }
func byClaude(s *scene, it subject)  { s.hand(it, s.claude) }
func bySession(s *scene, it subject) { s.handSession(it, s.claude) }

var columns = map[string][]column{
	"person": {
		{"the person at what they hold", desk, byDesk, false},
		{"the person at what another browser holds", desk, byPhone, false},
		{"the person at what a program holds", desk, byClaude, false},
		{"the person at what a session holds", phone, bySession, false},
	},
	"holds": {
		{"the program that holds it", claude, byClaude, false},
	},
	"other": {
		{"a program at what the person holds", codex, byDesk, false},
		{"a program at what another holds", codex, byClaude, false},
		{"a program at what a session holds", codex, bySession, false},
		{"another client of the program that holds it", twin, byClaude, true},
		{"a token that may only read", reader, byDesk, false},
	},
	"session": {
		{"the session's program", claude, bySession, false},
		{"another client of the session's program", twin, bySession, true},
	},
}

func TestTableOfSharingAtEveryDoor(t *testing.T) {
	t.Parallel()
	s := openScene(t, nil)
	cells := 0
	for _, act := range acts {
		for name, cell := range map[string]string{"person": act.person, "holds": act.holds, "other": act.other, "session": act.session} {
			for _, col := range columns[name] {
				for door, try := range map[string]try{"REST": act.rest, "byte lane": act.lane, "AHP": act.ahp} {
					if try == nil || col.onlyAHP && door != "AHP" {
						continue
					}
					cells++
					t.Run(act.name+"/"+col.name+"/"+door, func(t *testing.T) {
						s.checkCell(t, act.name, cell, col, try, act.effect)
					})
				}
			}
		}
	}
	if cells < 150 {
		t.Errorf("only %d cells", cells)
	}
}

func (s *scene) checkCell(t *testing.T, act, cell string, col column, try try, effect effect) {
	maker, who := s.desk, col.who(s)
	switch {
	case act == "dispose of one's own" && who != s.reader:
		maker = who
	case act == "dispose of another's" && who == s.desk:
		maker = s.codex
	}
	// What is allowed is tried in the mode that allows least, what is not in the one that allows most.
	modes := []string{"watch"}
	switch {
	case act == "read privately":
		modes = []string{"private"}
	case cell == "by mode":
		modes = []string{"watch", "ask", "share"}
	case cell == "no":
		modes = []string{"share"}
	}
	// Terminals are used again, but where one is gone afterwards, or the person has just typed.
	again := act != "type" && !strings.HasPrefix(act, "dispose")
	for _, mode := range modes {
		it, open := s.opened[maker]
		if !open || !again {
			it = s.open(maker)
		}
		if again {
			s.opened[maker] = it
		}
		s.mode(it, "ask") // what is private cannot be handed to a program
		col.held(s, it)
		s.mode(it, mode)
		switch {
		case act == "clear":
			s.prints(it, "echo pri''nted\n", "printed\r\n")
		case strings.Contains(act, "shows it") && !strings.Contains(act, "nobody"):
			shown, _ := s.phone.view(it, "")
			s.lanes = append(s.lanes, shown)
			shown.asks(`{"type":"resize","cols":100,"rows":30}`, "")
		}
		var before any
		if effect != nil {
			before = effect(s, it)
		}
		got := try(s, who, it)
		changed := false
		if effect != nil {
			changed = effect(s, it) != before
			if got == nothing && changed {
				got = done
			}
		}
		ok := false
		switch cell {
		case "always", "yes", "by mode": // all modes but private let programs read
			ok = got == done && (effect == nil || changed)
		case "no": // a browser's size that does not count is no error, nor is an unknown channel's action
			ok = !changed && (got.what == "refused" || got == nothing && (strings.HasPrefix(act, "resize") || act == "change the mode"))
		case "not found":
			ok = got == notFound
		}
		if !ok {
			t.Errorf("in mode %s: %v, changed: %v; want %s", mode, got, changed, cell)
		}
		s.closeLanes(it)
		if !again {
			disposeREST(s, s.desk, it)
		}
	}
}

// closeLanes closes what was opened of a terminal on the byte lane.
func (s *scene) closeLanes(it subject) {
	s.t.Helper()
	for _, l := range s.lanes {
		_ = l.conn.CloseNow()
	}
	s.lanes = nil
	if s.find(it) != nil {
		eventually(s.t, "nobody shows the terminal", func() bool { return s.info(it).Viewers == 0 })
	}
}

// claims are the row "claim" of the table: who claims a terminal of the person's that is held so, for whom, and what comes
// of it in the modes watch, ask and share: done, or a part of the reason. AHP alone has claims; on the byte lane there is
// the key with which the person takes a terminal back.
var claims = []struct {
	who   func(*scene) *actor
	held  func(*scene, subject)
	claim string
	want  [3]string
}{
	// The person, always: takes over, narrows, hands to a client that is known.
	{desk, byDesk, "own", all("")},
	{desk, byPhone, "own", all("")},
	{desk, byClaude, "own", all("")},
	{desk, bySession, "own", all("")},
	{desk, bySession, "narrower", all("")},
	{desk, bySession, "same session", all("")},
	{desk, byDesk, "phone", all("")},
	{desk, byDesk, "codex", all("")},
	{desk, byClaude, "codex", all("")},
	{desk, byDesk, "session", all("")},
	{desk, byDesk, "nobody", all("no such client")},
	{desk, byDesk, "reader", all("may only read")},

	// The program that holds it: hands to any client that is known, or to a session.
	{claude, byClaude, "own", all("")},
	{claude, byClaude, "phone", all("")},
	{claude, byClaude, "codex", all("")},
	{claude, byClaude, "session", all("")},
	{claude, byClaude, "nobody", all("no such client")},

	// Another program: by mode, if the person holds it.
	{codex, byDesk, "own", [3]string{"only watch", sharing.AskedReason, ""}},
	{codex, byDesk, "session", [3]string{"only watch", sharing.AskedReason, ""}},
	{codex, byDesk, "phone", all("only for its own")},
	{codex, byDesk, "claude", all("only for its own")},
	{codex, byClaude, "own", all("another program holds")},
	{codex, byClaude, "session", all("another program holds")},
	{codex, bySession, "own", all("a session holds")},
	{codex, bySession, "narrower", all("a session holds")},
	{twin, byClaude, "own", all("another program holds")},
	{reader, byDesk, "own", all("terminals:write")},
	{reader, byDesk, "session", all("terminals:write")},

	// The session's own side: narrows, widens for a new tool call, hands back.
	{claude, bySession, "narrower", all("")},
	{twin, bySession, "narrower", all("")},
	{claude, bySession, "same session", all("")},
	{claude, bySession, "own", all("")},
	{twin, bySession, "own", all("")},
	{claude, bySession, "phone", all("")},
	{claude, bySession, "codex", all("hand it back")},
	{claude, bySession, "session", all("hand it back")},
}

func all(want string) [3]string { return [3]string{want, want, want} }

func TestTableOfClaims(t *testing.T) {
	t.Parallel()
	s := openScene(t, nil)
	it := s.open(s.desk)
	for _, row := range claims {
		for i, mode := range []string{"watch", "ask", "share"} {
			row.held(s, it)
			s.mode(it, mode)
			who := row.who(s)
			var claim ahpwire.Action
			var next string
			switch row.claim {
			case "session":
				next, claim = "ahp-session:/new", claimForSession("ahp-session:/new", "")
			case "narrower":
				next, claim = "ahp-session:/s", claimForSession("ahp-session:/s", "")
			case "same session":
				next, claim = "ahp-session:/s", claimForSession("ahp-session:/s", "next")
			default:
				next = map[string]string{
					"own": who.name, "phone": s.phone.name, "claude": s.claude.name, "codex": s.codex.name, "reader": s.reader.name, "nobody": "nobody",
				}[row.claim]
				claim = claimFor(next)
			}
			before := s.holder(it)
			refused := who.ahp.does(it.uri, claim)
			what := fmt.Sprintf("%s claims for %s what %s holds, in mode %s", who.name, row.claim, before, mode)
			if want := row.want[i]; (refused == "") != (want == "") || !strings.Contains(refused, want) {
				t.Errorf("%s: refused for %q, want %q", what, refused, want)
			}
			if refused != "" {
				next = before
			}
			if now := s.holder(it); now != next {
				t.Errorf("%s: %s holds it then, want %s", what, now, next)
			}
		}
	}
	s.mode(it, "private")
	for _, who := range []*actor{s.claude, s.codex, s.reader} {
		if v := who.onAHP(it.uri, claimFor(who.name)); v != nothing {
			t.Errorf("%s claims what is private: %v", who.name, v)
		}
	}
	if refused := s.desk.ahp.does(it.uri, claimFor(s.claude.name)); !strings.Contains(refused, "private") {
		t.Errorf("the person hands out what is private: %q", refused)
	}
}

// Two of the slots are kept for people, at every door.
func TestSlotsAreKeptForPeople(t *testing.T) {
	s := openScene(t, func(cfg *Config) { cfg.MaxTerminals = 4 })
	s.open(s.claude)
	s.open(s.codex)
	for _, who := range []*actor{s.claude, s.codex} {
		p := isProblem(t, who.do("POST", "api/terminals", map[string]any{}), http.StatusConflict)
		if p.Limit != 4 {
			t.Errorf("REST tells of the limit %d", p.Limit)
		}
		err, _ := errors.AsType[*ahpwire.Error](who.ahp.tryCreate("ahp-terminal:/third", who.name))
		if err == nil || err.Code != ahpwire.Internal || fmt.Sprint(err.Data) != "map[limit:4]" {
			t.Errorf("AHP: %v", err)
		}
	}
	s.desk.create(bareBash)
	s.open(s.phone)
	isProblem(t, s.desk.do("POST", "api/terminals", map[string]any{}), http.StatusConflict)
	if code := codeOf(s.desk.ahp.tryCreate("ahp-terminal:/fifth", s.desk.name)); code != ahpwire.Internal {
		t.Errorf("AHP: %d", code)
	}
}

// A token makes only what it has the scope for.
func TestReaderMakesNothing(t *testing.T) {
	s := openScene(t, nil)
	if got := refusal(t, s.reader.do("POST", "api/terminals", map[string]any{})); got != "terminals:write" {
		t.Errorf("REST: refused for %q", got)
	}
	err := s.reader.ahp.tryCreate("ahp-terminal:/new", s.reader.name)
	if codeOf(err) != ahpwire.PermissionDenied || !strings.Contains(err.Error(), "terminals:write") {
		t.Errorf("AHP: %v", err)
	}
	if live := s.terminals.Stats().Live; live != 0 {
		t.Errorf("there are %d", live)
	}
}
