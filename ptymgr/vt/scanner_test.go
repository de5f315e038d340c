package vt

import (
	"bytes"
	"testing"
)

// scanAll feeds all of p at once and returns the scanner, the queries' text, and what is left over.
func scanAll(t *testing.T, p string) (Scanner, []string, string) {
	t.Helper()
	var s Scanner
	var found Findings
	b := []byte(p)
	n := s.Scan(b, 0, &found)
	var queries []string
	for _, q := range found.Queries {
		queries = append(queries, p[q.From:q.To])
	}
	return s, queries, string(b[n:])
}

func TestScanHoldsUnfinished(t *testing.T) {
	for _, rest := range []string{
		"\x1b", "\x1b[", "\x1b[31", "\x1b]0;title", "\x1b]0;title\x1b", "\x1b(", "\x1bP$qm", "\x1bP$qm\x1b", "\x1b_x", "\xc2", "\xc2\x9b1",
		"\xe2", "\xe2\x82", "\xf0\x9f", "\xf0\x9f\x98", "\x1b[3\n1", "\x1b]0;\xe2\x82", "\x1b[31\xe2",
	} {
		for _, before := range []string{"", "text", "é\x1b[m"} {
			if _, _, got := scanAll(t, before+rest); got != rest {
				t.Errorf("of %q the rest is %q, want %q", before+rest, got, rest)
			}
		}
	}
}

func TestScanTakesWholeUnits(t *testing.T) {
	for _, p := range []string{
		"plain", "é€😀", "\x1b[31m", "\x1b]0;t\a", "\x1b]0;t\x1b\\", "\x1b]0;t\x1b[m", "\x1b]0;t\xc2\x9c", "\x1bP$qm\x1b\\", "\x1b[\x18", "\xc2\x9bm",
		"\xc2\x84", "\xff\xfe", "\xe2\x28", "\x80\x80\x80", "\xf5\x80\x80", "\xe0\x80", "\xed\xa0", "\x1b\x1b[m", "\x1b[1\xc2\x9b1m",
	} {
		if _, _, rest := scanAll(t, p); rest != "" {
			t.Errorf("of %q the rest is %q, want none", p, rest)
		}
	}
}

func TestScanOverwritesHostileSequence(t *testing.T) {
	for _, test := range []struct{ name, start, end string }{
		{"CSI", "\x1b[", "c"},
		{"OSC 10", "\x1b]10;?;", "\a"},
		{"OSC 10 ended by ST", "\x1b]10;?;", "\x1b\\"},
		{"DECRQSS", "\x1bP$q", "\x1b\\"},
		{"clipboard", "\x1b]52;", ";?\a"},
	} {
		p := []byte(test.start + string(bytes.Repeat([]byte{'1'}, 3*maxHold)) + test.end)
		hostile := len(p)
		p = append(p, "after"...)
		var s Scanner
		var found Findings
		if n := s.Scan(p, 0, &found); n != len(p) {
			t.Errorf("%s: took %d of %d", test.name, n, len(p))
		}
		want := append(append([]byte{can}, make([]byte, hostile-1)...), "after"...)
		if !bytes.Equal(p, want) {
			t.Errorf("%s: %q remains", test.name, bytes.Trim(p, "\x00"))
		}
		if len(found.Queries) > 0 || s.long != ground {
			t.Errorf("%s: queries %v, state %d", test.name, found.Queries, s.long)
		}
	}
}

func TestScanReleasesLongString(t *testing.T) {
	for _, start := range []string{"\x1b]1337;File=:", "\x1b]52;c;", "\x1bPq", "\x1b_G", "\x1b]2;"} {
		p := []byte(start + string(bytes.Repeat([]byte{'A'}, 2*maxHold)))
		before := bytes.Clone(p)
		var s Scanner
		var found Findings
		n := s.Scan(p, 0, &found)
		if n != len(p) || !bytes.Equal(p, before) || s.long == ground {
			t.Errorf("%q: took %d of %d, in state %d", start, n, len(p), s.long)
		}
		tail := []byte("AAA\x1b\\\x1b[1m\x1b[c")
		if n := s.Scan(tail, int64(len(p)), &found); n != len(tail) || len(found.Queries) != 1 || s.style.flags != bold {
			t.Errorf("%q: after it took %d, queries %v, style %v", start, n, found.Queries, s.style)
		}
	}
}
