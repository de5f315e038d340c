package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	ahpwire "tandem/ahp/wire"
	"tandem/sharing"
)

// While programs are paused they do nothing and are told nothing new, at any door; nothing of it happens later, and what
// they missed they are then told.
func TestPausedProgramsDoNothing(t *testing.T) {
	s := openScene(t, nil)
	it := s.run(s.claude, rawCat)
	s.mode(it, "share")
	s.hand(it, s.claude)
	s.claude.ahp.subscribe(it.uri)
	program, _ := s.claude.view(it, "")
	program.see("ready")
	screen, _ := s.desk.view(it, "")
	screen.see("ready")

	s.desk.ahp.must(ahpwire.SharingChannel, ahpwire.SharingPausedSet{Paused: true})
	s.phone.ahp.sync()
	if !s.phone.ahp.Sharing.Paused {
		t.Error("the other browser does not show it")
	}
	for _, act := range acts {
		for door, try := range map[string]try{"REST": act.rest, "byte lane": act.lane, "AHP": act.ahp} {
			if try == nil || act.name == "read" || act.name == "read privately" {
				continue
			}
			var before any
			if act.effect != nil {
				before = act.effect(s, it)
			}
			got := try(s, s.claude, it)
			if changed := act.effect(s, it) != before; changed || got.what != "refused" && act.name != "change the mode" {
				t.Errorf("%s by %s: %v, changed: %v", act.name, door, got, changed)
			}
			if door != "byte lane" && got.reason != "" && !strings.Contains(got.reason, sharing.PausedReason) {
				t.Errorf("%s by %s: the reason is %s", act.name, door, got.reason)
			}
		}
	}
	for _, path := range []string{"api/terminals", "api/terminals/" + it.id, "api/terminals/unknown"} {
		if p := isProblem(t, s.claude.do("GET", path, nil), http.StatusForbidden); p.Detail != sharing.PausedReason {
			t.Errorf("GET %s: %+v", path, p)
		}
	}
	if _, status := s.claude.view(it, ""); status != http.StatusForbidden {
		t.Errorf("attaching: status %d", status)
	}
	if p := isProblem(t, s.claude.do("POST", "api/terminals", map[string]any{}), http.StatusForbidden); p.Detail != sharing.PausedReason {
		t.Errorf("making one by REST: %+v", p)
	}
	for what, err := range map[string]error{
		"subscribing": s.claude.ahp.trySubscribe(it.uri), "subscribing to the root": s.claude.ahp.trySubscribe(ahpwire.RootChannel),
		"making one": s.claude.ahp.tryCreate("ahp-terminal:/paused", s.claude.name),
	} {
		if codeOf(err) != ahpwire.PermissionDenied || !strings.Contains(err.Error(), sharing.PausedReason) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if refused := s.claude.ahp.does(it.uri, claimFor(s.claude.name)); refused != sharing.PausedReason {
		t.Errorf("claiming: %q", refused)
	}
	late := s.connect(s.claude.token, "late")
	if result := late.initialize(ahpwire.RootChannel, it.uri); len(result.Snapshots) != 0 {
		t.Errorf("a program that comes is shown %+v", result.Snapshots)
	}

	// What happens is not told, up to a pong and the answer to a ping.
	told := len(s.claude.ahp.seen)
	screen.types("[in the pause]")
	screen.see("[in the pause]")
	s.desk.ahp.must(it.uri, ahpwire.TerminalTitleChanged{Title: "renamed in the pause"})
	made := s.open(s.desk)
	s.claude.ahp.sync()
	for _, e := range s.claude.ahp.seen[told:] {
		t.Errorf("told in the pause: %+v", e)
	}
	if f := program.asks("", "[typed in the pause]"); f == nil || f.Code != "refused" || f.Title != sharing.PausedReason {
		t.Errorf("typing on the byte lane: %+v", f)
	}
	if strings.Contains(string(program.log), "pause") {
		t.Errorf("the byte lane went on: %q", program.log)
	}

	s.phone.ahp.must(ahpwire.SharingChannel, ahpwire.SharingPausedSet{Paused: false})
	s.hand(it, s.claude) // the person has typed
	program.see("[in the pause]")
	s.claude.ahp.reads(it.uri, "[in the pause]")
	s.claude.ahp.until("the list", func() bool {
		list := fmt.Sprint(s.claude.ahp.Root.Terminals)
		return strings.Contains(list, made.uri) && strings.Contains(list, "renamed in the pause")
	})
	s.claude.ahp.must(it.uri, ahpwire.TerminalInput{Data: "[after]"})
	screen.see("[after]")
	s.claude.ahp.reads(it.uri, "[after]")
	if text := s.claude.ahp.Text(it.uri); strings.Contains(text, "typed in") || strings.Contains(string(screen.log), "typed in") {
		t.Errorf("what was refused in the pause was typed: %q", text)
	}
}

// People are not programs.
func TestPauseIsForProgramsAlone(t *testing.T) {
	s := openScene(t, nil)
	for _, who := range []*actor{s.claude, s.reader} {
		if v := who.onAHP(ahpwire.SharingChannel, ahpwire.SharingPausedSet{Paused: true}); v != nothing {
			t.Errorf("%s pauses: %v", who.name, v)
		}
	}
	if s.terminals.Paused() {
		t.Fatal("a program has paused them")
	}
	s.desk.ahp.must(ahpwire.SharingChannel, ahpwire.SharingPausedSet{Paused: true})
	it := s.open(s.phone)
	for _, act := range acts {
		for door, try := range map[string]try{"REST": act.rest, "byte lane": act.lane, "AHP": act.ahp} {
			if try == nil || strings.HasPrefix(act.name, "dispose") || strings.HasPrefix(act.name, "resize") {
				continue
			}
			if got := try(s, s.desk, it); got != done && got != nothing {
				t.Errorf("%s by %s: %v", act.name, door, got)
			}
		}
	}
	if a := s.program(t, s.claude.token).do("GET", "metrics", nil); refusal(t, a) != "metrics:read" {
		t.Errorf("%v", a)
	}
}
