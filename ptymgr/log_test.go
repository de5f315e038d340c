package ptymgr

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// noise returns n bytes of output that is hard on a log: characters of every length, colours, queries, invalid bytes.
func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	parts := []string{
		"plain text ", "\r\n", "naïve café ", "“quotes” — dashes … • ", "日本語テキスト", "👩‍👩‍👧‍👦🏳️‍🌈", "\x1b[38;5;123mcolour\x1b[0m",
		"\x1b[6n", "\x1b[c", "\x1b]10;?\x07", "\x1b]11;?\x1b\\", "\x1b[?1049$p", "\x1bP$qm\x1b\\", "\x1b]0;title\x07", "\xff\xfe", "\xe2\x80", "\u009b5n",
	}
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.Bytes()[:n]
}

// Whatever the reads and whenever viewers come and go, a viewer that keeps up gets the masked log, whole and in order.
func TestViewerThatKeepsUpGetsTheMaskedLog(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		term := bench(MinLogBytes)
		data := noise(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 300_000).Draw(rt, "bytes"))
		want := masked(data)
		var s screen
		v := term.Attach(AttachOptions{Since: 0})
		defer func() { v.Close() }()
		for fed := 0; fed < len(data); {
			n := min(rapid.IntRange(1, 40_000).Draw(rt, "feed"), len(data)-fed)
			term.feed(data[fed:fed+n], rapid.IntRange(1, 9000).Draw(rt, "piece"))
			fed += n
			s.drain(t, v)
			if rapid.Bool().Draw(rt, "reattach") {
				v.Close()
				v = term.Attach(AttachOptions{Since: s.offset})
			}
		}
		term.seal(Exit{})
		s.until(t, v, "the exit", func() bool { return s.count(EventExit) == 1 })
		if !bytes.Equal(s.log, want) {
			i := 0
			for i < min(len(s.log), len(want)) && s.log[i] == want[i] {
				i++
			}
			rt.Fatalf("stream of %d bytes differs from the masked log of %d at %d: %q, want %q", len(s.log), len(want), i,
				s.log[i:min(i+40, len(s.log))], want[i:min(i+40, len(want))])
		}
		if s.count(EventReset) != 0 {
			rt.Fatalf("%d resets for a viewer that kept up", s.count(EventReset))
		}
	})
}

func TestFramesAreCutAtCharacters(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	var s screen
	for range 40 {
		term.feed([]byte(strings.Repeat("—日👩", 1000)), 997)
		s.drain(t, v)
	}
	for i, ev := range s.events {
		if ev.Kind == EventOutput && !utf8.Valid(ev.Data) {
			t.Fatalf("event %d: frame of %d bytes is cut inside a character", i, len(ev.Data))
		}
		if len(ev.Data) > 65_535 {
			t.Fatalf("frame of %d bytes", len(ev.Data))
		}
	}
	if len(s.log) != 40*10*1000 {
		t.Fatalf("got %d bytes", len(s.log))
	}
}

func TestHalfACharacterWaitsForTheRestOrTheExit(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	var s screen
	term.feed([]byte("a\xe2\x80"), 10)
	s.drain(t, v)
	if string(s.log) != "a" {
		t.Fatalf("half a character was sent: %q", s.log)
	}
	term.feed([]byte("\x94b\xe2\x80"), 10)
	s.drain(t, v)
	if string(s.log) != "a—b" {
		t.Fatalf("got %q", s.log)
	}
	term.seal(Exit{})
	s.drain(t, v)
	if string(s.log) != "a—b\xe2\x80" {
		t.Fatalf("what was held back is lost at the exit: %q", s.log)
	}
}

func TestPinnedSegmentIsNeverRewritten(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	var s screen
	s.drain(t, v)
	term.feed(bytes.Repeat([]byte("a"), 10_000), 5000)
	term.neverGather()
	ev, err := v.Next(context.Background())
	if err != nil || ev.Kind != EventOutput {
		t.Fatalf("got %v, %v", ev, err)
	}
	pinned := bytes.Clone(ev.Data)
	term.feed(bytes.Repeat([]byte("b"), 4*MinLogBytes), 5000)
	if !bytes.Equal(ev.Data, pinned) {
		t.Fatal("the segment being sent was rewritten")
	}
}

func TestMemoryIsTheRingAndOneSegmentAViewer(t *testing.T) {
	term := bench(MinLogBytes)
	for range 20 {
		v := term.Attach(AttachOptions{Since: 0})
		defer v.Close()
		term.neverGather()
		for {
			if ev, err := v.Next(context.Background()); err != nil {
				t.Fatal(err)
			} else if ev.Kind == EventOutput {
				break // each viewer now sits on a segment
			} else if ev.Kind == EventReady {
				term.feed(bytes.Repeat([]byte("a"), 2*segmentBytes), 5000)
			}
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 50 {
		term.feed(bytes.Repeat([]byte("b"), MinLogBytes), 5000)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 21*segmentBytes+MinLogBytes {
		t.Fatalf("heap grew by %d bytes over 50 logs of output", grown)
	}
	if n := len(term.log.segs); n > MinLogBytes/segmentBytes {
		t.Fatalf("ring of %d segments", n)
	}
}

func TestAppendAndSendDoNotAllocate(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	line := []byte(strings.Repeat("\x1b[38;5;12mplain and coloured\x1b[0m text — with dashes\r\n", 69) + "\x1b]633;A\a$ \x1b]633;B\a\r\n")
	var s screen
	s.drain(t, v)
	term.feed(bytes.Repeat(line, 2*MinLogBytes/len(line)), 4096) // fill the ring
	s.drain(t, v)
	term.neverGather()
	ctx := context.Background()
	if n := testing.AllocsPerRun(2000, func() {
		term.feed(line, 4096)
		if _, err := v.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}); n >= 0.1 {
		t.Fatalf("%.2f allocations per read and frame", n)
	}
}

func TestContinueFromEveryOffset(t *testing.T) {
	term := bench(MinLogBytes)
	text := strings.Repeat("0123456789", 50)
	term.feed([]byte(text), 33)
	for since := range int64(len(text) + 1) {
		v := term.Attach(AttachOptions{Since: since})
		var s screen
		s.until(t, v, "the rest", func() bool { return s.count(EventReady) == 1 && s.offset == int64(len(text)) })
		v.Close()
		if s.events[0].Kind != EventReady || s.events[0].Offset != since || string(s.log) != text[since:] || s.count(EventReset) > 0 {
			t.Fatalf("from %d: %v", since, s.events)
		}
	}
	for _, since := range []int64{NoOffset, int64(len(text)) + 1, 1 << 60} {
		v := term.Attach(AttachOptions{Since: since})
		var s screen
		s.until(t, v, "a replay", func() bool { return s.offset == int64(len(text)) && s.count(EventReset) == 1 })
		v.Close()
		if s.events[0].Kind != EventReady || s.events[1].Kind != EventReset || string(s.log) != text {
			t.Fatalf("from %d: %v", since, s.events)
		}
	}
}

// lines returns numbered lines, so that a viewer can tell what it missed.
func lines(from, to int) []byte {
	var b bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line %07d\r\n", i)
	}
	return b.Bytes()
}

func TestOvertakenViewerRestartsNearTheHead(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	var s screen
	term.feed(lines(0, 10), 100)
	s.drain(t, v)
	term.feed(lines(10, 300_000), 4000) // several times the ring
	s.drain(t, v)
	if s.count(EventReset) != 1 || term.counters.resyncs.Load() != 1 {
		t.Fatalf("%d resets, %d resyncs", s.count(EventReset), term.counters.resyncs.Load())
	}
	if len(s.log) > restartBytes || len(s.log) < restartBytes-20 {
		t.Fatalf("restarted %d bytes behind the head", len(s.log))
	}
	if !bytes.HasPrefix(s.log, []byte("line ")) || !bytes.HasSuffix(s.log, []byte("line 0299999\r\n")) {
		t.Fatalf("restarted with %q, ended with %q", s.log[:20], s.log[len(s.log)-20:])
	}
	if s.offset != int64(300_000*14) {
		t.Fatalf("ended at offset %d", s.offset)
	}
}

func TestFreshViewerStartsWellAboveTheTail(t *testing.T) {
	term := bench(MinLogBytes)
	term.feed(lines(0, 300_000), 4000)
	v := term.Attach(AttachOptions{Since: NoOffset})
	defer v.Close()
	if above := v.pos - term.log.segs[0].start; above < 2*highWater {
		t.Fatalf("starts %d bytes above the tail", above)
	}
	var s screen
	s.drain(t, v)
	if !bytes.HasPrefix(s.log, []byte("line ")) {
		t.Fatalf("starts inside a line: %q", s.log[:20])
	}
	term = bench(MinLogBytes)
	term.feed(lines(0, 1000), 4000)
	v2 := term.Attach(AttachOptions{Since: NoOffset})
	defer v2.Close()
	if v2.pos != 0 {
		t.Fatalf("a log that is not full is replayed from %d", v2.pos)
	}
}

func TestClearIsForEverybodyAndForGood(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	slow := term.Attach(AttachOptions{Since: 0})
	defer slow.Close()
	var s, behind screen
	term.feed([]byte("secret\r\n$ "), 100)
	s.drain(t, v)
	term.Clear()
	term.feed([]byte("after"), 100)
	s.drain(t, v)
	if s.count(EventCleared) != 1 || string(s.log) != "secret\r\n$ after" {
		t.Fatalf("%v %q", s.events, s.log)
	}
	behind.drain(t, slow)
	var before, after int
	for _, ev := range behind.events {
		switch {
		case ev.Kind == EventCleared && ev.Offset != 8:
			t.Fatalf("cleared at %d", ev.Offset)
		case ev.Kind == EventCleared:
			after = 1
		case ev.Kind == EventOutput && after == 0:
			before += len(ev.Data)
		}
	}
	if before != 8 || after != 1 {
		t.Fatalf("a viewer that is behind was told after %d bytes", before)
	}
	for _, since := range []int64{NoOffset, 0, 7} {
		late := term.Attach(AttachOptions{Since: since})
		var s screen
		s.drain(t, late)
		late.Close()
		if string(s.log) != "$ after" || s.count(EventReset) != 1 {
			t.Fatalf("since %d: %q", since, s.log)
		}
	}
}

func TestSizeComesWhenTheCursorPassesIt(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	desk := term.Attach(AttachOptions{Since: 0, Writable: true})
	defer desk.Close()
	var told []string
	term.feed([]byte("one"), 10)
	for i, size := range []Size{{100, 30}, {90, 20}, {120, 40}} {
		if err := desk.Resize(size); err != nil {
			t.Fatal(err)
		}
		term.feed([]byte{byte('a' + i)}, 10)
	}
	var s screen
	s.drain(t, v)
	for _, ev := range s.events {
		switch ev.Kind {
		case EventResize, EventReady:
			told = append(told, fmt.Sprint(ev.Size))
		case EventOutput:
			told = append(told, string(ev.Data))
		}
	}
	if got := strings.Join(told, " "); got != "{80 24} one {100 30} a {90 20} b {120 40} c" {
		t.Fatal(got)
	}
}

// The line that survives may have begun in an earlier segment.
func TestClearKeepsALineAcrossSegments(t *testing.T) {
	term := bench(MinLogBytes)
	before := strings.Repeat("x", segmentBytes-minRead-60) + "\n"
	term.feed([]byte(before+strings.Repeat("$", 200)), 50)
	if len(term.log.segs) < 2 {
		t.Fatal("the line is in one segment")
	}
	term.Clear()
	if term.log.floor != int64(len(before)) {
		t.Fatalf("cleared up to %d, the line starts at %d", term.log.floor, len(before))
	}
}
