package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// Every byte that is special, at every place in a word and beyond.
func TestAppendStringAtEveryPlace(t *testing.T) {
	for b := range 0x80 {
		for place := range 20 {
			text := []byte(strings.Repeat("é", 12))
			text = append(text[:place&^1], append([]byte{byte(b)}, text[place&^1:]...)...)
			checkString(t, text)
		}
	}
}

func TestAppendStringForms(t *testing.T) {
	got := string(AppendString([]byte("x:"), []byte("a\x1b[0m\r\n\t\"\\<>&\x7f\u2028é\x00")))
	want := `x:"a\u001b[0m\r\n\t\"\\<>&` + "\x7f\u2028é" + `\u0000"`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "plain text", "\x1b[31mred\x1b[0m\r\n", "いろは\"\\", "\x00\x1f\x20\x7f\u0080\uFFFD\U0001F600"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip("not text")
		}
		checkString(t, []byte(text))
	})
}

// checkString holds AppendString against the library: it reads as what was written.
func checkString(t *testing.T, text []byte) {
	t.Helper()
	written := AppendString(nil, text)
	var read string
	if err := json.Unmarshal(written, &read); err != nil {
		t.Fatalf("%v in %s", err, written)
	}
	if read != string(text) {
		t.Fatalf("%q reads as %q", text, read)
	}
}

func BenchmarkAppendString(b *testing.B) {
	for _, bench := range []struct{ name, unit string }{
		{"plain", "The quick brown fox jumps over the lazy dog, again and again, all day long.\r\n"},
		{"some_escapes", "drwxr-xr-x 2 me me 4096 Nov 21 13:12 \x1b[01;34mahp-data\x1b[0m and more text behind it\r\n"},
		{"many_escapes", "\x1b[38;2;10;20;30mX\x1b[0m"},
		{"utf8", "いろはにほへとちりぬるを 散りぬるを\r\n"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			text := bytes.Repeat([]byte(bench.unit), 16<<10/len(bench.unit))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = AppendString(dst[:0], text)
			}
			if len(dst) < len(text) {
				b.Fatal(fmt.Sprintf("%d bytes of %d", len(dst), len(text)))
			}
		})
	}
}
