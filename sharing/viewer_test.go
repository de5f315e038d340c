package sharing

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tandem/ptymgr"
)

// say prints a line in the terminal, as the person, and returns the end of the log after it.
func (s *stage) say(t *Terminal, text string) int64 {
	s.Helper()
	_, before := t.Pty().Bounds()
	s.must(t.Input(By{Client: s.desk}, []byte(text+"\n")))
	r := s.attach(t, s.desk, before)
	defer r.v.Close()
	r.until(text + "\r\n" + text + "\r\n") // the echo, and what cat prints
	_, head := t.Pty().Bounds()
	return head
}

// Programs are never shown what was printed before a terminal became visible, nor in any private stretch, wherever they
// start and whenever they come.
func TestFloors(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.say(terminal, "public one")
	early := s.attach(terminal, s.a, ptymgr.NoOffset)
	early.until("public one\r\npublic one")

	s.mode(terminal, Private)
	if err := early.end(); !errors.Is(err, ptymgr.ErrDisposed) {
		t.Errorf("the program's viewer ended with %v, want %v", err, ptymgr.ErrDisposed)
	}
	floor := s.say(terminal, "secret one")
	s.mode(terminal, Watch)
	s.say(terminal, "public two")
	s.checkFloor(terminal, floor)

	s.mode(terminal, Private)
	floor = s.say(terminal, "secret two")
	s.mode(terminal, Share)
	s.mode(terminal, Ask) // between modes that are not private nothing moves
	s.say(terminal, "public three")
	s.checkFloor(terminal, floor)

	// A terminal that has been private from its start.
	hidden := s.open(s.desk)
	s.mode(hidden, Private)
	floor = s.say(hidden, "secret three")
	s.mode(hidden, Share)
	s.say(hidden, "public four")
	s.checkFloor(hidden, floor)
	s.hand(hidden, s.a) // holding it changes nothing
	s.checkFloor(hidden, floor)

	// The person reads everything.
	r := s.attach(terminal, s.phone, 0)
	r.until("public three\r\npublic three")
	for _, text := range []string{"public one", "secret one", "public two", "secret two"} {
		if !strings.Contains(r.text.String(), text) {
			t.Errorf("the person does not see %q", text)
		}
	}
	if terminal.access().Floor(me) != 0 {
		t.Error("there is a floor for the person")
	}
}

// What was printed of a sequence while the terminal was private does not show when the rest of it is printed.
func TestFloorInsideASequence(t *testing.T) {
	s := setUp(t)
	for _, test := range []struct{ secret, rest, public string }{
		{`\033]2;secret `, `secret too\apublic`, "public"},
		{`\033[31`, `mpublic`, "public"},
		{`\033]633;E;secret`, `\apublic`, "public"},
		{`\342\202`, `\254public`, "public"},
		{`\033]2;secret `, `secret too`, ""}, // never complete
	} {
		terminal := s.run(s.desk, "/bin/sh", "-c", "stty -echo; printf '"+test.secret+"'; read go; printf '"+test.rest+"'")
		s.mode(terminal, Private)
		var head int64
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			if _, head = terminal.Pty().Bounds(); terminal.Pty().Printed() > head {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s is not held back", test.secret)
			}
		}
		s.mode(terminal, Watch)
		floor := terminal.access().Floor(claude)
		if floor != terminal.Pty().Printed() {
			t.Fatalf("the floor is %d, but %d was printed", floor, terminal.Pty().Printed())
		}
		early := []*screen{s.attach(terminal, s.a, ptymgr.NoOffset), s.attach(terminal, s.a, head), s.attach(terminal, s.a, floor)}
		s.must(terminal.Input(By{Client: s.desk}, []byte("\n")))
		<-terminal.Pty().Done()
		for i, r := range append(early, s.attach(terminal, s.a, ptymgr.NoOffset)) {
			r.untilEvent("the exit", func(ev ptymgr.Event) bool { return ev.Kind == ptymgr.EventExit })
			if got := r.text.String(); !strings.HasSuffix(got, test.public) || strings.Contains(got, "secret") {
				t.Errorf("%s, viewer %d: shown %q, want %q at the end", test.secret, i, got, test.public)
			}
			for _, ev := range r.events {
				places := ev.Kind == ptymgr.EventReady || ev.Kind == ptymgr.EventReset || ev.Kind == ptymgr.EventOutput
				if places && ev.Offset < floor {
					t.Errorf("%s, viewer %d: told of offset %d, below the floor at %d", test.secret, i, ev.Offset, floor)
				}
			}
		}
	}
}

// checkFloor attaches programs at all kinds of offsets, and checks that they are shown nothing from before the floor.
func (s *stage) checkFloor(t *Terminal, floor int64) {
	s.Helper()
	if got := t.access().Floor(claude); got != floor {
		s.Fatalf("the floor is %d, want %d", got, floor)
	}
	_, head := t.Pty().Bounds()
	offsets := []int64{ptymgr.NoOffset, 0, 1, floor - 1, floor, floor + 1, head, head + 1}
	for range 50 {
		offsets = append(offsets, rand.Int64N(head+1))
	}
	for _, since := range offsets {
		v, err := t.Attach(s.a, since)
		s.must(err)
		r := &screen{TB: s.TB, v: v}
		if since == head {
			s.say(t, "later")
			r.until("later\r\nlater")
		} else {
			r.until("\n")
		}
		for _, ev := range r.events {
			places := ev.Kind == ptymgr.EventReady || ev.Kind == ptymgr.EventReset || ev.Kind == ptymgr.EventOutput
			if places && ev.Offset < floor {
				s.Errorf("since %d: told of offset %d, below the floor at %d", since, ev.Offset, floor)
			}
		}
		if strings.Contains(r.text.String(), "secret") {
			s.Errorf("since %d: shown %q", since, r.text.String())
		}
		v.Close()
	}
	for _, identity := range []Identity{claude, codex, reader} {
		text, err := t.Pty().Text(nil, t.access().Floor(identity), head)
		s.must(err)
		if strings.Contains(string(text), "secret") {
			s.Errorf("the text for %s is %q", identity.Name, text)
		}
	}
}

// A private terminal ends for programs: what they had of it does nothing any more.
func TestPrivateEndsEverything(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.hand(terminal, s.a)
	holder := s.attach(terminal, s.a, ptymgr.NoOffset)
	other := s.attach(terminal, s.b, ptymgr.NoOffset)
	person := s.attach(terminal, s.phone, ptymgr.NoOffset)
	stop, err := terminal.Watch(s.b)
	s.must(err)
	s.told.take()
	s.must(terminal.SetMode(By{Client: s.phone}, Private))
	got := strings.Join(s.told.take(), ", ")
	if got != "hidden, claimed for login-phone" {
		t.Errorf("told %q", got)
	}
	for _, r := range []*screen{holder, other} {
		if err := r.end(); !errors.Is(err, ptymgr.ErrDisposed) {
			t.Errorf("a program's viewer ended with %v, want %v", err, ptymgr.ErrDisposed)
		}
		s.notFound(r.v.Input([]byte("x")))
		s.notFound(r.v.Answer([]byte("x")))
		s.notFound(r.v.Clear())
		s.notFound(r.v.Resize(ptymgr.Size{Cols: 40, Rows: 10}))
		r.v.Close()
	}
	stop()
	s.must(person.v.Input([]byte("still here\n")))
	person.until("still here")
	if got := s.overview().Terminals[0].Watchers; len(got) != 1 || got[0].Client != "login-phone" {
		t.Errorf("the watchers are %v", got)
	}
	s.told.take()
	s.mode(terminal, Private)
	s.mode(terminal, Ask)
	if got := strings.Join(s.told.take(), ", "); got != "visible" {
		t.Errorf("told %q, want one change", got)
	}
}

// A session that acts for a program loses a terminal that becomes private; one of the person's keeps it.
func TestPrivateAndSessions(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.handSession(terminal, s.a)
	s.mode(terminal, Private)
	s.held(terminal, "login-desk")
	s.must(terminal.Claim(By{Client: s.desk}, Claim{Session: &Session{URI: "ahp-session:/mine"}}))
	s.mode(terminal, Ask)
	s.mode(terminal, Private)
	if s.claim(terminal).Session == nil {
		t.Error("the person's session lost the terminal")
	}
}

// A program's viewer may type while the program holds the terminal, and is told when that changes.
func TestViewersAreToldWhatTheyMayDo(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	r := s.attach(terminal, s.a, ptymgr.NoOffset)
	writable := func(want bool) {
		t.Helper()
		r.untilEvent("writable", func(ev ptymgr.Event) bool {
			return ev.Kind == ptymgr.EventWritable && ev.Writable == want
		})
	}
	r.untilEvent("ready", func(ev ptymgr.Event) bool {
		if ev.Kind == ptymgr.EventReady && ev.Writable {
			t.Error("a program that holds nothing may type")
		}
		return ev.Kind == ptymgr.EventReady
	})
	s.refused(r.v.Input([]byte("x")), errPersonHolds)
	s.hand(terminal, s.a)
	writable(true)
	s.must(r.v.Input([]byte("typed\n")))
	r.until("typed")
	s.hand(terminal, s.b)
	writable(false)
	s.handSession(terminal, s.a2) // which any client of the program acts for
	writable(true)
	second := s.attach(terminal, s.a, ptymgr.NoOffset)
	second.untilEvent("ready", func(ev ptymgr.Event) bool { return ev.Kind == ptymgr.EventReady && ev.Writable })
}

// The size of a program that drives the terminal counts while no browser shows it.
func TestProgramsSize(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	size := func(want ptymgr.Size) {
		t.Helper()
		if got := terminal.Pty().Info().Size; got != want {
			t.Fatalf("the size is %v, want %v", got, want)
		}
	}
	other, holder := s.attach(terminal, s.b, ptymgr.NoOffset), s.attach(terminal, s.a, ptymgr.NoOffset)
	s.must(other.v.Resize(ptymgr.Size{Cols: 30, Rows: 10}))
	s.must(holder.v.Resize(ptymgr.Size{Cols: 120, Rows: 40}))
	size(ptymgr.Size{Cols: 80, Rows: 24})
	s.hand(terminal, s.a)
	size(ptymgr.Size{Cols: 120, Rows: 40})
	browser := s.attach(terminal, s.desk, ptymgr.NoOffset)
	s.must(browser.v.Resize(ptymgr.Size{Cols: 140, Rows: 50}))
	size(ptymgr.Size{Cols: 140, Rows: 50})
	s.must(holder.v.Resize(ptymgr.Size{Cols: 20, Rows: 5}))
	size(ptymgr.Size{Cols: 140, Rows: 50})
	s.refused(terminal.Resize(By{Client: s.a}, ptymgr.Size{Cols: 20, Rows: 5}), errShown)
	browser.v.SetVisible(false)
	size(ptymgr.Size{Cols: 20, Rows: 5})
}
