package ptymgr

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// printed is a piece of output and what programs are to read of it.
type printed struct{ output, text string }

func same(s string) printed { return printed{s, s} }

func gone(s string) printed { return printed{s, ""} }

// pieces can stand in any order.
var pieces = []printed{
	same("plain text "), same("\r\n"), same("naïve café “quotes” — "), same("日本語テキスト"), same("👩‍👩‍👧‍👦🏳️‍🌈"), same("a literal \ufffd"), same("\ufeff"),
	same("\x1b[38;5;123mcolour\x1b[0m"), same("\x1b]0;title 633;A\a"), same("\x1b]8;;http://x/\x1b\\"), same("\x1b[?1049h\x1b[?1049l"), same("\x00\x18"),
	{"\xff\xfe", "\ufffd\ufffd"}, {"\xe2\x80.", "\ufffd\ufffd."}, {"\xc3(", "\ufffd("}, {"\xf0\x9f\x91x", "\ufffd\ufffd\ufffdx"}, {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"}, {"\x80", "\ufffd"},
	gone("\x1b[6n"), gone("\x1b[c"), gone("\x1b]10;?\a"), gone("\x1b]11;?\x1b\\"), gone("\x1bP$qm\x1b\\"), gone("\u009b5n"), gone("\x1bZ"),
	gone("\x1b]633;A\a"), gone("\x1b]633;E;git log — é;nonce\x1b\\"), gone("\u009d633;C\u009c"), gone("\x1b]133;D;1\a"), gone("\x1b]7;file:///tmp\x1b\\"),
	{"\xc3\x1b]633;B\a\xa9", "\ufffd\ufffd"}, {"é\x1b[6né", "éé"}, // never joined over what is removed
}

// longPieces are longer than what the log holds back.
var longPieces = []printed{
	gone("\x1b]633;E;" + strings.Repeat("long — ", 2000) + "\a"), gone("\x1b]7;file:///" + strings.Repeat("d/", 40_000) + "\x1b\\"),
	gone("\x1b]10;" + strings.Repeat("x", 9000) + "?\a"), gone("\x1b[" + strings.Repeat("1", 5000) + "n"), same("\x1b]2;" + strings.Repeat("t", 9000) + "\a"),
}

// lastPieces stand at the end, where nothing ends them.
var lastPieces = []printed{
	gone(""), {"\xe2\x80", "\ufffd\ufffd"}, gone("\x1b]633;E;unfinis"), gone("\x1b]7;file:///\x1b"), gone("\x1b]133;" + strings.Repeat("x", 10_000)), same("\x1b]2;tit"), same("\x1b[1"),
}

// story returns at least n bytes of output and its text.
func story(seed uint64, n int) (output, text []byte) {
	r := rand.New(rand.NewPCG(seed, 2))
	take := func(p printed) { output, text = append(output, p.output...), append(text, p.text...) }
	for len(output) < n {
		if r.IntN(400) == 0 {
			take(longPieces[r.IntN(len(longPieces))])
		} else {
			take(pieces[r.IntN(len(pieces))])
		}
	}
	take(lastPieces[r.IntN(len(lastPieces))])
	return output, text
}

// textOf returns the text of the range in cuts of at most most bytes.
func (t *Terminal) textOf(tb interface{ Fatalf(string, ...any) }, from, to int64, most func() int) []byte {
	var text []byte
	for from < to {
		end := t.CutEnd(from, to, most())
		if end <= from || end > to {
			tb.Fatalf("a cut from %d to %d on the way to %d", from, end, to)
		}
		var err error
		if text, err = t.Text(text, from, end); err != nil {
			tb.Fatalf("text of [%d, %d): %v", from, end, err)
		}
		from = end
	}
	return text
}

// However the output was read and however it is cut, the text is what was printed for programs to read.
func TestTextDoesNotDependOnReadsAndCuts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		term := bench(MinLogBytes)
		output, want := story(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 200_000).Draw(rt, "bytes"))
		for fed := 0; fed < len(output); {
			n := min(rapid.IntRange(1, 60_000).Draw(rt, "feed"), len(output)-fed)
			term.feed(output[fed:fed+n], rapid.IntRange(1, 9000).Draw(rt, "piece"))
			fed += n
		}
		term.seal(Exit{})
		all := int64(len(output))
		whole, err := term.Text([]byte("before"), 0, all)
		if err != nil {
			rt.Fatal(err)
		}
		compare(rt, "whole", whole, append([]byte("before"), want...))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "cuts"), 3))
		most := rapid.SampledFrom([]int{1, 7, 300, 5000, 70_000}).Draw(rt, "most")
		compare(rt, "cut", term.textOf(rt, 0, all, func() int { return 1 + r.IntN(most) }), want)
	})
}

func compare(t interface{ Fatalf(string, ...any) }, name string, got, want []byte) {
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	t.Fatalf("%s text of %d bytes differs from the %d wanted at %d: %q, want %q", name, len(got), len(want), i,
		got[max(i-20, 0):min(i+40, len(got))], want[max(i-20, 0):min(i+40, len(want))])
}

// Each piece, split at every byte between two reads.
func TestTextOfPiecesReadInTwo(t *testing.T) {
	for _, p := range pieces {
		for at := range len(p.output) + 1 {
			term := bench(MinLogBytes)
			term.feed([]byte("a"+p.output[:at]), 1<<10)
			term.feed([]byte(p.output[at:]+"b"), 1<<10)
			_, head := term.Bounds()
			got, err := term.Text(nil, 0, head)
			if err != nil || string(got) != "a"+p.text+"b" {
				t.Fatalf("%q, read in two at %d, reads %q, %v", p.output, at, got, err)
			}
		}
	}
}

// What is held back is no text before it is known what it is.
func TestTextEndsWhereTheLogIsClean(t *testing.T) {
	term := bench(MinLogBytes)
	for _, step := range []struct{ output, text string }{
		{"$ \x1b]633", "$ "}, {";A", "$ "}, {"\x1b", "$ "}, {"\\ls", "$ ls"}, {"\x1b[6", "$ ls"}, {"n", "$ ls"}, {"\xe2\x80", "$ ls"}, {"\x94", "$ ls—"},
	} {
		term.feed([]byte(step.output), 100)
		_, head := term.Bounds()
		if got, err := term.Text(nil, 0, head); err != nil || string(got) != step.text {
			t.Fatalf("after %q: %q, %v", step.output, got, err)
		}
	}
	if _, err := term.Text(nil, 0, term.head()+1); err == nil {
		t.Fatal("there is text after the end of the log")
	}
	if got, err := term.Text([]byte("x"), 3, 3); err != nil || string(got) != "x" {
		t.Fatalf("an empty range reads %q, %v", got, err)
	}
}

func TestTextThatIsGoneIsOvertaken(t *testing.T) {
	term := bench(MinLogBytes)
	term.feed(lines(0, 300_000), 4000)
	tail, head := term.Bounds()
	if tail == 0 {
		t.Fatal("the log keeps everything")
	}
	if got, err := term.Text([]byte("x"), tail-1, head); !errors.Is(err, ErrOvertaken) || string(got) != "x" {
		t.Fatalf("%.20q, %v", got, err)
	}
	if got, err := term.Text(nil, tail, head); err != nil || int64(len(got)) != head-tail {
		t.Fatalf("%d of %d bytes, %v", len(got), head-tail, err)
	}
	if end := term.CutEnd(5, tail, 100); end != 105 {
		t.Fatalf("a cut of what is gone ends at %d", end)
	}
	term.log.mu.Lock()
	term.log.free()
	term.log.mu.Unlock()
	if _, err := term.Text(nil, tail, head); !errors.Is(err, ErrOvertaken) {
		t.Fatalf("after the disposal: %v", err)
	}
}

func TestTextAllocatesNothing(t *testing.T) {
	term := bench(MinLogBytes)
	output, _ := story(1, 300_000)
	term.feed(output, 4000)
	dst := make([]byte, 0, 2*len(output))
	if n := testing.AllocsPerRun(20, func() {
		if _, err := term.Text(dst, 0, term.head()); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// Readers of text see whole lines or that they were overtaken, while the log is written on and segments are used again.
func TestTextIsTrueWhileTheLogMovesOn(t *testing.T) {
	term := bench(MinLogBytes)
	const line = len("\x1b]7;x\aline 0000000\r\n")
	check := func(text []byte, most int64) []byte {
		tail, head := term.Bounds()
		first, last := (int(max(tail, head-most))+line-1)/line, int(head)/line
		text, err := term.Text(text[:0], int64(first*line), int64(max(first, last)*line))
		if errors.Is(err, ErrOvertaken) {
			return text
		}
		if want := lines(first, last); err != nil || !bytes.Equal(text, want) {
			t.Errorf("text of lines %d to %d is %.60q, want %.60q, %v", first, last, text, want, err)
		}
		return text
	}
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		readers.Go(func() {
			var text []byte
			for !t.Failed() {
				text = check(text, 100_000)
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	var output []byte
	for i := range 100_000 {
		output = fmt.Appendf(output, "\x1b]7;x\aline %07d\r\n", i)
		if len(output) > 2000 { // so that segments begin anywhere in a line
			term.feed(output, 997)
			output = output[:0]
		}
	}
	close(stop)
	readers.Wait()
	check(nil, MinLogBytes)
}

func TestCutsSplitNoCharacter(t *testing.T) {
	term := bench(MinLogBytes)
	text := strings.Repeat("aé日👩\ufffd", 30_000)
	term.feed([]byte(text), 4000)
	all := int64(len(text))
	for _, most := range []int{-1, 0, 1, 2, 3, 4, 5, 6, 13, 1000, 16 << 10, 1 << 20} {
		cuts := 0
		for from := int64(0); from < all; cuts++ {
			end := term.CutEnd(from, all, most)
			if end <= from || end > all || int(end-from) > max(most, utf8.UTFMax) || !utf8.ValidString(text[from:end]) {
				t.Fatalf("at most %d: a cut from %d to %d: %q", most, from, end, text[from:min(end, from+20)])
			}
			from = end
		}
		if least := len(text) / max(most, utf8.UTFMax); cuts > 3*least+1 {
			t.Fatalf("at most %d: %d cuts for %d bytes", most, cuts, len(text))
		}
	}
}

func TestSaneOffsetsAreWhereReplaysStart(t *testing.T) {
	term := bench(MinLogBytes)
	term.feed([]byte("one\r\ntwo\r\n\x1b]0;three\a"), 100)
	for target, want := range map[int64]int64{-5: 0, 0: 0, 1: 5, 5: 5, 6: 10, 10: 10, 12: 20, 20: 20, 99: 20} {
		if got := term.SaneOffset(target); got != want {
			t.Errorf("sane from %d is %d, want %d", target, got, want)
		}
	}
	term.feed([]byte("four\r\n$ "), 100)
	term.Clear()
	if tail, head := term.Bounds(); tail != 26 || head != 28 {
		t.Fatalf("bounds %d, %d", tail, head)
	}
	for target, want := range map[int64]int64{0: 26, 26: 26, 28: 28, 99: 28} {
		if got := term.SaneOffset(target); got != want {
			t.Errorf("after a clear sane from %d is %d, want %d", target, got, want)
		}
	}
	term.feed(lines(0, 300_000), 4000)
	tail, head := term.Bounds()
	for _, target := range []int64{tail - 1, tail, tail + 1, head - 70_000, head - 3} {
		at := term.SaneOffset(target)
		if at < max(target, tail) || at > head || at-target > 40 {
			t.Fatalf("sane from %d is %d in [%d, %d]", target, at, tail, head)
		}
		if text, err := term.Text(nil, at, head); err != nil || len(text) > 0 && !bytes.HasPrefix(text, []byte("line ")) {
			t.Fatalf("sane from %d is %d: %.20q, %v", target, at, text, err)
		}
	}
}

// A shell that tells of its prompts and directories, in a real pty.
func TestTextOfAShellWithIntegration(t *testing.T) {
	m := manager(t, Config{})
	spec := bash()
	spec.Env["PS1"] = `\[\e]133;A\a\e]633;A\a\]$ \[\e]633;B\a\]`
	spec.Env["PROMPT_COMMAND"] = `printf '\e]7;file://%s\a\e]633;P;Cwd=%s\e\\' "$PWD" "$PWD"`
	spec.Dir = t.TempDir()
	term := create(t, m, spec)
	tap := term.Tap(func() {})
	defer tap.Close()
	if err := term.Input([]byte("printf 'caf\\303\\251 \\377 \\e[6n\\e]633;D;0\\aend\\n'; exit\n")); err != nil {
		t.Fatal(err)
	}
	<-term.Done()
	_, head := term.Bounds()
	text, err := term.Text(nil, tap.From(), head)
	if err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(text) || !bytes.Contains(text, []byte("café \ufffd end\r\n")) || !bytes.Contains(text, []byte("$ ")) {
		t.Fatalf("text %q", text)
	}
	for _, unwanted := range []string{"\x1b]133", "\x1b]633", "\x1b]7;", "\x1b[6n", "Cwd"} {
		if bytes.Contains(text, []byte(unwanted)) {
			t.Fatalf("%q is in the text %q", unwanted, text)
		}
	}
}

// BenchmarkText makes text of a log in cuts as they are sent.
func BenchmarkText(b *testing.B) {
	for _, of := range []struct {
		name string
		line string
	}{
		{"ascii", "The quick brown fox jumps over the lazy dog, again and again.\r\n"},
		{"utf8", "いろはにほへとちりぬるを 散りぬるを\r\n"},
		{"integration", "\x1b]633;A\a$ \x1b]633;B\als -l\r\n\x1b]633;C\aplain text that is longer than that\r\n"},
		{"invalid", "some latin-1: caf\xe9, na\xefve and the rest of a line\r\n"},
	} {
		b.Run(of.name, func(b *testing.B) {
			term := newBench(of.line)
			_, head := term.Bounds()
			var dst []byte
			b.SetBytes(head)
			b.ReportAllocs()
			for b.Loop() {
				for from := int64(0); from < head; {
					end := term.CutEnd(from, head, textPiece)
					dst, _ = term.Text(dst[:0], from, end)
					from = end
				}
			}
		})
	}
}

// BenchmarkAppend takes output into the log, in reads of the size that a pty gives.
func BenchmarkAppend(b *testing.B) {
	for name, line := range map[string]string{
		"plain":       "The quick brown fox jumps over the lazy dog, again and again.\r\n",
		"coloured":    "\x1b[1;38;5;123mword\x1b[0m text — and some more of it\r\n",
		"integration": strings.Repeat("plain text that is longer than the prompt\r\n", 80) + "\x1b]633;A\a$ \x1b]633;B\als -l\r\n\x1b]633;C\a",
	} {
		b.Run(name, func(b *testing.B) {
			term := newBench(line)
			output := []byte(strings.Repeat(line, 512<<10/len(line)))
			b.SetBytes(int64(len(output)))
			b.ReportAllocs()
			for b.Loop() {
				term.feed(output, 4095)
			}
		})
	}
}

// newBench returns a terminal with half a full log of that line.
func newBench(line string) *Terminal {
	term := bench(MinLogBytes)
	term.feed([]byte(strings.Repeat(line, 512<<10/len(line))), 4095)
	return term
}
