package vt

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSaneBoundary(t *testing.T) {
	far := strings.Repeat("x", newlineReach+100)
	for _, test := range []struct {
		name, output string
		target, want int
	}{
		{"what is before is not known", "one\ntwo\n", 0, 4},
		{"target follows a newline", "one\ntwo\n", 4, 4},
		{"next newline", "one\ntwo\n", 5, 8},
		{"no newline at all", "one two", 3, 3},
		{"no newline near", "ab" + far + "\n", 1, 1},
		{"newline inside a title", "\x1b]0;a\nb\a\nnext", 2, 9},
		{"newline inside CSI", "\x1b[3\n1mx\ny", 2, 8},
		{"inside a sequence, no newline", "ab\x1b[31mcd", 4, 9},
		{"inside a character", "a€b", 2, 5},
		{"inside an over-long string", "\x1b_" + far + "\n" + far + "\x1b\\x\ny", 5000, 2 + 2*len(far) + 1 + 4},
		{"end of the output", "one", 3, 3},
	} {
		var s Scanner
		_, got := s.SaneBoundary([]byte(test.output), 1000, 1000+int64(test.target))
		if got-1000 != int64(test.want) {
			t.Errorf("%s: %d, want %d", test.name, got-1000, test.want)
		}
	}
}

func TestLogStartIsSane(t *testing.T) {
	var s Scanner
	if _, got := s.SaneBoundary([]byte("one\ntwo\n"), 0, 0); got != 0 {
		t.Errorf("a replay of all starts at %d", got)
	}
}

func TestSaneBoundaryKnowsItsState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := scanPieces(t, drawOutput(t), nil)
		output := []byte(o.output[:len(o.output)-o.rest])
		target := rapid.IntRange(0, len(output)).Draw(t, "target")
		var start Scanner
		state, at := start.SaneBoundary(output, 0, int64(target))
		var all Scanner
		taken := all.Scan(output, 0, nil) // what ended because of the bytes after it does not end here
		if at < int64(min(target, taken)) || at > int64(len(output)) {
			t.Fatalf("boundary %d for target %d of %d", at, target, len(output))
		}
		end := state
		if n := end.Scan(output[at:], at, nil); at+int64(n) != int64(taken) || end != all {
			t.Fatalf("going on at %d of %q ends in %+v, want %+v", at, output, end, all)
		}
		if state.long != ground && at < int64(taken) {
			t.Fatalf("boundary %d is inside a sequence of %q", at, output)
		}
	})
}
