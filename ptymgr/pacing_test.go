package ptymgr

import (
	"testing"
	"testing/synctest"
	"time"
)

// flood is a terminal whose log is written by a shell that never stops, held back by pacing alone.
type flood struct {
	*Terminal
	stop chan struct{}
	done chan struct{}
}

// startFlood feeds the log in steps of 1 KiB whenever pacing lets it. In a synctest bubble, synctest.Wait returns when
// it is held back.
func startFlood(t *Terminal, most int64) *flood {
	f := &flood{t, make(chan struct{}), make(chan struct{})}
	p := make([]byte, 1<<10)
	for i := range p {
		p[i] = 'y'
	}
	go func() {
		defer close(f.done)
		for fed := int64(0); fed < most; fed += int64(len(p)) {
			select {
			case <-f.stop:
				return
			default:
			}
			t.feed(p, len(p))
			t.pace()
		}
	}()
	return f
}

func (f *flood) end() {
	close(f.stop)
	f.log.mu.Lock()
	f.pacing.off = true
	f.pacing.update(f.log.clean)
	f.log.mu.Unlock()
	<-f.done
}

func (t *Terminal) head() int64 {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return t.log.clean
}

// desk attaches a visible viewer that may type.
func (t *Terminal) desk() *Viewer { return t.Attach(AttachOptions{Since: 0, Writable: true}) }

const farAhead = 64 << 20 // more than any window

func TestPtyIsReadNoFurtherThanHighAheadOfTheAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		v := term.desk()
		defer v.Close()
		ack(t, v, 0)
		f := startFlood(term, farAhead)
		defer f.end()
		synctest.Wait()
		if head := term.head(); head < highWater || head > highWater+1024 {
			t.Fatalf("read up to %d without an ack", head)
		}
		for v.pos < highWater {
			must(t, v)
		}
		// Above low water an ack changes nothing; below it reading goes on.
		ack(t, v, highWater-lowWater-2048)
		synctest.Wait()
		if head := term.head(); head > highWater+1024 {
			t.Fatalf("read on to %d before low water", head)
		}
		ack(t, v, highWater-lowWater+2048)
		synctest.Wait()
		if head := term.head(); head < 2*highWater-lowWater {
			t.Fatalf("stuck at %d below low water", head)
		}
	})
}

func TestAckingViewerIsSentNoMoreThanHighPastItsAck(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	var s screen
	s.drain(t, v)
	ack(t, v, 0)
	term.feed(lines(0, 50_000), 4000)
	s.drain(t, v)
	if len(s.log) != highWater {
		t.Fatalf("sent %d without an ack", len(s.log))
	}
	ack(t, v, 1000)
	s.drain(t, v)
	if len(s.log) != highWater+1000 {
		t.Fatalf("sent %d after an ack of 1000", len(s.log))
	}
}

func TestHiddenReadOnlyAndGoneViewersDoNotPace(t *testing.T) {
	for name, leave := range map[string]func(*Viewer){
		"hidden": func(v *Viewer) { v.SetVisible(false) },
		"gone":   func(v *Viewer) { v.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				term := bench(MinLogBytes)
				v := term.desk()
				defer v.Close()
				ack(t, v, 0)
				f := startFlood(term, farAhead)
				defer f.end()
				synctest.Wait()
				if head := term.head(); head > highWater+1024 {
					t.Fatalf("not held back at all: %d", head)
				}
				leave(v)
				synctest.Wait()
				if head := term.head(); head != farAhead {
					t.Fatalf("still held back at %d", head)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		v := term.Attach(AttachOptions{Since: 0})
		defer v.Close()
		ack(t, v, 0)
		f := startFlood(term, farAhead)
		defer f.end()
		synctest.Wait()
		if head := term.head(); head != farAhead {
			t.Fatalf("a read-only viewer held the shell back at %d", head)
		}
	})
}

func TestFrozenViewerStopsCountingAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		v := term.desk()
		defer v.Close()
		ack(t, v, 0)
		f := startFlood(term, farAhead)
		defer f.end()
		time.Sleep(stallAfter - time.Millisecond)
		synctest.Wait()
		if head := term.head(); head > highWater+1024 {
			t.Fatalf("given up too early: %d", head)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if head := term.head(); head != farAhead {
			t.Fatalf("held back by a frozen viewer at %d", head)
		}
	})
}

func TestViewerThatWasIdleIsNotFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		v := term.desk()
		defer v.Close()
		ack(t, v, 0)
		time.Sleep(time.Hour)
		f := startFlood(term, farAhead)
		defer f.end()
		synctest.Wait()
		if head := term.head(); head > highWater+1024 {
			t.Fatalf("after an idle hour the shell is not held back: %d", head)
		}
	})
}

func TestStalledViewerCountsAgainFromItsNextAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		v := term.desk()
		defer v.Close()
		ack(t, v, 0)
		f := startFlood(term, 2*highWater)
		time.Sleep(stallAfter + time.Millisecond)
		synctest.Wait()
		f.end()
		if !v.stalled || term.head() != 2*highWater {
			t.Fatalf("not stalled at %d", term.head())
		}
		for v.acked < term.head() {
			if term.pacing.leader != nil {
				t.Fatalf("counts again at %d, before it has caught up", v.acked)
			}
			for v.pos < min(v.acked+highWater, term.head()) {
				must(t, v)
			}
			ack(t, v, v.pos)
		}
		if v.stalled || term.pacing.leader != v {
			t.Fatal("a viewer that acks again and has caught up does not count")
		}
	})
}

func TestLatePhoneDoesNotStopABuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		term.feed(lines(0, 60_000), 4000)
		phone := term.desk()
		defer phone.Close()
		must(t, phone)
		must(t, phone)
		ack(t, phone, 0) // it is at its replay's beginning, and stays there
		start := term.head()
		f := startFlood(term, farAhead)
		defer f.end()
		synctest.Wait()
		if ran := term.head() - start; ran != farAhead {
			t.Fatalf("the replay for the phone stopped the shell after %d bytes", ran)
		}
	})
}

func TestViewerPacesOnceItHasCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		term.feed(lines(0, 20_000), 4000)
		v := term.Attach(AttachOptions{Since: NoOffset, Writable: true})
		defer v.Close()
		for v.acked < term.head() {
			must(t, v)
			ack(t, v, v.pos)
		}
		start := term.head()
		f := startFlood(term, farAhead)
		defer f.end()
		synctest.Wait()
		if ran := term.head() - start; ran > highWater+1024 {
			t.Fatalf("a viewer that has caught up does not pace: %d bytes ahead", ran)
		}
	})
}

func TestTheFastestViewerLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		desk, phone := term.desk(), term.desk()
		defer desk.Close()
		defer phone.Close()
		ack(t, phone, 0)
		ack(t, desk, 0)
		f := startFlood(term, farAhead)
		defer f.end()
		for range 100 {
			for desk.pos < desk.acked+highWater/2 {
				must(t, desk)
			}
			ack(t, desk, desk.pos)
			synctest.Wait()
		}
		head, led := term.head(), desk.acked
		if led < 10<<20 || head > led+highWater+1024 {
			t.Fatalf("desk acked %d, read up to %d", led, head)
		}
		// When the leader leaves, the phone, which is far behind, does not stop the shell.
		desk.Close()
		synctest.Wait()
		if now := term.head(); now != farAhead {
			t.Fatalf("held up at %d by a viewer that is far behind", now)
		}
	})
}

// Two viewers in step that overtake each other with every ack must not free the shell from pacing.
func TestAlternatingLeadersStillPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		a, b := term.desk(), term.desk()
		defer a.Close()
		defer b.Close()
		ack(t, a, 0)
		ack(t, b, 0)
		f := startFlood(term, farAhead)
		defer f.end()
		for range 20 {
			for _, v := range []*Viewer{a, b} {
				for v.pos < max(a.acked, b.acked)+1000 {
					must(t, v)
				}
				ack(t, v, max(a.acked, b.acked)+1000)
				synctest.Wait()
			}
		}
		if head := term.head(); head > max(a.acked, b.acked)+highWater+1024 {
			t.Fatalf("acked %d and %d, read up to %d", a.acked, b.acked, head)
		}
	})
}

func TestBesideAnAckingViewerOthersDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		acking, plain := term.desk(), term.desk()
		defer acking.Close()
		defer plain.Close()
		ack(t, acking, 0)
		f := startFlood(term, farAhead)
		defer f.end()
		for plain.pos < highWater/2 {
			must(t, plain) // it reads at once, and would lead
		}
		synctest.Wait()
		if head := term.head(); head > highWater+1024 {
			t.Fatalf("read up to %d", head)
		}
	})
}

// An acking viewer that joins one which reads as fast as it can takes the lead, once, and keeps it.
func TestAckingViewerTakesTheLeadFromOneThatDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		plain := term.desk()
		defer plain.Close()
		f := startFlood(term, farAhead)
		defer f.end()
		for plain.pos < 1<<20 {
			must(t, plain)
		}
		synctest.Wait()
		acking := term.Attach(AttachOptions{Since: term.head(), Writable: true})
		defer acking.Close()
		must(t, acking)
		ack(t, acking, acking.pos)
		for range 100 {
			for plain.pos < term.head() {
				must(t, plain)
			}
			synctest.Wait()
		}
		if head := term.head(); term.pacing.leader != acking || head > acking.acked+highWater+1024 {
			t.Fatalf("acked %d, read up to %d", acking.acked, head)
		}
	})
}

func TestWithoutAcksWhatWasSentPaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := bench(MinLogBytes)
		v := term.desk()
		defer v.Close()
		f := startFlood(term, farAhead)
		defer f.end()
		synctest.Wait()
		if head := term.head(); head > highWater+1024 {
			t.Fatalf("read up to %d with nothing sent", head)
		}
		for v.pos < 1<<20 {
			must(t, v)
		}
		synctest.Wait()
		if head := term.head(); head < 1<<20 || head > 1<<20+highWater+segmentBytes {
			t.Fatalf("read up to %d with 1 MiB sent", head)
		}
	})
}

func TestBogusAckChangesNothing(t *testing.T) {
	term := bench(MinLogBytes)
	v := term.desk()
	defer v.Close()
	var s screen
	term.feed(lines(0, 10), 100)
	s.drain(t, v)
	for _, offset := range []int64{-1, v.pos + 1, 1 << 62} {
		if v.Ack(offset) == nil {
			t.Fatalf("ack of %d is taken", offset)
		}
	}
	if v.acking {
		t.Fatal("a bogus ack turned pacing by acks on")
	}
	ack(t, v, 50)
	ack(t, v, 20)
	if v.acked != 50 {
		t.Fatalf("acked %d", v.acked)
	}
}

func must(t *testing.T, v *Viewer) Event {
	t.Helper()
	ev, err := v.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func ack(t *testing.T, v *Viewer, offset int64) {
	t.Helper()
	if err := v.Ack(offset); err != nil {
		t.Fatal(err)
	}
}
