package ptymgr

import "testing"

func TestScanFindsQueries(t *testing.T) {
	for _, test := range []struct {
		output string
		kind   queryKind
	}{
		{"\x1b[c", queryDA1}, {"\x1b[0c", queryDA1}, {"\x1b[0;1c", queryDA1}, {"\xc2\x9bc", queryDA1}, {"\x1b[1c", queryOther},
		{"\x1b[>c", queryDA2}, {"\x1b[>0c", queryDA2}, {"\x1b[>1c", queryOther}, {"\x1b[=c", queryOther},
		{"\x1b[5n", queryDSR5}, {"\x1b[6n", queryOther}, {"\x1b[?6n", queryOther}, {"\x1b[?15n", queryOther}, {"\x1b[?996n", queryOther},
		{"\x1b[4$p", queryOther}, {"\x1b[?2026$p", queryOther}, {"\x1b[>q", queryOther}, {"\x1b[>0q", queryOther}, {"\x1b[?u", queryOther},
		{"\x1b[14t", queryOther}, {"\x1b[14;2t", queryOther}, {"\x1b[16t", queryOther}, {"\x1b[18t", queryOther}, {"\x1b[21t", queryOther},
		{"\x1b[x", queryOther}, {"\x1b[1;1;1;1;1;1*y", queryOther}, {"\x1b[?2;1S", queryOther}, {"\x1b[?4m", queryOther},
		{"\x1bZ", queryOther}, {"\xc2\x9a", queryOther}, {"\x1bP$qm\x1b\\", queryOther}, {"\x1bP+q544e\x1b\\", queryOther}, {"\xc2\x90$qm\xc2\x9c", queryOther},
		{"\x1b]4;1;?\a", queryOther}, {"\x1b]10;?\x1b\\", queryOther}, {"\x1b]17;?\a", queryOther}, {"\x1b]52;c;?\a", queryOther}, {"\x1b]21;foreground=?\a", queryOther},
		{"\x1b[?1004h", queryFocus}, {"\x1b[?1000;1004h", queryFocus},
	} {
		_, queries, rest := scanAllKinds("a" + test.output + "b")
		if len(queries) != 1 || rest != 0 || queries[0] != (query{1, 1 + len(test.output), test.kind}) {
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

func scanAllKinds(output string) (scanner, []query, int) {
	var s scanner
	var found findings
	n := s.scan([]byte(output), 0, &found)
	return s, found.queries, len(output) - n
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
