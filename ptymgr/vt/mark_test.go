package vt

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// String shows what a mark says, and where, for comparisons.
func (m Mark) String() string {
	s := fmt.Sprintf("%d-%d %c", m.From, m.To, m.Kind)
	for _, value := range []string{m.Line, m.Cwd, m.Nonce} {
		s += "|" + value
	}
	if m.Code != nil {
		s += "|" + strconv.Itoa(*m.Code)
	}
	return s
}

func marksIn(output string) []Mark {
	var s Scanner
	var found Findings
	s.Scan([]byte(output), 0, &found)
	return found.Marks
}

// Each mark is what it is with every end, wherever it is split.
func TestScanFindsMarks(t *testing.T) {
	for body, want := range map[string]string{
		"633;A":                               "A|||",
		"633;A;nonce":                         "A|||nonce",
		"633;B;nonce;more":                    "B|||nonce",
		"633;C":                               "C|||",
		"0633;C;n":                            "C|||n",
		"633;D":                               "D|||",
		"633;D;0":                             "D||||0",
		"633;D;130;n":                         "D|||n|130",
		"633;D;;n":                            "D|||n",
		"633;D;-1":                            "D||||-1",
		"633;D;1x;n":                          "D|||n",
		"633;D;99999999999;n":                 "D|||n",
		"633;E;ls -l":                         "E|ls -l||",
		"633;E;ls -l;n":                       "E|ls -l||n",
		"633;E;;n":                            "E|||n",
		`633;E;a\x3b b\x0Ac\x09d\\x3b;n`:      "E|a; b\nc\td\\x3b||n",
		`633;E;\x1b[31m\x00\x9b\x7f\xc3\xa9`:  "E|[31m\uFFFDé||",
		`633;E;\xc2\x9d\xff\q\x\x4\xzz\`:      "E|\uFFFD" + `\q\x\x4\xzz\||`,
		"633;E;é日👩;n":                         "E|é日👩||n",
		"633;E;a\nb\x00c\xffd;n":              "E|abcd||n", // as xterm.js reads it
		"633;P;Cwd=/tmp":                      "P||/tmp|",
		"633;P;Cwd=/tmp/../a b;n":             "P||/a b|n",
		`633;P;Cwd=/a\x3bb\\\x0a;n`:           "P||/a;b\\\n|n",
		"633;P;Cwd=relative;n":                "P|||n",
		`633;P;Cwd=/\xff;n`:                   "P|||n",
		`633;P;Cwd=/\x00;n`:                   "P|||n",
		"633;P;Cwd=;n":                        "P|||n",
		"633;P;IsWindows=False;n":             "P|||n",
		"633;P":                               "P|||",
		"133;A":                               "A|||",
		"133;A;cl=m;aid=1":                    "A|||",
		"133;B":                               "B|||",
		"133;C":                               "C|||",
		"133;C;x=y;cmdline_url=echo%20%3b%0A": "C|echo ;\n||",
		"133;C;cmdline_url=%zz":               "C|||",
		"133;D;1;aid=2":                       "D||||1",
		"133;D;aid=2":                         "D|||",
		"7;file:///a%20b":                     "7||/a b|",
		"7;":                                  "7|||",
		"7":                                   "7|||",
	} {
		for _, start := range []string{"\x1b]", "\u009d"} {
			for _, end := range []string{"\a", "\x1b\\", "\u009c"} {
				sequence := start + body + end
				want := fmt.Sprintf("[1-%d %s]", 1+len(sequence), want)
				output := []byte("a" + sequence + "b")
				for at := range output {
					if got := scanPieces(t, output, []int{at}); fmt.Sprint(got.marks) != want {
						t.Fatalf("%q split at %d is %q, want %q", sequence, at, got.marks, want)
					}
				}
			}
		}
	}
}

func TestScanFindsNoOtherMarks(t *testing.T) {
	for _, output := range []string{
		"\x1b]633\a", "\x1b]633;\a", "\x1b]633;a\a", "\x1b]633;AB\a", "\x1b]633; A\a", "\x1b]633;F\a", "\x1b]633;G;n\a", "\x1b]633;CommandExecuted\a",
		"\x1b]133\a", "\x1b]133;E;ls\a", "\x1b]133;P;k=i\a", "\x1b]133;N\a", "\x1b]1337;A\a", "\x1b]63;A\a", "\x1b]2;633;A\a", "633;A\a", "\x1bP633;A\x1b\\",
		"\x1b]633;C\x18", "\x1b]633;C\x1a", "\x1b]633;C", "\x1b]633;C\x1b",
		"\x1b]633;C;" + strings.Repeat("x", 2*maxHold) + "\a", "\x1b]633;E;" + strings.Repeat("\\x3b", maxHold) + ";n\a",
		"\x1b]633;D;" + strings.Repeat("0", maxHold) + "\a", "\u009d7;file:///" + strings.Repeat("x", 1<<20) + "\u009c",
	} {
		for _, at := range []int{0, 1, 2, 5, maxHold, maxHold + 1} {
			if got := scanPieces(t, []byte(output+"\x1b[m"), []int{min(at, len(output))}); len(got.marks) != 0 {
				t.Errorf("%.40q split at %d has the marks %q", output, at, got.marks)
			}
		}
	}
}

// A mark that ends with the first byte after those that are waited for still counts; longer ones do not, wherever they
// are split.
func TestMarksAreAsLongAsWhatIsHeld(t *testing.T) {
	for n := maxHold - 30; n < maxHold+5; n++ {
		output := "\x1b]633;E;" + strings.Repeat("x", n) + ";nonce\a"
		whole := scanPieces(t, []byte(output), nil)
		if got := len(whole.marks) == 1; got != (len(output) <= maxHold+1) {
			t.Fatalf("a sequence of %d bytes has %d marks", len(output), len(whole.marks))
		}
		for at := 0; at <= len(output); at += 31 {
			if diff := difference(scanPieces(t, []byte(output), []int{at}), whole); diff != "" {
				t.Fatalf("%d bytes, split at %d: %.300s", len(output), at, diff)
			}
		}
	}
}

func TestMarksAreNotFoundAgain(t *testing.T) {
	var s Scanner
	found := Findings{}
	p := []byte("\x1b]633;A\a")
	s.Scan(p, 0, &found)
	s.Scan([]byte("text"), int64(len(p)), &found)
	if len(found.Marks) != 0 {
		t.Fatalf("marks of the scan before: %v", found.Marks)
	}
}
