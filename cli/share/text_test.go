package share

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// whole is the text of p, taken byte by byte.
func whole(p []byte) string {
	var text strings.Builder
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		text.WriteRune(r)
		p = p[n:]
	}
	return text.String()
}

func TestDecoder(t *testing.T) {
	for in, want := range map[string]string{
		"":                  "",
		"ls\r\n":            "ls\r\n",
		"größe 漢 🎉":         "größe 漢 🎉",
		"a\xffb":            "a\uFFFDb",
		"\xff\xfe":          "\uFFFD\uFFFD",
		"\xe6\xbc":          "\uFFFD\uFFFD",
		"\xe6\xbcx":         "\uFFFD\uFFFDx",
		"\xf0\x9f\x8e":      "\uFFFD\uFFFD\uFFFD",
		"\xed\xa0\x80":      "\uFFFD\uFFFD\uFFFD", // half of a UTF-16 pair
		"\xc0\xaf":          "\uFFFD\uFFFD",
		"\x9b31m":           "\uFFFD31m",
		"\x80\x80\x80\x80x": "\uFFFD\uFFFD\uFFFD\uFFFDx",
	} {
		for at := range len(in) + 1 {
			var d decoder
			got := string(d.text([]byte(in[:at])))
			got += string(d.text([]byte(in[at:])))
			got += string(d.end())
			if got != want {
				t.Errorf("%q split at %d: got %q, want %q", in, at, got, want)
			}
		}
	}
}

// However the output is split, its text is the same, is valid, and is never held back for more than a character.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("a漢\xff\xf0\x9f\x8e\x89"), uint16(3))
	f.Fuzz(func(t *testing.T, p []byte, step uint16) {
		var d decoder
		var got []byte
		for rest := p; len(rest) > 0; {
			n := min(int(step%7)+1, len(rest))
			text := d.text(bytes.Clone(rest[:n]))
			if !utf8.Valid(text) || len(d.rest) >= utf8.UTFMax {
				t.Fatalf("%q, and %q held back", text, d.rest)
			}
			got = append(got, text...)
			rest = rest[n:]
		}
		got = append(got, d.end()...)
		if want := whole(p); string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
