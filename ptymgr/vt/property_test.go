package vt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// outcome is everything that a scan leads to.
type outcome struct {
	state   Scanner
	output  string // as overwritten
	queries []Query
	hidden  string // a # for each byte that is for terminals alone
	marks   []string
	rest    int
}

// scanPieces feeds output in pieces that end at the given offsets, as the log does: what is left over comes again with
// the next piece. It fails the test where a promise of scan is broken.
func scanPieces(t interface{ Fatalf(string, ...any) }, output []byte, ends []int) outcome {
	var got outcome
	var found Findings
	p := bytes.Clone(output)
	hidden := bytes.Repeat([]byte{' '}, len(p))
	hide := func(from, to int) { copy(hidden[from:to], bytes.Repeat([]byte{'#'}, to-from)) }
	from := 0
	for _, end := range append(ends, len(p)) {
		piece := p[from:end]
		before := bytes.Clone(piece)
		n := got.state.Scan(piece, int64(from), &found)
		if n < 0 || n > len(piece) || len(piece)-n > maxHold {
			t.Fatalf("took %d of %d bytes", n, len(piece))
		}
		if !bytes.Equal(piece[n:], before[n:]) {
			t.Fatalf("bytes were overwritten that were not taken")
		}
		last := 0
		for _, q := range found.Queries {
			if q.From < last || q.To <= q.From || q.To > n || q.Kind == QueryNone {
				t.Fatalf("impossible query %v, took %d", q, n)
			}
			last = q.To
			got.queries = append(got.queries, Query{from + q.From, from + q.To, q.Kind})
		}
		last = -1
		for _, span := range found.Hidden {
			if span.From <= last || span.To <= span.From || span.To > n {
				t.Fatalf("impossible span %v after one that ends at %d, took %d", span, last, n)
			}
			last = span.To
			hide(from+span.From, from+span.To)
		}
		last = 0
		for _, m := range found.Marks {
			if m.From < last || m.To <= m.From || m.To > n || string(hidden[from+m.From:from+m.To]) != strings.Repeat("#", m.To-m.From) {
				t.Fatalf("impossible mark %v, took %d", m, n)
			}
			last = m.To
			m.From, m.To = from+m.From, from+m.To
			got.marks = append(got.marks, m.String())
		}
		from += n
	}
	if got.state.HidesRest(p[from:]) {
		hide(from, len(p))
	}
	got.output, got.hidden, got.rest = string(p), string(hidden), len(p)-from
	return got
}

// difference describes in what two outcomes of the same output differ, or is "".
func difference(a, b outcome) string {
	switch {
	case a.state != b.state:
		return fmt.Sprintf("state %+v, not %+v", a.state, b.state)
	case a.output != b.output:
		return "overwritten bytes differ"
	case fmt.Sprint(a.queries) != fmt.Sprint(b.queries):
		return fmt.Sprintf("queries %v, not %v", a.queries, b.queries)
	case fmt.Sprint(a.marks) != fmt.Sprint(b.marks):
		return fmt.Sprintf("marks %v, not %v", a.marks, b.marks)
	case a.hidden != b.hidden:
		return fmt.Sprintf("hidden are %q, not %q", a.hidden, b.hidden)
	case a.rest != b.rest:
		return fmt.Sprintf("a rest of %d bytes, not %d", a.rest, b.rest)
	}
	return ""
}

// checkRescan scans what a scan left behind, read-only, and compares the states.
func checkRescan(t interface{ Fatalf(string, ...any) }, o outcome) {
	var again Scanner
	output := []byte(o.output)
	n := again.Scan(output, 0, nil)
	if string(output) != o.output {
		t.Fatalf("a rescan wrote")
	}
	want := o.state
	if want.blank { // the rest of it is NUL now, which is no sequence
		want.long, want.blank = ground, false
	}
	if n != len(output)-o.rest || again != want {
		t.Fatalf("rescan: took %d of %d, rest was %d: %+v, not %+v", n, len(output), o.rest, again, want)
	}
}

// units is what programs write, and what somebody hostile would.
var units = []string{
	"text", "\r\n", "é", "€", "😀", "\u00a0", "\ufeff", "\ufffd", "\x00", "\x07", "\x0e", "\x0f", "\x18", "\x1a", "\x7f",
	"\xff", "\xc2", "\xe2", "\xe2\x82", "\xf0\x9f", "\x80", "\x9b", "\xc2\x84", "\xc2\x9a", "\xc2\x9b", "\xc2\x9c", "\xc2\x9d", "\xc2\x90", "\xc2\x9f",
	"\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b\\", "\x1b(", "\x1b$",
	"\x1b[0m", "\x1b[m", "\x1b[1;3m", "\x1b[4:3m", "\x1b[38;5;200m", "\x1b[38;2;1;2;3m", "\x1b[48:2::1:2:3m", "\x1b[58:5:9m", "\x1b[59m", "\x1b[97;101m", "\x1b[1\"q",
	"\x1b[?1h", "\x1b[?7l", "\x1b[?25l", "\x1b[?1000;1006h", "\x1b[?1004h", "\x1b[?2004h", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?1047l", "\x1b[4h", "\x1b[20h", "\x1b[?6h", "\x1b[?12l",
	"\x1b[5 q", "\x1b[2;10r", "\x1b[r", "\x1b[5r", "\x1b[0;9r", "\x1b[7;3r", "\x1b[3;99999r", "\x1b[99999r", "\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1b(0", "\x1b)0", "\x1b*A", "\x1b+B", "\x1bn", "\x1bo", "\x1b~", "\x1b%G", "\x1b=", "\x1b>", "\x1bc", "\x1b[!p",
	"\x1b[c", "\x1b[>c", "\x1b[=c", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[?2026$p", "\x1b[4$p", "\x1b[>q", "\x1b[?u", "\x1b[18t", "\x1bZ", "\x1bP$qm\x1b\\", "\x1bP+q544e\x1b\\",
	"\x1b]0;title\a", "\x1b]2;ti\x1b\\", "\x1b]7;file:///tmp/x\x1b\\", "\x1b]8;;http://x/\a", "\x1b]8;;\a", "\x1b]10;?\a", "\x1b]11;#123456\a", "\x1b]4;1;?\x1b\\", "\x1b]4;1;rgb:1/2/3\a", "\x1b]104\a", "\x1b]110\a", "\x1b]52;c;?\a", "\x1b]52;c;QUJD\a",
	"\x1b]633;A\a", "\x1b]633;E;ls;nonce\x1b\\", "\x1b]133;D;0\xc2\x9c", "\xc2\x9d633;P;Cwd=/\a", "\x1b]63", "3;C", "\x1b]633;C\x18", "\x1b]7;", "\x1b]633;A;n\xff\a", "\x1b]633;E;a\\x3bb\\\\;n\xc2\x9c", "\x1b]133;C;cmdline_url=l%20s\x1b\\", ";n\a", "\x1b]633;E;",
	"\x1b[3\n1m", "\x1b[1\x0em", "\x1b[?1?h", "0", "1", ";", ":", "?", "$", "q", "m", "c", "n", "h",
}

// long stretches reach the limit of what is held.
var long = []string{strings.Repeat("1", maxHold), strings.Repeat(";", 3000), strings.Repeat("\x00", 3*maxHold), strings.Repeat("é", 1500), strings.Repeat("x", maxHold-10)}

func drawOutput(t *rapid.T) []byte {
	return randomOutput(rapid.Uint64().Draw(t, "seed"))
}

// randomOutput returns up to 40 units, some of them control sequences with parameters at random.
func randomOutput(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(from string, n int) []byte {
		picked := make([]byte, n)
		for i := range picked {
			picked[i] = from[r.IntN(len(from))]
		}
		return picked
	}
	var output []byte
	for range r.IntN(40) {
		switch r.IntN(60) {
		case 0:
			output = append(output, long[r.IntN(len(long))]...)
		case 1, 2, 3, 4, 5, 6:
			output = fmt.Appendf(output, "\x1b[%s%s", pick("0123458;;:", r.IntN(12)), pick("mmmmhl", 1))
		case 7, 8, 9:
			output = fmt.Appendf(output, "\x1b[%s8%s%s%s%sm", pick("345", 1), pick(";:", 1), pick("0225", 1), pick(";:", 1), pick("0123458;;;:::", r.IntN(12)))
		case 10:
			output = append(output, pick("\x00\x1b\x80\x9b\xc2\xe2\xff", r.IntN(4))...)
		default:
			output = append(output, units[r.IntN(len(units))]...)
		}
	}
	return output
}

func drawEnds(t *rapid.T, n int) []int {
	ends := rapid.SliceOfN(rapid.IntRange(0, n), 0, 12).Draw(t, "ends")
	return ascending(ends)
}

func ascending(ends []int) []int {
	for i := 1; i < len(ends); i++ {
		ends[i] = max(ends[i], ends[i-1])
	}
	return ends
}

func TestScanDoesNotDependOnSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		output := drawOutput(t)
		whole := scanPieces(t, output, nil)
		split := scanPieces(t, output, drawEnds(t, len(output)))
		if diff := difference(split, whole); diff != "" {
			t.Fatalf("split: %s", diff)
		}
		checkRescan(t, whole)
	})
}

// checkNextBoundary compares NextBoundary with what Scan takes of the output up to each offset.
func checkNextBoundary(t *testing.T, output string, target int) {
	taken := func(n int) int {
		var s Scanner
		return s.Scan([]byte(output[:n]), 0, nil)
	}
	between := func(at int) bool {
		for n := at; n <= min(at+2, len(output)); n++ { // the character that comes next may be what ends a sequence
			if taken(n) == at {
				return true
			}
		}
		return false
	}
	var start Scanner
	state, at := start.NextBoundary([]byte(output), 0, int64(target))
	want := min(target, len(output))
	for want < len(output) && want < target+200 && !between(want) {
		want++
	}
	if int(at) != want && want < target+200 {
		t.Fatalf("the next boundary from %d on is %d, want %d of %d", target, at, want, len(output))
	}
	var s Scanner
	if n := s.Scan([]byte(output[:at]), 0, nil); n == int(at) && s != state {
		t.Fatalf("state %+v at %d, want %+v", state, at, s)
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte(strings.Join(units, "")), uint16(1), uint16(100))
	for _, unit := range units {
		f.Add([]byte("a"+unit+"b"), uint16(2), uint16(3))
	}
	for _, stretch := range long {
		f.Add([]byte("\x1b]10;"+stretch+"\a"), uint16(5000), uint16(1))
		f.Add([]byte("\x1b[?"+stretch+"h"), uint16(4096), uint16(9000))
		f.Add([]byte("\x1b]633;E;"+stretch+"\x1b\\x"), uint16(4096), uint16(4097))
	}
	f.Fuzz(func(t *testing.T, output []byte, first, second uint16) {
		whole := scanPieces(t, output, nil)
		ends := ascending([]int{min(int(first), len(output)), min(int(second), len(output))})
		if diff := difference(scanPieces(t, output, ends), whole); diff != "" {
			t.Fatalf("split at %v: %s", ends, diff)
		}
		checkRescan(t, whole)
		var again Scanner
		target := int64(first)
		if _, at := again.SaneBoundary([]byte(whole.output), 0, target); at > int64(len(output)) || at < min(target, int64(len(output)-whole.rest)) {
			t.Fatalf("boundary %d for target %d in %d bytes", at, target, len(output))
		}
		checkNextBoundary(t, whole.output, int(first))
		if preamble := whole.state.Preamble(24); len(preamble) > 0 {
			var fresh Scanner
			var found Findings
			fresh.Scan(preamble, 0, &found)
			if len(found.Queries) > 0 {
				t.Fatalf("a query is in the preamble %q", preamble)
			}
		}
	})
}
