package server

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	ahpwire "tandem/ahp/wire"
)

// openRemote has somebody make a terminal whose program runs at their AHP client.
func (s *scene) openRemote(by *actor) subject {
	s.t.Helper()
	uri := "ahp-terminal:/" + rand.Text()
	ctx, cancel := by.ahp.within()
	defer cancel()
	err := by.ahp.CreateTerminal(ctx, ahpwire.CreateTerminalParams{
		Channel: uri, Claim: ahpwire.Claim{Kind: ahpwire.ClaimClient, ClientID: by.name}, ExecutionTarget: ahpwire.ExecutedByClient,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.desk.ahp.sync()
	return subject{s.desk.ahp.Sharing.Terminals[uri].ID, uri}
}

// remoteActs are what may be done at a terminal that runs at a client, by that client, another of the same program, the
// person, and another program. The claim never changes hands, and only the owner says what happens there. A size that is
// told on the byte lane is that of a window, and counts for nothing there.
var remoteActs = []struct {
	name                          string
	owner, sibling, person, other bool
	rest, lane, ahp               try
	effect                        effect
}{
	{"read", true, true, true, true, readREST, readLane, readAHP, nil},
	{"output", true, false, false, false, cannot, cannot, outputAHP, headOf},
	{"exit", true, false, false, false, cannot, cannot, exitAHP, exitOf},
	{"resize", true, false, false, false, cannot, cannot, resizeAHP, sizeOf},
	{"resize a window", false, false, false, false, cannot, resizeLane, cannot, sizeOf},
	{"clear", true, false, false, false, cannot, clearLane, clearAHP, tailOf},
	{"type", false, false, false, false, cannot, typeLane, typeAHP, headOf},
	{"rename", true, false, true, false, renameREST, cannot, renameAHP, titleOf},
	{"claim", false, false, false, false, cannot, cannot, claimAHP, holderOf},
	{"hand out", false, false, false, false, cannot, cannot, handAHP, holderOf},
	{"dispose of it", true, true, true, false, disposeREST, cannot, disposeAHP, whetherThere},
	{"change the mode", false, false, true, false, cannot, cannot, setModeAHP, modeOf},
}

func outputAHP(_ *scene, who *actor, it subject) verdict {
	return who.onAHP(it.uri, ahpwire.TerminalOutput{Data: "printed\r\n"})
}

func headOf(s *scene, it subject) any {
	_, head := s.find(it).Pty().Bounds()
	return head
}

func exitAHP(_ *scene, who *actor, it subject) verdict {
	return who.onAHP(it.uri, ahpwire.TerminalExited{ExitCode: new(7)})
}

func exitOf(s *scene, it subject) any { return s.info(it).Exit != nil }

func claimAHP(_ *scene, who *actor, it subject) verdict { return who.onAHP(it.uri, claimFor(who.name)) }

func handAHP(s *scene, who *actor, it subject) verdict {
	return who.onAHP(it.uri, claimFor(s.phone.name))
}

func holderOf(s *scene, it subject) any { return s.holder(it) }

func TestTableOfTerminalsThatRunAtAClient(t *testing.T) {
	t.Parallel()
	s := openScene(t, nil)
	for _, act := range remoteActs {
		for _, col := range []struct {
			name    string
			who     *actor
			may     bool
			onlyAHP bool
		}{
			{"the owner", s.claude, act.owner, false},
			{"another client of the program", s.twin, act.sibling, true},
			{"the person", s.desk, act.person, false},
			{"another program", s.codex, act.other, false},
		} {
			for door, try := range map[string]try{"REST": act.rest, "byte lane": act.lane, "AHP": act.ahp} {
				if try == nil || col.onlyAHP && door != "AHP" {
					continue
				}
				t.Run(act.name+"/"+col.name+"/"+door, func(t *testing.T) {
					it := s.openRemote(s.claude)
					s.claude.ahp.must(it.uri, ahpwire.TerminalOutput{Data: "a line\r\nand more"})
					s.mode(it, "share")
					var before any
					if act.effect != nil {
						before = act.effect(s, it)
					}
					got, changed := try(s, col.who, it), false
					if act.effect != nil {
						if changed = act.effect(s, it) != before; changed && got == nothing {
							got = done
						}
					}
					if col.may && (got != done || act.effect != nil && !changed) || !col.may && (changed || got == done || got == notFound) {
						t.Errorf("%v, changed: %v; want it allowed: %v", got, changed, col.may)
					}
					s.closeLanes(it)
					disposeREST(s, s.desk, it)
				})
			}
		}
	}
}

// It is hidden like any other.
func TestPrivateTerminalThatRunsAtAClient(t *testing.T) {
	s := openScene(t, nil)
	it := s.openRemote(s.phone)
	s.codex.ahp.subscribe(it.uri)
	s.phone.ahp.must(it.uri, ahpwire.TerminalOutput{Data: "seen\r\n"})
	s.codex.ahp.reads(it.uri, "seen")
	s.mode(it, "private")
	s.phone.ahp.must(it.uri, ahpwire.TerminalOutput{Data: "SECRET\r\n"})
	unknown := subject{"A" + it.id[1:], "ahp-terminal:/unknown"}
	want := s.everywhere(s.codex, unknown)
	for what, told := range s.everywhere(s.codex, it) {
		if told != want[what] {
			t.Errorf("%s: told %s of what is private, and %s of what does not exist", what, told, want[what])
		}
	}
	if s.codex.ahp.sync(); s.codex.ahp.listed(it.uri) || strings.Contains(fmt.Sprint(s.codex.ahp.seen), "SECRET") {
		t.Error("a program is shown it")
	}
	s.mode(it, "watch")
	s.phone.ahp.must(it.uri, ahpwire.TerminalOutput{Data: "seen again\r\n"})
	s.codex.ahp.subscribe(it.uri)
	s.codex.ahp.reads(it.uri, "seen again")
	if text := s.codex.ahp.Text(it.uri); strings.Contains(text, "SECRET") {
		t.Errorf("a program reads %q", text)
	}
}
