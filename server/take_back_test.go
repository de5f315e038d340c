package server

import (
	"strings"
	"testing"
	"time"

	ahpwire "tandem/ahp/wire"
	"tandem/sharing"
)

// rawCat is a program that prints what it is typed, and nothing else.
var rawCat = script("stty raw -echo; echo ready; exec cat")

// run has somebody run a program in a terminal, by REST.
func (s *scene) run(by *actor, spec map[string]any) subject {
	s.t.Helper()
	id, _ := by.create(spec)
	var made terminalJSON
	by.do("GET", "api/terminals/"+id, nil).into(s.t, &made)
	return subject{id, made.Channel}
}

// claimed returns the last claim of a terminal that the peer was told of, on its channel.
func (p *peer) claimed(channel string) (last *ahpwire.Envelope) {
	for i, e := range p.seen {
		if _, ok := e.Action.(ahpwire.TerminalClaimed); ok && e.Channel == channel && e.RejectionReason == "" {
			last = &p.seen[i]
		}
	}
	return last
}

func TestFirstKeyTakesTheTerminalBack(t *testing.T) {
	s := openScene(t, nil)
	it := s.run(s.desk, rawCat)
	screen, _ := s.phone.view(it, "")
	screen.see("ready")
	s.claude.ahp.subscribe(it.uri)
	s.codex.ahp.subscribe(it.uri)
	program, _ := s.claude.view(it, "")
	if f := program.frame("ready"); f.Writable {
		t.Error("a program that only watches is told that it may type")
	}
	s.hand(it, s.claude)
	if f := program.frame("writable"); !f.Writable {
		t.Error("a program that was handed the terminal is not told that it may type")
	}
	s.claude.ahp.must(it.uri, ahpwire.TerminalInput{Data: "[by AHP]"})
	program.types("[by lane]")
	screen.see("[by AHP][by lane]")

	// Neither is a key: what the person's terminal replies to a query, and nothing.
	if f := screen.asks(`{"type":"answer","data":"[reply]"}`, ""); f != nil {
		t.Errorf("a reply gets %+v", f)
	}
	screen.types("")
	screen.see("[reply]")
	if holder := s.holder(it); holder != s.claude.name {
		t.Fatalf("a reply took the terminal for %s", holder)
	}

	screen.types("k")
	screen.see("k")
	if holder := s.holder(it); holder != s.phone.name {
		t.Fatalf("after the person's key %s holds the terminal", holder)
	}
	if f := program.frame("writable"); f.Writable {
		t.Error("the program is told that it may type")
	}
	if f := program.asks("", "[late]"); f == nil || f.Code != "refused" || !strings.Contains(f.Title, "the person holds") {
		t.Errorf("the program types on, and is told %+v", f)
	}
	if refused := s.claude.ahp.does(it.uri, ahpwire.TerminalInput{Data: "[late]"}); !strings.Contains(refused, "the person holds") {
		t.Errorf("the program types on, and is told %q", refused)
	}
	screen.types("!")
	screen.see("!")
	if strings.Contains(string(screen.log), "late") {
		t.Error("what the program typed after the key came through")
	}
	for _, who := range []*actor{s.claude, s.codex} {
		who.ahp.sync()
		e := who.ahp.claimed(it.uri)
		if e == nil || e.Origin != nil || who.ahp.Terminals[it.uri].Claim.ClientID != s.phone.name {
			t.Errorf("%s is told %+v", who.name, e)
		}
		if list := who.ahp.Root.Terminals; len(list) != 1 || list[0].Claim.ClientID != s.phone.name {
			t.Errorf("%s is shown the list %+v", who.name, list)
		}
	}

	// By AHP as well.
	s.hand(it, s.claude)
	s.desk.ahp.must(it.uri, ahpwire.TerminalInput{Data: ""})
	if holder := s.holder(it); holder != s.claude.name {
		t.Errorf("after no key %s holds the terminal", holder)
	}
	s.desk.ahp.must(it.uri, ahpwire.TerminalInput{Data: "[key]"})
	screen.see("[key]")
	if holder := s.holder(it); holder != s.desk.name {
		t.Errorf("after the person's key %s holds the terminal", holder)
	}
}

// At a terminal that a session holds, people type along.
func TestKeyTakesNothingFromASession(t *testing.T) {
	s := openScene(t, nil)
	it := s.run(s.desk, rawCat)
	s.handSession(it, s.claude)
	screen, _ := s.desk.view(it, "")
	screen.types("[along]")
	screen.see("[along]")
	s.phone.ahp.must(it.uri, ahpwire.TerminalInput{Data: "[too]"})
	s.claude.ahp.must(it.uri, ahpwire.TerminalInput{Data: "[mine]"})
	screen.see("[too][mine]")
	if holder := s.holder(it); holder != "ahp-session:/s" {
		t.Errorf("%s holds the terminal", holder)
	}
}

// asks has a program ask for a terminal, and returns the card that the person sees.
func (s *scene) card(who *actor, it subject) ahpwire.SharingRequest {
	s.t.Helper()
	if refused := who.ahp.does(it.uri, claimFor(who.name)); refused != sharing.AskedReason {
		s.t.Fatalf("asking for the terminal: %q", refused)
	}
	for _, person := range []*actor{s.phone, s.desk} {
		person.ahp.sync()
		if cards := person.ahp.Sharing.Requests; len(cards) != 1 || cards[0].Resource != it.uri {
			s.t.Fatalf("%s is shown %+v", person.name, cards)
		}
	}
	return s.desk.ahp.Sharing.Requests[0]
}

// claims has a program claim a terminal, which the person takes back, and reports why it was refused.
func (s *scene) claims(who *actor, it subject) (refused string) {
	s.t.Helper()
	refused = who.ahp.does(it.uri, claimFor(who.name))
	if held := s.holder(it) == who.name; held != (refused == "") {
		s.t.Errorf("%s was refused for %q, and %s holds the terminal", who.name, refused, s.holder(it))
	}
	s.hand(it, s.desk)
	return refused
}

func TestConsent(t *testing.T) {
	s := openScene(t, nil)
	it, other := s.open(s.desk), s.open(s.desk)
	s.codex.ahp.subscribe(it.uri)

	// It is the person who answers.
	card := s.card(s.codex, it)
	if card.Program != "codex" || card.Session != "" {
		t.Errorf("the card is %+v", card)
	}
	yes := ahpwire.SharingRequestAnswered{Request: card.ID, Answer: "once"}
	for _, who := range []*actor{s.codex, s.claude} {
		if v := who.onAHP(ahpwire.SharingChannel, yes); v != nothing {
			t.Errorf("%s answers: %v", who.name, v)
		}
	}
	if holder := s.holder(it); holder != s.desk.name {
		t.Fatalf("%s holds the terminal", holder)
	}
	for _, bad := range []ahpwire.SharingRequestAnswered{{Request: "x", Answer: "once"}, {Request: card.ID, Answer: "yes"}, {Request: card.ID}} {
		if refused := s.desk.ahp.does(ahpwire.SharingChannel, bad); refused == "" {
			t.Errorf("%+v is an answer", bad)
		}
	}

	// Once: the host gives it, to whoever asked, and asks the next time.
	s.phone.ahp.must(ahpwire.SharingChannel, yes)
	s.codex.ahp.sync()
	if e := s.codex.ahp.claimed(it.uri); s.holder(it) != s.codex.name || e == nil || e.Origin != nil {
		t.Errorf("after consent %s holds the terminal, and the program is told %+v", s.holder(it), e)
	}
	s.desk.ahp.sync()
	if cards := s.desk.ahp.Sharing.Requests; len(cards) != 0 {
		t.Errorf("cards are left: %+v", cards)
	}
	if refused := s.desk.ahp.does(ahpwire.SharingChannel, yes); refused == "" {
		t.Error("a request is answered twice")
	}
	s.hand(it, s.desk)

	// For this tab, until its mode is set.
	s.desk.ahp.must(ahpwire.SharingChannel, ahpwire.SharingRequestAnswered{Request: s.card(s.codex, it).ID, Answer: "tab"})
	s.hand(it, s.desk)
	if refused := s.claims(s.codex, it); refused != "" {
		t.Errorf("after consent for the tab: %s", refused)
	}
	for what, refused := range map[string]string{"another tab": s.claims(s.codex, other), "another program": s.claims(s.claude, it)} {
		if refused != sharing.AskedReason {
			t.Errorf("consent for a tab counts for %s: %q", what, refused)
		}
	}
	s.mode(it, "ask")
	s.mode(other, "ask")

	// For everything, from then on, but not in mode watch.
	s.desk.ahp.must(ahpwire.SharingChannel, ahpwire.SharingRequestAnswered{Request: s.card(s.codex, it).ID, Answer: "always"})
	s.hand(it, s.desk)
	for _, it := range []subject{it, other, s.open(s.phone)} {
		if refused := s.claims(s.codex, it); refused != "" {
			t.Errorf("after consent for always: %s", refused)
		}
	}
	s.mode(other, "watch")
	if refused := s.claims(s.codex, other); !strings.Contains(refused, "only watch") {
		t.Errorf("consent for always counts in mode watch: %q", refused)
	}

	// No: for a minute.
	s.desk.ahp.must(ahpwire.SharingChannel, ahpwire.SharingRequestAnswered{Request: s.card(s.claude, it).ID, Answer: "no"})
	for range 2 {
		if refused := s.claims(s.claude, it); !strings.Contains(refused, "said no") {
			t.Errorf("after a no: %q", refused)
		}
	}
	s.desk.ahp.sync()
	if cards := s.desk.ahp.Sharing.Requests; len(cards) != 0 {
		t.Errorf("the person is asked again: %+v", cards)
	}
}

// While a program asks for a password, the terminal is nobody else's.
func TestNothingIsClaimedAtAPassword(t *testing.T) {
	s := openScene(t, nil)
	it := s.run(s.desk, map[string]any{"command": "bash", "args": []string{
		"-c", "while read -p 'next? ' line; do read -sp 'Password: ' secret; echo thanks; done",
	}})
	ask := func() {
		s.prints(it, "next\n", "Password: ")
		eventually(t, "the password is asked for", s.find(it).Pty().AsksPassword)
	}
	ask()
	s.mode(it, "share") // the most that programs can be allowed
	if refused := s.claims(s.codex, it); !strings.Contains(refused, "password") {
		t.Errorf("in mode share: %q", refused)
	}
	s.mode(it, "ask")
	if refused := s.claims(s.codex, it); !strings.Contains(refused, "password") {
		t.Errorf("in mode ask: %q", refused)
	}
	s.desk.ahp.sync()
	if cards := s.desk.ahp.Sharing.Requests; len(cards) != 0 {
		t.Errorf("the person is asked meanwhile: %+v", cards)
	}

	// A card that was there before waits.
	s.prints(it, "hunter2\n", "thanks\r\nnext? ")
	yes := ahpwire.SharingRequestAnswered{Request: s.card(s.codex, it).ID, Answer: "once"}
	ask()
	if refused := s.desk.ahp.does(ahpwire.SharingChannel, yes); !strings.Contains(refused, "password") {
		t.Errorf("the person consents: %q", refused)
	}
	if holder := s.holder(it); holder != s.desk.name {
		t.Errorf("%s holds the terminal", holder)
	}
	s.prints(it, "hunter2\n", "thanks\r\nnext? ")
	s.desk.ahp.must(ahpwire.SharingChannel, yes)
	if holder := s.holder(it); holder != s.codex.name {
		t.Errorf("%s holds the terminal", holder)
	}
}

// Programs claim nothing for two seconds after a key of the person's, at any door.
func TestNothingIsClaimedWhileThePersonTypes(t *testing.T) {
	t.Parallel()
	s := openScene(t, nil)
	byLane, byAHP, notTyped := s.run(s.desk, rawCat), s.run(s.desk, rawCat), s.run(s.desk, rawCat)
	screen, _ := s.desk.view(byLane, "")
	quiet, _ := s.desk.view(notTyped, "")
	screen.see("ready")
	quiet.see("ready")
	for _, it := range []subject{byLane, byAHP, notTyped} {
		s.mode(it, "share")
	}
	before := time.Now()
	screen.asks("", "k")
	s.desk.ahp.must(byAHP.uri, ahpwire.TerminalInput{Data: "k"})
	quiet.asks(`{"type":"answer","data":"a reply"}`, "")
	if refused := s.codex.ahp.does(notTyped.uri, claimFor(s.codex.name)); refused != "" {
		t.Errorf("after a terminal's reply: %s", refused)
	}
	for _, it := range []subject{byLane, byAHP} {
		refusals := 0
		eventually(t, "the person has stopped typing", func() bool {
			refused := s.codex.ahp.does(it.uri, claimFor(s.codex.name))
			if refused != "" && !strings.Contains(refused, "the person is typing") {
				t.Fatal(refused)
			}
			if refused != "" {
				refusals++
			}
			return refused == ""
		})
		if waited := time.Since(before); waited < 2*time.Second || it == byLane && refusals == 0 {
			t.Errorf("claimed after %v and %d refusals", waited, refusals)
		}
	}
}

func TestGraceOfAHolderThatDisconnects(t *testing.T) {
	t.Parallel()
	const grace = 400 * time.Millisecond
	s := openScene(t, func(cfg *Config) { cfg.ClaimGrace = grace })
	held, back, own := s.open(s.desk), s.open(s.desk), s.open(s.claude)
	s.hand(held, s.claude)
	s.hand(back, s.twin)
	s.mode(own, "share")
	screen, _ := s.desk.view(back, "")
	screen.frame("ready")

	// Whoever comes back in time keeps what they held.
	before := time.Now()
	s.claude.ahp.Close()
	s.twin.ahp.Close()
	s.claude = s.programmed(s.claude.token, s.claude.name)
	s.desk.ahp.until("the return of the terminal", func() bool { return s.desk.ahp.Sharing.Terminals[back.uri].Holder.Client == s.desk.name })
	if waited := time.Since(before); waited < grace {
		t.Errorf("it returned after %v", waited)
	}
	if holder := s.holder(held); holder != s.claude.name {
		t.Errorf("%s holds what the program came back to", holder)
	}

	// A program's own terminal stays with it, free to take.
	if refused := s.codex.ahp.does(own.uri, claimFor(s.codex.name)); !strings.Contains(refused, "another program holds") {
		t.Errorf("while its holder is there: %q", refused)
	}
	s.claude.ahp.Close()
	s.desk.ahp.until("the return of the other", func() bool { return s.desk.ahp.Sharing.Terminals[held.uri].Holder.Client == s.desk.name })
	if holder := s.holder(own); holder != s.claude.name {
		t.Errorf("%s holds the program's own", holder)
	}
	if refused := s.codex.ahp.does(own.uri, claimFor(s.codex.name)); refused != "" {
		t.Errorf("what nobody holds any more: %q", refused)
	}
}
