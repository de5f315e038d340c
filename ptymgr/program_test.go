package ptymgr

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// program attaches a viewer for a program that may type.
func program(t testing.TB, term *Terminal, opts AttachOptions) *person {
	opts.Program, opts.Writable = true, true
	p := &person{Viewer: term.Attach(opts)}
	t.Cleanup(p.Close)
	return p
}

func TestProgramsNeverPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		p := program(t, term, AttachOptions{Since: 0})
		ack(t, p.Viewer, 0)
		if err := p.Resize(Size{80, 24}); err != nil {
			t.Fatal(err)
		}
		f := startFlood(term, 8<<20)
		<-f.done
		if term.counters.pauses.Load() != 0 || term.head() != 8<<20 {
			t.Fatalf("%d pauses, read up to %d", term.counters.pauses.Load(), term.head())
		}
	})
}

func TestProgramsNeverAnswer(t *testing.T) {
	term := bench(MinLogBytes)
	agent := program(t, term, AttachOptions{Since: 0})
	if err := agent.Resize(Size{80, 24}); err != nil {
		t.Fatal(err)
	}
	p := shown(t, term)
	if err := agent.Input([]byte("x")); err != nil {
		t.Fatal(err)
	}
	term.feed([]byte(ask), 5)
	if got := agent.told(t) + p.told(t); got != maskedAsk+ask {
		t.Fatalf("the program and the person got %q", got)
	}
	p.Close()
	term.input.swap(nil) // what was typed
	term.feed([]byte("\x1b[5n"), 5)
	if got := agent.told(t); got != maskedAsk {
		t.Fatalf("the program alone got %q", got)
	}
	if got := term.input.swap(nil); string(got) != "\x1b[0n" {
		t.Fatalf("the server answered %q", got)
	}
}

func TestSizesOfProgramsCountOnlyAlone(t *testing.T) {
	term := bench(MinLogBytes)
	size := func(when string, want Size) {
		t.Helper()
		if got, _ := term.sizeNow(); got != want {
			t.Fatalf("%s: %v, want %v", when, got, want)
		}
	}
	says := func(p *person, s Size) {
		t.Helper()
		if err := p.Resize(s); err != nil {
			t.Fatal(err)
		}
	}
	agent, other := program(t, term, AttachOptions{}), program(t, term, AttachOptions{})
	desk := attach(t, term)
	says(agent, Size{40, 10})
	size("a program, and a browser that has not said its size", Size{40, 10})
	says(other, Size{30, 12})
	size("two programs", Size{30, 10})
	says(desk, Size{100, 30})
	size("a browser beside them", Size{100, 30})
	says(agent, Size{20, 5})
	size("a program says another size meanwhile", Size{100, 30})
	if err := term.Resize(Size{50, 20}); !errors.Is(err, ErrShown) {
		t.Fatalf("a browser shows it: %v", err)
	}
	desk.SetVisible(false)
	size("the browser is hidden", Size{20, 5})
	agent.SetWritable(false)
	size("one program may not type any more", Size{30, 12})
	other.SetWritable(false)
	size("nor may the other: it stays", Size{30, 12})
	desk.SetVisible(true)
	size("the browser is back", Size{100, 30})
	desk.Close()
	size("and gone", Size{100, 30})
	resize(t, term, 50, 20)
	size("from elsewhere", Size{50, 20})
	if err := term.Resize(Size{0, 20}); err == nil {
		t.Fatal("no columns are a size")
	}
	term.seal(Exit{})
	if err := term.Resize(Size{51, 20}); !errors.Is(err, ErrExited) {
		t.Fatalf("after the exit: %v", err)
	}
}

func TestResizeWithoutAViewerReachesTheProgram(t *testing.T) {
	m := manager(t, Config{})
	p := attach(t, create(t, m, sh("while :; do stty size; sleep 0.01; done")))
	p.see(t, "24 80")
	resize(t, p.t, 91, 33)
	p.see(t, "33 91")
	if p.count(EventResize) != 1 {
		t.Fatalf("told of %d sizes", p.count(EventResize))
	}
}

// Nothing from before the floor is shown, wherever a viewer starts and however far it falls behind.
func TestNothingBelowTheFloorIsShown(t *testing.T) {
	term := bench(MinLogBytes)
	term.feed([]byte("\x1b]2;secret title\a\x1b]8;;http://secret/\a\x1b[31msecret\r\nsecret $ "), 7)
	floor := term.head()
	term.feed([]byte("open\x1b]2;open\a\r\nmore"), 7)
	for _, since := range []int64{NoOffset, 0, floor - 1, floor, floor + 4, term.head(), term.head() + 1} {
		p := program(t, term, AttachOptions{Since: since, Floor: floor})
		var all strings.Builder
		for _, ev := range drained(t, p) {
			all.Write(ev.Data)
			if ev.Offset < floor && ev.Kind != EventTitle && ev.Kind != EventResize {
				t.Fatalf("since %d: %+v below the floor %d", since, ev, floor)
			}
		}
		if strings.Contains(all.String(), "secret") {
			t.Fatalf("since %d: %q", since, all.String())
		}
		want, resets := "open\x1b]2;open\a\r\nmore", 1
		if since >= floor && since <= term.head() {
			want, resets = want[since-floor:], 0
		}
		if string(p.log) != want || p.count(EventReset) != resets {
			t.Fatalf("since %d: %q after %d resets, want %q after %d", since, p.log, p.count(EventReset), want, resets)
		}
		if replay := all.String(); resets == 1 && !strings.Contains(replay, "31") {
			t.Fatalf("since %d: the colour is not in %q", since, replay)
		}
	}
}

func drained(t testing.TB, p *person) []Event {
	p.drain(t, p.Viewer)
	return p.events
}

func TestOvertakenViewersStartAgainAboveTheirFloor(t *testing.T) {
	term := bench(MinLogBytes)
	p := program(t, term, AttachOptions{Since: 0})
	p.drain(t, p.Viewer)
	term.feed(lines(0, 300_000), 4000)
	floor := term.head()
	behind := program(t, term, AttachOptions{Since: NoOffset, Floor: floor - 14})
	behind.drain(t, behind.Viewer)
	if string(behind.log) != "line 0299999\r\n" {
		t.Fatalf("a floor near the head: %.40q", behind.log)
	}
	high := program(t, term, AttachOptions{Since: NoOffset, Floor: floor})
	high.drain(t, high.Viewer)
	if len(high.log) > 0 || high.offset != floor {
		t.Fatalf("a floor at the head: %.40q at %d", high.log, high.offset)
	}
	term.feed(lines(300_000, 301_000), 4000)
	high.drain(t, high.Viewer)
	if len(high.log) != 14_000 {
		t.Fatalf("%d bytes above the floor", len(high.log))
	}
	p.drain(t, p.Viewer)
	if p.count(EventReset) != 1 || len(p.log) < 14_000 {
		t.Fatalf("without a floor: %d resets, %d bytes", p.count(EventReset), len(p.log))
	}
	// The one with a floor is overtaken, and what a restart reaches back to lies above the floor by now.
	term.feed(lines(301_000, 500_000), 4000)
	high.drain(t, high.Viewer)
	if high.count(EventReset) != 2 || len(high.log) > restartBytes || high.offset != term.head() {
		t.Fatalf("%d resets, %d bytes up to %d", high.count(EventReset), len(high.log), high.offset)
	}
}

// A floor may be anywhere the log was clean, also inside a string that is too long to be held back.
func TestFloorInsideALongString(t *testing.T) {
	term := bench(MinLogBytes)
	term.feed([]byte("\x1b]2;"+strings.Repeat("secret", 2000)), 1000)
	floor := term.head()
	term.feed([]byte("secret\avisible"), 1000)
	p := program(t, term, AttachOptions{Since: NoOffset, Floor: floor})
	p.drain(t, p.Viewer)
	if p.events[0].Kind != EventReady || p.events[0].Offset != floor || !strings.HasSuffix(string(p.log), "\avisible") {
		t.Fatalf("%+v, %q", p.events[0], p.log)
	}
	var replay string
	for _, ev := range p.events {
		if ev.Kind == EventLive {
			break
		}
		replay += string(ev.Data)
	}
	if strings.Contains(replay, "secret") || !strings.HasSuffix(replay, "\x1b]-") {
		t.Fatalf("the string is not opened again in %q", replay)
	}
}

func TestWhoMayTypeChangesWhileAttached(t *testing.T) {
	term := bench(MinLogBytes)
	p := shown(t, term)
	if !p.events[0].Writable {
		t.Fatal("ready says that it may not type")
	}
	reader := term.Attach(AttachOptions{})
	defer reader.Close()
	var s screen
	s.drain(t, reader)
	if s.events[0].Writable {
		t.Fatal("ready says that it may type")
	}
	writable := func(want ...bool) {
		t.Helper()
		p.events = nil
		p.drain(t, p.Viewer)
		var got []bool
		for _, ev := range p.events {
			if ev.Kind == EventWritable {
				got = append(got, ev.Writable)
			}
		}
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Fatalf("told %v, want %v", got, want)
		}
	}
	p.SetWritable(true)
	writable()
	p.SetWritable(false)
	writable(false)
	if !errors.Is(p.Input([]byte("x")), ErrReadOnly) || !errors.Is(p.Answer([]byte("x")), ErrReadOnly) || !errors.Is(p.Clear(), ErrReadOnly) {
		t.Fatal("it types, answers or clears all the same")
	}
	term.feed([]byte(ask), 5)
	if got := p.told(t); got != maskedAsk {
		t.Fatalf("a reader was asked: %q", got)
	}
	p.SetWritable(true)
	p.SetWritable(false)
	p.SetWritable(true)
	writable(true)
	term.feed([]byte(ask), 5)
	if got := p.told(t); got != ask {
		t.Fatalf("nobody was asked: %q", got)
	}
	p.types(t, "x")
}

// A viewer that waits in Next is woken by the change.
func TestWaitingViewerIsToldThatItMayType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		v := term.Attach(AttachOptions{})
		defer v.Close()
		told := make(chan Event)
		go func() {
			defer close(told)
			for {
				ev, err := v.Next(context.Background())
				if err != nil {
					return
				}
				if ev.Kind == EventWritable {
					told <- ev
				}
			}
		}()
		synctest.Wait()
		v.SetWritable(true)
		if ev := <-told; !ev.Writable {
			t.Fatalf("%+v", ev)
		}
		v.Close()
		<-told
	})
}

func TestReadOnlyViewersStopPacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, leave := range map[string]func(*Viewer){
			"read-only": func(v *Viewer) { v.SetWritable(false) },
			"paused":    func(v *Viewer) { v.SetPaused(true) },
		} {
			term := bench(MinLogBytes)
			v := term.desk()
			ack(t, v, 0)
			f := startFlood(term, farAhead)
			synctest.Wait()
			if head := term.head(); head > highWater+1024 {
				t.Fatalf("%s: not held back before: %d", name, head)
			}
			began := time.Now()
			leave(v)
			<-f.done
			if took := time.Since(began); took > 0 {
				t.Fatalf("%s: held back for %v", name, took)
			}
			v.Close()
		}
	})
}

func TestPausedViewersAreToldNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		p := program(t, term, AttachOptions{Since: 0})
		p.drain(t, p.Viewer)
		events := make(chan Event)
		ended := make(chan error, 1)
		p.SetPaused(true)
		go func() {
			for {
				ev, err := p.Next(context.Background())
				if err != nil {
					ended <- err
					return
				}
				if ev.Kind == EventOutput {
					ev.Data = append([]byte(nil), ev.Data...)
				}
				events <- ev
			}
		}()
		silent := func(when string) {
			t.Helper()
			synctest.Wait()
			select {
			case ev := <-events:
				t.Fatalf("%s: told %+v", when, ev)
			default:
			}
		}
		term.feed([]byte("output\r\n"), 10)
		resize(t, term, 100, 30)
		term.Rename("title")
		term.Clear()
		p.SetWritable(false)
		silent("while paused")
		p.SetPaused(false)
		var kinds []EventKind
		for range 5 {
			kinds = append(kinds, (<-events).Kind)
		}
		silent("after the news")
		want := []EventKind{EventWritable, EventTitle, EventOutput, EventResize, EventCleared}
		for i := range want {
			if kinds[i] != want[i] {
				t.Fatalf("told %v, want %v", kinds, want)
			}
		}
		p.SetPaused(true)
		term.feed(lines(0, 200_000), 4000)
		term.seal(Exit{Code: 1})
		silent("overtaken, and at the exit")
		p.SetPaused(false)
		reset := false
		for ev := range events {
			reset = reset || ev.Kind == EventReset
			if ev.Kind == EventExit {
				break
			}
		}
		if !reset {
			t.Fatal("overtaken without a reset")
		}
		p.SetPaused(true)
		silent("at the end")
		p.Close()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Fatalf("closed while paused: %v", err)
		}
	})
}

func TestPausedViewersAreNotAsked(t *testing.T) {
	term := bench(MinLogBytes)
	first, second := shown(t, term), shown(t, term)
	first.types(t, "x")
	first.SetPaused(true)
	term.feed([]byte(ask), 5)
	first.SetPaused(false)
	term.feed([]byte(ask), 5)
	if got := first.told(t) + "," + second.told(t); got != maskedAsk+ask+","+ask+maskedAsk {
		t.Fatalf("the viewers got %q", got)
	}
}

func TestPausedViewersEndWithTheirTerminal(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, bash())
	p := program(t, term, AttachOptions{})
	p.SetPaused(true)
	ended := make(chan error, 1)
	go func() {
		_, err := p.Next(context.Background())
		ended <- err
	}()
	if err := m.Dispose(context.Background(), term.ID()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, ErrDisposed) {
		t.Fatal(err)
	}
}

func TestAnswersAreNoTyping(t *testing.T) {
	term := bench(MinLogBytes)
	first, second := shown(t, term), shown(t, term)
	before := term.lastInput.Load()
	if err := second.Answer([]byte("\x1b[1;1R")); err != nil {
		t.Fatal(err)
	}
	if term.lastInput.Load() != before {
		t.Fatal("an answer counts as typing")
	}
	term.feed([]byte(ask), 5)
	if got := first.told(t) + second.told(t); got != ask+maskedAsk {
		t.Fatalf("the viewers got %q", got)
	}
	if got := term.input.swap(nil); string(got) != "\x1b[1;1R" || term.counters.input.Load() != 6 {
		t.Fatalf("the program got %q", got)
	}
	if err := second.Answer(make([]byte, maxInput+1)); !errors.Is(err, ErrInputFull) {
		t.Fatal(err)
	}
	term.input.close(ErrExited)
	if err := second.Answer([]byte("x")); !errors.Is(err, ErrExited) {
		t.Fatal(err)
	}
}
