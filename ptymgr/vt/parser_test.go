package vt

import (
	"strings"
	"testing"
)

// A shift out tells where a sequence ended: it takes effect in text and inside of ESC and CSI sequences, but in no
// string.
func TestParserKnowsWhereSequencesEnd(t *testing.T) {
	for _, test := range []struct {
		output  string
		shifted bool
	}{
		{"\x0e", true},
		{"\x1b]0;t\x0e\a", false}, {"\x1bPq\x0e\x1b\\", false}, {"\x1bP\x0eq\x1b\\", false}, {"\x1b_\x0e\x1b\\", false}, {"\x1b^\x0e\xc2\x9c", false}, {"\x1bX\x0e\x18", false},
		{"\x1b[\x0em", true}, {"\x1b\x0e[m", true}, {"\x1b(\x0eB", true}, {"\x1b[1\x0e\x18", true}, {"\x1b[1?\x0em", true}, {"\x1b[ \x0eq", true},
		{"\x1b]0;t\a\x0e", true}, {"\x1b]0;t\x1b\\\x0e", true}, {"\x1b]0;t\xc2\x9c\x0e", true}, {"\x1b]0;t\x18\x0e", true}, {"\x1b]0;t\x1a\x0e", true}, {"\x1b]0;t\xc2\x84\x0e", true},
		{"\x1b]0;t\xc2\x9b\x0em", true}, {"\x1b]0;t\xc2\x9d0;\x0e\a", false}, {"\x1b]0;t\x1b]0;\x0e\a", false}, {"\x1b]0;\u00a0\x0e\a", false}, {"\x1b]0;t\x1b\x0e\\", true},
		{"\x1bP\a\x0e\x1b\\", false}, {"\x1bPé\x0e", true}, {"\x1bPqé\x0e\x1b\\", false}, {"\x1bP1?é\x0e\x1b\\", false}, {"\x1bP 1é\x0e\x1b\\", false},
		{"\x1b_\a\x0e\x1b\\", false}, {"\x1b_é\x0e", true}, {"\x1b_\u00a0\x0e", true}, {"\x1b_\xff\x0e\x1b\\", false}, {"\x1b_\xe2\x0e\x1b\\", false}, {"\x1b_\ufeff\x0e\x1b\\", false},
		{"\xc2\x90q\x0e\x1b\\", false}, {"\xc2\x98\x0e\x1b\\", false}, {"\xc2\x9e\x0e\x1b\\", false}, {"\xc2\x9f\x0e\x1b\\", false}, {"\xc2\x84\x0e", true}, {"\x9d0;\x0e", true},
		{"\x1b_" + strings.Repeat("x", maxHold-3) + "€\x0e", true}, // a character across the limit of what is held
		{"\x1b_" + strings.Repeat("x", 2*maxHold) + "\x0e\x1b\\", false},
		{"\x1bPq" + strings.Repeat("x", 2*maxHold) + "é\x0e\x1b\\", false},
	} {
		s, _, rest := scanAll(t, test.output)
		if shifted := s.gl == 1; shifted != test.shifted || rest != "" {
			t.Errorf("after %.40q: shifted out is %v, rest %q", test.output, shifted, rest)
		}
	}
}

// What ends a control sequence early leaves its final byte to be text.
func TestParserEndsControlSequencesEarly(t *testing.T) {
	for _, test := range []struct {
		output string
		query  bool
	}{
		{"\x1b[5n", true}, {"\x1b[\r\n5n", true}, {"\x1b[\x7f5n", true}, {"\x1b[\xff5n", true}, {"\x1b[\ufeff5n", true}, {"\x1b[\xe2\x825n", true}, {"\x1b\xff[5n", true},
		{"\x1b[é5n", false}, {"\x1b[\u00a05n", false}, {"\x1b[\ufffd5n", false}, {"\x1b[\x185n", false}, {"\x1b[\x1a5n", false}, {"\x1b[\xc2\x9c5n", false}, {"\x1b[\xc2\x845n", false},
		{"\x1bé[5n", false}, {"\x1b[1?5n", false}, {"\x1b[ 5n", false}, {"\x1b[1?é5n", false}, {"\x1b[\x1b[5n", true}, {"\x1b[\xc2\x9b5n", true}, {"\x1b[1\x1b[5n", true},
	} {
		if _, queries, rest := scanAll(t, test.output); (len(queries) == 1) != test.query || rest != "" {
			t.Errorf("in %q are the queries %q, rest %q", test.output, queries, rest)
		}
	}
}
