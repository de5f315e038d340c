package vt

import (
	"strings"
	"testing"
)

// hiddenIn returns what of the output is for terminals alone, however it is split.
func hiddenIn(t *testing.T, output string) string {
	t.Helper()
	whole := scanPieces(t, []byte(output), nil)
	for at := range len(output) {
		if diff := difference(scanPieces(t, []byte(output), []int{at}), whole); diff != "" {
			t.Fatalf("%.40q split at %d: %s", output, at, diff)
		}
	}
	var hidden strings.Builder
	for i, mark := range whole.hidden {
		if mark == '#' {
			hidden.WriteByte(output[i])
		}
	}
	return hidden.String()
}

func TestScanFindsShellIntegration(t *testing.T) {
	for _, sequence := range []string{
		"\x1b]633;A\a", "\x1b]633;A\x1b\\", "\x1b]633;A\u009c", "\u009d633;A\a", "\u009d633;A\x1b\\", "\u009d633;A\u009c",
		"\x1b]633;E;echo \\x3b é日👩;nonce\a", "\x1b]633;D;130\a", "\x1b]633;P;Cwd=/tmp\x1b\\", "\x1b]0633;A\a", "\x1b]633\a",
		"\x1b]133;A;cl=m;aid=1\a", "\x1b]133;C\x1b\\", "\x1b]7;file://host/tmp\a", "\x1b]7;file:///a%20b\x1b\\", "\x1b]7;\a",
		"\x1b\x00]6\x0033;A\a", "\x1b]6\xff33;A\xff\a", // as xterm.js reads them
		"\x1b]633;A\x18", "\x1b]633;A\x1a", // given up, and yet nothing to read
	} {
		if got := hiddenIn(t, "a"+sequence+"b"); got != sequence {
			t.Errorf("of a%qb is %q hidden", sequence, got)
		}
	}
	for output, want := range map[string]string{
		"\x1b]633;A\x1b[1mb":           "\x1b]633;A", // ESC ends it
		"\x1b]133;A\u009b1mb":          "\x1b]133;A", // so does any C1 control
		"\x1b]633;A\a\x1b]633;B\ab":    "\x1b]633;A\a\x1b]633;B\a",
		"a\x1b[6n\x1b]7;x\ab\x1b[?1nc": "\x1b]7;x\a", // queries are told apart
	} {
		if got := hiddenIn(t, output); got != want {
			t.Errorf("of %q is %q hidden, want %q", output, got, want)
		}
	}
}

func TestScanHidesNothingElse(t *testing.T) {
	for _, output := range []string{
		"633;A", "\x1b[633m", "\x1b]0;633;A\a", "\x1b]2;title\a", "\x1b]8;;http://x/\a", "\x1b]10;#123456\a", "\x1b]52;c;QUJD\a", "\x1b]1337;CurrentDir=/\a",
		"\x1b]6333;A\a", "\x1b]63;A\a", "\x1b]77;x\a", "\x1b]x633;A\a", "\x1b] 633;A\a", "\x1b]-7;\a", "\x1b];633;A\a", "\x1bP633;A\x1b\\", "\x1b_7;x\x1b\\", "\x1b]\a", "\x1b]",
		"\x1b]6", "\x1b]63", "\x1b[6n", "\x1b]10;?\a", "\x9d633;A\a",
	} {
		if got := hiddenIn(t, "a"+output+"\x1b[mb"); got != "" {
			t.Errorf("of %q is %q hidden", output, got)
		}
	}
}

// What nothing ends is hidden to the end, once it is known what it is.
func TestUnterminatedShellIntegrationIsHidden(t *testing.T) {
	for _, sequence := range []string{
		"\x1b]633", "\x1b]633;", "\x1b]633;E;half a comm", "\x1b]7;file:///\x1b", "\u009d133;A", "\x1b]633;E;\xe2\x80",
		"\x1b]633;E;" + strings.Repeat("long ", 1000), "\x1b]633;E;" + strings.Repeat("x", 5000) + "\x1b", "\x1b]633;E;" + strings.Repeat("é", 4000) + "\xc3",
	} {
		if got := hiddenInPieces(t, "a"+sequence); got != sequence {
			t.Errorf("of a%.30q… are %d bytes hidden, want %d", sequence, len(got), len(sequence))
		}
	}
	if got := hiddenIn(t, "a\x1b]2;title"); got != "" {
		t.Errorf("of an unfinished title is %q hidden", got)
	}
}

// A sequence that is longer than what is held is let go piece by piece, and hidden to its end.
func TestOverlongSequencesAreHidden(t *testing.T) {
	for _, start := range []string{"\x1b]633;E;", "\u009d7;", "\x1b]133;"} {
		for _, n := range []int{maxHold - 20, maxHold - len(start) - 2, maxHold - len(start) - 1, maxHold - len(start), maxHold + 1, 3 * maxHold} {
			for _, end := range []string{"\a", "\x1b\\", "\u009c", "\x18"} {
				sequence := start + strings.Repeat("x", n) + end
				if got := hiddenInPieces(t, "a"+sequence+"b\x1b[1mc"); got != sequence {
					t.Errorf("of %q, %d × x, %q are %d bytes hidden, want %d", start, n, end, len(got), len(sequence))
				}
			}
		}
	}
	question := "\x1b]10;" + strings.Repeat("x", 2*maxHold) + "?\a"
	if got := hiddenInPieces(t, "a"+question+"b"); got != question {
		t.Errorf("of a question that was overwritten are %d bytes hidden, want %d", len(got), len(question))
	}
	title := "a\x1b]2;" + strings.Repeat("x", 2*maxHold) + "\ab"
	if got := hiddenInPieces(t, title); got != "" {
		t.Errorf("of a long title are %d bytes hidden", len(got))
	}
}

// hiddenInPieces is hiddenIn for long output, split around the places that matter.
func hiddenInPieces(t *testing.T, output string) string {
	t.Helper()
	whole := scanPieces(t, []byte(output), nil)
	for _, near := range []int{0, maxHold, 2 * maxHold, len(output) - 5} {
		for at := max(near-3, 0); at <= min(near+12, len(output)); at++ {
			if diff := difference(scanPieces(t, []byte(output), []int{at}), whole); diff != "" {
				t.Fatalf("split at %d: %s", at, diff[:min(len(diff), 200)])
			}
		}
	}
	first, last := strings.Index(whole.hidden, "#"), strings.LastIndex(whole.hidden, "#")
	if first < 0 {
		return ""
	}
	if strings.Contains(whole.hidden[first:last], " ") {
		t.Fatal("what is hidden has a gap")
	}
	return output[first : last+1]
}

// The ESC that ends a string may be the last byte that is held.
func TestStringEndsAtTheLastByteHeld(t *testing.T) {
	for _, start := range []string{"\x1b]633;E;", "\x1b]2;", "\x1b]10;", "\x1bPq"} {
		for n := maxHold - len(start) - 3; n < maxHold-len(start)+2; n++ {
			output := start + strings.Repeat("x", n) + "\x1b\\\x1b[1mafter"
			got := scanPieces(t, []byte(output), nil)
			if got.state.style.flags&bold == 0 || !strings.HasSuffix(got.output, "after") || got.state.long != ground {
				t.Errorf("%q, %d × x: what comes after was taken for a part of it", start, n)
			}
		}
	}
}

func TestForgetLeavesNoTextBehind(t *testing.T) {
	var s Scanner
	s.Scan([]byte("\x1b]2;secret title\a\x1b]7;file:///secret\a\x1b]8;;http://secret/\a\x1b[1;31m"), 0, nil)
	s.Forget()
	if p := string(s.Preamble(24)); strings.Contains(p, "secret") || !strings.Contains(p, "31") {
		t.Fatalf("preamble %q", p)
	}
	if s.Title() != "" {
		t.Fatalf("title %q", s.Title())
	}
}
