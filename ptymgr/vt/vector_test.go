package vt

import (
	"os"
	"strings"
	"testing"
)

// vectorAfter returns the state after output.
func vectorAfter(output string) vector {
	var s Scanner
	s.Scan([]byte(output), 0, nil)
	return s.vector
}

func TestVectorTitle(t *testing.T) {
	for _, test := range []struct{ output, want string }{
		{"\x1b]0;both\a", "both"},
		{"\x1b]2;window\x1b\\", "window"},
		{"\x1b]1;icon\a", ""},
		{"\x1b]2;é€😀\xc2\x9c", "é€😀"},
		{"\x1b]2;a;b\a", "a;b"},
		{"\x1b]2;a\x01\x7f\xffb\a", "ab"},
		{"\x1b]2;old\a\x1b]2;aborted\x18", "old"},
		{"\x1b]2;old\a\x1b]2;aborted\xc2\x84", "old"},
		{"\x1b]2;ended by another\x1b[m", "ended by another"},
		{"\x1b]2;gone\a\x1b]2;\a", ""},
		{"\x1b]2;kept\a\x1bc", "kept"},
		{"\x1b]2;" + strings.Repeat("x", 1500) + "\a", strings.Repeat("x", maxTitle)},
		{"\x1b]2;" + strings.Repeat("€", 500) + "\a", strings.Repeat("€", maxTitle/3)},
		{"\x1b]2;old\a\x1b]2;" + strings.Repeat("x", 2*maxHold) + "\a", "old"},
	} {
		if got := vectorAfter(test.output).title; got != test.want {
			t.Errorf("after %.40q the title is %q, want %q", test.output, got, test.want)
		}
	}
}

func TestVectorDirectory(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ uri, want string }{
		{"file:///tmp/x", "/tmp/x"},
		{"file://localhost/tmp/x/", "/tmp/x"},
		{"file://" + host + "/tmp", "/tmp"},
		{"file:///with%20space/%C3%A9", "/with space/é"},
		{"file:///a;b", "/a;b"},
		{"file:///a/../b", "/b"},
		{"file://elsewhere.invalid/tmp", ""},
		{"file:///bad%ZZ", ""},
		{"file:///nul%00", ""},
		{"file:///no%FFutf8", ""},
		{"file:relative", ""},
		{"http:///tmp", ""},
		{"/tmp", ""},
		{"", ""},
	} {
		if got := marksIn("\x1b]7;" + test.uri + "\a"); len(got) != 1 || got[0].Kind != MarkURI || got[0].Cwd != test.want {
			t.Errorf("%q is %v, want the directory %q", test.uri, got, test.want)
		}
	}
}

func TestVectorAlternateScreenSince(t *testing.T) {
	for _, test := range []struct {
		output string
		want   int64
	}{
		{"shell", -1},
		{"0123\x1b[?1049h", 4},
		{"0123\x1b[?1;1047hmore\x1b[?1049h", 4},
		{"0123\x1b[?47h\x1b[?47l", -1},
		{"0123\x1b[?47h\x1b[?1049l\x1b[?1049h", 18},
		{"0123\x1b[?1049h\x1bc", -1},
		{"0123\x1b[?1049h\x1b[!p", 4},
	} {
		v := vectorAfter(test.output)
		if got := v.AltSince(); got != test.want {
			t.Errorf("after %q the alternate screen is on since %d, want %d", test.output, got, test.want)
		}
	}
}

func TestVectorModes(t *testing.T) {
	for _, test := range []struct {
		output string
		want   modeSet
	}{
		{"\x1b[?1;2004h", modeCursorKeys | modePaste},
		{"\x1b[?1h\x1b[?1l", 0},
		{"\x1b[?7l\x1b[?25l", modeNoWrap | modeHiddenCursor},
		{"\x1b[?25l\x1b[?25h", 0},
		{"\x1b[4;20h", modeInsert | modeNewline},
		{"\x1b[?4h\x1b[25l", 0},
		{"\x1b=", modeKeypad},
		{"\x1b[?66h\x1b>", 0},
		{"\x1b[20h\x1b[?1l\x1b[?25l\x1b[4h\x1bc", modeNewline | modeHiddenCursor},
		{"\x1b[20h\x1b[?1l\x1b[?25l\x1b[4h\x1b[!p", modeNewline},
		{"\x1b[?1\x18h", 0},
		{"\x1b[?1?2004h", 0},
	} {
		if got := vectorAfter(test.output).modes; got != test.want {
			t.Errorf("after %q the modes are %b, want %b", test.output, got, test.want)
		}
	}
}

func TestResizeEndsScrollRegions(t *testing.T) {
	for _, test := range []struct {
		at   int64
		want string
	}{
		{100, ""}, // before both
		{107, "main"},
		{200, "main alternate"},
	} {
		var s Scanner
		s.Scan([]byte("\x1b[2;10r\x1b[?1049h\x1b[3;9r\x1b7\x1b[1m"), 100, nil)
		s.Resized(test.at)
		var ended []string
		if s.main.region == (region{}) {
			ended = append(ended, "main")
		}
		if s.alternate.region == (region{}) {
			ended = append(ended, "alternate")
		}
		if got := strings.Join(ended, " "); got != test.want || s.style.flags != bold {
			t.Errorf("a resize at %d ends the regions of %q, want %q", test.at, got, test.want)
		}
	}
}
