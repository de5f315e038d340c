package share

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/ahp/wire"
	"tandem/ptymgr/vt"
)

// fakeHost carries out each number once, as hosts do. It knows nothing of the connection.
type fakeHost struct {
	last int64
	text strings.Builder
	size wire.TerminalResized
	exit *int
}

func (h *fakeHost) take(seq int64, a wire.Action) {
	if seq <= h.last {
		return
	}
	h.last = seq
	switch a := a.(type) {
	case wire.TerminalOutput:
		h.text.WriteString(a.Data)
	case wire.TerminalResized:
		h.size = a
	case wire.TerminalExited:
		h.exit = a.ExitCode
	}
}

// Whatever becomes of connections and hosts, the host has everything in the end, once and in order; a new one has the
// newest of what the one before had.
func TestOutboxLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, host := newOutbox(), &fakeHost{}
		type sent struct {
			seq    int64
			action wire.Action
		}
		var onTheWay []sent
		var written strings.Builder
		arrive := func(n int) {
			for _, s := range onTheWay[:n] {
				host.take(s.seq, s.action)
			}
			onTheWay = onTheWay[n:]
		}
		line, size := 0, 0
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				text := fmt.Sprintf("line %d %s\r\n", line, strings.Repeat("é", rapid.IntRange(0, 20_000).Draw(t, "length")))
				line++
				written.WriteString(text)
				o.write([]byte(text))
			},
			"resize": func(*rapid.T) {
				size++
				o.act(wire.TerminalResized{Cols: size, Rows: 24})
			},
			"send": func(*rapid.T) {
				if seq, a, ok := o.take(); ok {
					onTheWay = append(onTheWay, sent{seq, a})
				}
			},
			"arrive": func(t *rapid.T) { arrive(rapid.IntRange(0, len(onTheWay)).Draw(t, "how many")) },
			"confirm": func(t *rapid.T) {
				n := rapid.IntRange(0, len(onTheWay)).Draw(t, "how many")
				if n > 0 {
					seq := onTheWay[n-1].seq
					arrive(n)
					o.confirm(seq)
				}
			},
			"reconnect": func(t *rapid.T) {
				arrive(rapid.IntRange(0, len(onTheWay)).Draw(t, "how many"))
				onTheWay = nil
				o.rewind()
			},
			"restart": func(*rapid.T) {
				onTheWay = nil
				host = &fakeHost{}
				o.restart()
			},
			"": func(t *rapid.T) {
				if o.flight > maxFlight+parcelBytes {
					t.Fatalf("%d bytes on their way", o.flight)
				}
			},
		})
		o.act(wire.TerminalExited{ExitCode: new(3)})
		arrive(len(onTheWay))
		for {
			seq, a, ok := o.take()
			if !ok {
				if n, _ := o.unconfirmed(); n == 0 {
					break
				}
				o.confirm(o.last)
				continue
			}
			host.take(seq, a)
		}
		got := withoutPreamble(host.text.String())
		if !strings.HasSuffix(written.String(), got) || len(got) < min(written.Len(), maxRestart-newlineSlack) {
			t.Fatalf("the host has %d bytes that are not the newest of %d", len(got), written.Len())
		}
		if host.exit == nil || *host.exit != 3 {
			t.Fatal("the host does not know of the exit")
		}
		if o.flight != 0 || o.waiting != 0 || o.next != 0 || o.dropped() != 0 {
			t.Fatalf("flight %d, waiting %d, next %d, dropped %d", o.flight, o.waiting, o.next, o.dropped())
		}
	})
}

// newlineSlack is how much less a new terminal may be given so that it starts with a line.
const newlineSlack = 64 << 10

// withoutPreamble cuts off what brings a new terminal into the state of the one before, which is the usual one.
func withoutPreamble(text string) string {
	return strings.TrimPrefix(text, string(new(vt.Scanner).Preamble(24)))
}

func TestOutboxGivesANewTerminalItsState(t *testing.T) {
	o := newOutbox()
	text := "\x1b[?1049h\x1b[?2004h\x1b[31m\x1b]2;work\a" + strings.Repeat("0123456789abcdef\r\n", 100_000)
	for rest := text; rest != ""; {
		n := min(100_000, len(rest))
		o.write([]byte(rest[:n]))
		rest = rest[n:]
		deliver(o, &fakeHost{})
	}
	o.rows = 24
	o.restart()
	host := &fakeHost{}
	o.write([]byte("the end"))
	deliver(o, host)
	got := host.text.String()
	for _, want := range []string{"\x1b[?1047h", "\x1b[?2004h", "31", "\x1b]2;work"} {
		if !strings.Contains(got[:1000], want) {
			t.Errorf("the new terminal is not told %q", want)
		}
	}
	if !strings.HasSuffix(got, "cdef\r\nthe end") || len(got) < maxRestart-newlineSlack || len(got) > maxRestart+1000 {
		t.Errorf("%d bytes, ending with %q", len(got), got[len(got)-20:])
	}
	if again := o.kept; string(again) != got {
		t.Error("the next new terminal would be given something else")
	}
}

// deliver has the host take everything.
func deliver(o *outbox, host *fakeHost) {
	for {
		seq, a, ok := o.take()
		if !ok {
			if n, _ := o.unconfirmed(); n == 0 {
				return
			}
			o.confirm(o.last)
			continue
		}
		host.take(seq, a)
	}
}

// When too much waits, the oldest goes, and a note says so. What is on its way stays.
func TestOutboxIsBounded(t *testing.T) {
	o, host := newOutbox(), &fakeHost{}
	o.write([]byte("first "))
	seq, a, _ := o.take()
	host.take(seq, a)
	var written strings.Builder
	for i := range 12 << 20 / 100 {
		line := fmt.Sprintf("%098d\r\n", i)
		written.WriteString(line)
		_, before := o.unconfirmed()
		if isCrowded := o.write([]byte(line)); isCrowded != (before+len(line) > crowded) && before < maxWaiting-len(line) {
			t.Fatalf("with %d bytes that wait: crowded is %v", before, isCrowded)
		}
	}
	if _, bytes := o.unconfirmed(); bytes > maxWaiting {
		t.Errorf("%d bytes wait", bytes)
	}
	o.rewind()
	deliver(o, host)
	got := host.text.String()
	first, rest, _ := strings.Cut(got, "\x18")
	note, rest, _ := strings.Cut(rest, "are missing here]\r\n")
	if first != "first " || !strings.Contains(note, "MiB of output") || strings.Contains(rest, "missing") {
		t.Errorf("starts with %q %q", first, note)
	}
	if !strings.HasSuffix(written.String(), rest) || len(rest) < maxWaiting-parcelBytes-10 {
		t.Errorf("%d bytes are not the newest", len(rest))
	}
	if lost := o.dropped(); int(lost) != written.Len()-len(rest) {
		t.Errorf("%d dropped, want %d", lost, written.Len()-len(rest))
	}
}

// A host that has got what is dropped is not told that it is missing.
func TestOutboxDropsWhatTheHostHas(t *testing.T) {
	o, host := newOutbox(), &fakeHost{}
	o.write([]byte("seen"))
	host.take(must(o.take()))
	o.rewind() // the connection is lost, and nothing was confirmed
	for range maxWaiting / parcelBytes {
		o.write(make([]byte, parcelBytes))
	}
	seq, a, _ := o.take()
	if seq != 1 || !strings.Contains(a.(wire.TerminalOutput).Data, "4 bytes") {
		t.Errorf("number %d: %v", seq, a)
	}
	host.take(seq, a)
	if got := host.text.String(); got != "seen" {
		t.Errorf("the host has %q", got)
	}
}

func must(seq int64, a wire.Action, ok bool) (int64, wire.Action) {
	if !ok {
		panic("nothing to send")
	}
	return seq, a
}

func TestOutboxMergesSizesAndSmallOutput(t *testing.T) {
	o := newOutbox()
	for i := range 1000 {
		o.act(wire.TerminalResized{Cols: i + 1, Rows: 1})
	}
	for range 1000 {
		o.write([]byte("x"))
	}
	if n, _ := o.unconfirmed(); n != 2 {
		t.Errorf("%d parcels, want a size and output", n)
	}
	_, a := must(o.take())
	if a != (wire.TerminalResized{Cols: 1000, Rows: 1}) {
		t.Errorf("got %v", a)
	}
}

// Output is cut between characters.
func TestOutboxCutsBetweenCharacters(t *testing.T) {
	o, host := newOutbox(), &fakeHost{}
	text := "x" + strings.Repeat("漢", 50_000)
	for rest := text; rest != ""; {
		n := cut([]byte(rest), 4+rand.IntN(30_000))
		o.write([]byte(rest[:n]))
		rest = rest[n:]
	}
	for {
		seq, a, ok := o.take()
		if !ok {
			break
		}
		data := a.(wire.TerminalOutput).Data
		if strings.ToValidUTF8(data, "?") != data || len(data) > parcelBytes {
			t.Fatalf("a parcel of %d bytes, or not text", len(data))
		}
		host.take(seq, a)
	}
	if host.text.String() != text {
		t.Error("the host has something else")
	}
}

func TestClosedOutboxKeepsNothing(t *testing.T) {
	o := newOutbox()
	o.write([]byte("x"))
	o.close()
	o.write([]byte("y"))
	o.act(wire.TerminalExited{})
	if n, bytes := o.unconfirmed(); n+bytes != 0 {
		t.Errorf("%d actions, %d bytes", n, bytes)
	}
	o.drained(t.Context())
}
