package ptymgr

import (
	"bytes"
	"strings"
	"testing"
)

const ask, maskedAsk = "\x1b[6n", "\x18\x00\x00\x00"

// shown attaches a viewer that has said its size, as a browser does.
func shown(t *testing.T, term *Terminal) *person {
	p := attach(t, term)
	p.drain(t, p.Viewer)
	if err := p.Resize(Size{80, 24}); err != nil {
		t.Fatal(err)
	}
	return p
}

// told returns what the viewer was sent since the last call.
func (p *person) told(t *testing.T) string {
	p.log = nil
	p.drain(t, p.Viewer)
	return string(p.log)
}

func TestExactlyOneViewerAnswersQueries(t *testing.T) {
	term := bench(MinLogBytes)
	first, second := shown(t, term), shown(t, term)
	watcher := attach(t, term) // says no size: a program that reads
	expect := func(when string, who *person) {
		t.Helper()
		term.feed([]byte(when+ask), 5)
		for _, p := range []*person{first, second, watcher} {
			want := when + maskedAsk
			if p == who {
				want = when + ask
			}
			if got := p.told(t); !strings.HasSuffix(got, want) {
				t.Fatalf("%s: got %q, want %q", when, got, want)
			}
		}
	}
	expect("nobody typed: the first terminal", first)
	if err := second.Input([]byte("x")); err != nil {
		t.Fatal(err)
	}
	expect("the one that typed last", second)
	second.SetVisible(false)
	expect("only visible ones", first)
	second.SetVisible(true)
	expect("again the one that typed last", second)
	second.Close()
	term.feed([]byte(ask), 5)
	if got := first.told(t); got != ask {
		t.Fatalf("after the answerer left: %q", got)
	}
}

// Who answers is settled when the query is printed, not when a viewer gets to it.
func TestAnswererIsTheOneOfTheQuerysOffset(t *testing.T) {
	term := bench(MinLogBytes)
	a, b := shown(t, term), shown(t, term)
	term.feed([]byte("1"+ask), 5)
	if err := b.Input([]byte("x")); err != nil {
		t.Fatal(err)
	}
	term.feed([]byte("2"+ask), 5)
	if err := a.Input([]byte("x")); err != nil {
		t.Fatal(err)
	}
	term.feed([]byte("3"+ask), 5)
	if got := a.told(t); got != "1"+ask+"2"+maskedAsk+"3"+ask {
		t.Fatalf("a got %q", got)
	}
	if got := b.told(t); got != "1"+maskedAsk+"2"+ask+"3"+maskedAsk {
		t.Fatalf("b got %q", got)
	}
}

// A query that was half printed when the answerer changed goes to one of the two as a whole.
func TestHalfPrintedQueryIsNotTorn(t *testing.T) {
	term := bench(MinLogBytes)
	a, b := shown(t, term), shown(t, term)
	term.feed([]byte("x\x1b[6"), 1)
	if err := b.Input([]byte("x")); err != nil {
		t.Fatal(err)
	}
	term.feed([]byte("n"), 1)
	if got := a.told(t); got != "x"+maskedAsk {
		t.Fatalf("a got %q", got)
	}
	if got := b.told(t); got != "x"+ask {
		t.Fatalf("b got %q", got)
	}
}

func TestReplaysContainNoQueries(t *testing.T) {
	term := bench(MinLogBytes)
	p := shown(t, term)
	all := bytes.Repeat([]byte("$ \x1b[6n\x1b[c\x1b]11;?\x07\r\n"), 1000)
	term.feed(all, 777)
	if got := p.told(t); got != string(all) {
		t.Fatal("the answerer itself got masked queries")
	}
	for _, since := range []int64{NoOffset, 0, 100} {
		late := term.Attach(AttachOptions{Since: since, Writable: true})
		var s screen
		s.drain(t, late)
		late.Close()
		if bytes.Contains(s.log, []byte("[6n")) || bytes.Contains(s.log, []byte("?\x07")) || int64(len(s.log)) != int64(len(all))-max(since, 0) {
			t.Fatalf("since %d: %.60q", since, s.log)
		}
	}
}

func TestReadOnlyViewersMayNotTypeOrAnswer(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	if v.Input([]byte("x")) != ErrReadOnly || v.Clear() != ErrReadOnly {
		t.Fatal("a read-only viewer typed or cleared")
	}
	if err := v.Resize(Size{80, 24}); err != nil {
		t.Fatal(err)
	}
	term.feed([]byte(ask), 5)
	var s screen
	s.drain(t, v)
	if string(s.log) != maskedAsk {
		t.Fatalf("got %q", s.log)
	}
}

// Output that asks and asks must not take the place of what somebody types.
func TestAnswersOfTheServerLeaveRoomForInput(t *testing.T) {
	term := bench(MinLogBytes)
	term.feed(bytes.Repeat([]byte("\x1b[c"), 2_000_000), 4000)
	if err := term.Input(make([]byte, maxInput-maxAnswers)); err != nil {
		t.Fatal(err)
	}
}

// An acking viewer may be cut off when its window is full, and come back where a frame ended: never inside a query, of
// which it has seen the start and will not see the end.
func TestWindowsDoNotEndInsideQueries(t *testing.T) {
	term := bench(MinLogBytes)
	p := shown(t, term)
	ack(t, p.Viewer, 0)
	const query = "\x1b]11;?\x07"
	term.feed(bytes.Repeat([]byte(query), 2*highWater/len(query)), 4000)
	p.told(t)
	if p.pos%int64(len(query)) != 0 || p.pos < highWater-int64(len(query)) {
		t.Fatalf("stopped at %d, %d bytes into a query", p.pos, p.pos%int64(len(query)))
	}
	ack(t, p.Viewer, p.pos)
	if got := p.told(t); len(got) < highWater-2*len(query) {
		t.Fatalf("%d bytes after an ack", len(got))
	}
}

// Those who take turns in typing while nothing is printed leave no trace.
func TestTurnsWithoutOutputTakeNoMemory(t *testing.T) {
	term := bench(MinLogBytes)
	a, b := shown(t, term), shown(t, term)
	for range 100 {
		for _, p := range []*person{a, b} {
			if err := p.Input([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := max(len(a.tenures), len(b.tenures)); n > 2 {
		t.Fatalf("%d tenures", n)
	}
	term.feed([]byte(ask), 10)
	if got := a.told(t) + b.told(t); got != maskedAsk+ask {
		t.Fatalf("got %q", got)
	}
}
