package vt

import "testing"

func TestScanFindsQueries(t *testing.T) {
	for _, test := range []struct {
		output string
		kind   QueryKind
	}{
		{"\x1b[c", QueryDA1}, {"\x1b[0c", QueryDA1}, {"\x1b[0;1c", QueryDA1}, {"\xc2\x9bc", QueryDA1}, {"\x1b[1c", QueryOther},
		{"\x1b[>c", QueryDA2}, {"\x1b[>0c", QueryDA2}, {"\x1b[>1c", QueryOther}, {"\x1b[=c", QueryOther},
		{"\x1b[5n", QueryDSR5}, {"\x1b[6n", QueryOther}, {"\x1b[?6n", QueryOther}, {"\x1b[?15n", QueryOther}, {"\x1b[?996n", QueryOther},
		{"\x1b[4$p", QueryOther}, {"\x1b[?2026$p", QueryOther}, {"\x1b[>q", QueryOther}, {"\x1b[>0q", QueryOther}, {"\x1b[?u", QueryOther},
		{"\x1b[14t", QueryOther}, {"\x1b[14;2t", QueryOther}, {"\x1b[16t", QueryOther}, {"\x1b[18t", QueryOther}, {"\x1b[21t", QueryOther},
		{"\x1b[x", QueryOther}, {"\x1b[1;1;1;1;1;1*y", QueryOther}, {"\x1b[?2;1S", QueryOther}, {"\x1b[?4m", QueryOther},
		{"\x1bZ", QueryOther}, {"\xc2\x9a", QueryOther}, {"\x1bP$qm\x1b\\", QueryOther}, {"\x1bP+q544e\x1b\\", QueryOther}, {"\xc2\x90$qm\xc2\x9c", QueryOther},
		{"\x1b]4;1;?\a", QueryOther}, {"\x1b]10;?\x1b\\", QueryOther}, {"\x1b]17;?\a", QueryOther}, {"\x1b]52;c;?\a", QueryOther}, {"\x1b]21;foreground=?\a", QueryOther},
		{"\x1b[?1004h", QueryFocus}, {"\x1b[?1000;1004h", QueryFocus},
	} {
		_, queries, rest := scanAllKinds("a" + test.output + "b")
		if len(queries) != 1 || rest != 0 || queries[0] != (Query{1, 1 + len(test.output), test.kind}) {
			t.Errorf("in a%qb are the queries %v, want one of kind %d", test.output, queries, test.kind)
		}
	}
}

func TestScanLeavesTheRestAlone(t *testing.T) {
	for _, output := range []string{
		"c", "[c", "\x1b[m", "\x1b[H", "\x1b[0 q", "\x1b[22;2t", "\x1b[8;24;80t", "\x1b[u", "\x1b[>1u", "\x1b[>4m", "\x1b[?25h", "\x1b[?1004l", "\x1b[!p", "\x1b[2 p",
		"\x1b]0;what?\a", "\x1b]7;file:///?\a", "\x1b]8;;http://x/?a=?\a", "\x1b]11;#123456\a", "\x1b]52;c;QUJD\a", "\x1b]104\a", "\x1b]1337;File=:?\a", "\x1b]133;A;?\a",
		"\x1bPq#0\x1b\\", "\x1b_G?\x1b\\", "\x1b^?\x1b\\", "\x1bP$qm\x18", "\x1b]10;?\x18", "\x1b[c"[:2] + "\x18c", "\x1b[1?c", "\x1b]10;?\xc2\x84", "\x1b]x10;?\a",
		"\x18\x00\x00", "\x1b\\", "\x1b(0", "\x1b[é5n",
	} {
		if _, queries, _ := scanAllKinds(output); len(queries) > 0 {
			t.Errorf("in %q are the queries %v, want none", output, queries)
		}
	}
}

func scanAllKinds(output string) (Scanner, []Query, int) {
	var s Scanner
	var found Findings
	n := s.Scan([]byte(output), 0, &found)
	return s, found.Queries, len(output) - n
}

// The end of a string query is what ends it for the terminal, no more and no less.
func TestQueryEndsWithItsTerminator(t *testing.T) {
	for _, test := range []struct{ output, want string }{
		{"\x1b]10;?\x1b\\x", "\x1b]10;?\x1b\\"},
		{"\x1b]10;?\ax", "\x1b]10;?\a"},
		{"\x1b]10;?\x1b[1mx", "\x1b]10;?"},
		{"\x1bP$qm\x1b\x1b[1m", "\x1bP$qm"},
		{"\x1b[\x0ec!", "\x1b[\x0ec"},
	} {
		if _, got, _ := scanAll(t, test.output); len(got) != 1 || got[0] != test.want {
			t.Errorf("the query in %q is %q, want %q", test.output, got, test.want)
		}
	}
}
