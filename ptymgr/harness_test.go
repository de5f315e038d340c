package ptymgr

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tandem/ptymgr/vt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait in these tests; none is expected to last long.
const patience = 20 * time.Second

// bench is a terminal without a pty: tests feed its log.
func bench(logBytes int) *Terminal {
	t := &Terminal{
		id: "test", created: time.Now(), log: newLog(logBytes, defaultSize), input: newInputQueue(), counters: &counters{},
		pacing: newPacing(), resized: make(chan struct{}, 1), nudged: make(chan struct{}, 1), dirty: make(chan struct{}, 1),
		closing: make(chan struct{}), live: liveState{altSince: -1}, ended: func(*Terminal, Exit) {},
	}
	t.lastInput.Store(-int64(typingTime))
	return t
}

// feed appends p to the log in reads of at most piece bytes.
func (t *Terminal) feed(p []byte, piece int) {
	for len(p) > 0 {
		n := copy(t.log.space(), p[:min(piece, len(p))])
		t.append(n)
		p = p[n:]
	}
}

// seal ends the terminal as an exit would.
func (t *Terminal) seal(exit Exit) { t.finish(exit) }

// eventually waits for a state that nothing announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// screen collects what a viewer is told, as a client of the byte lane does.
type screen struct {
	events []Event
	log    []byte // output since the last reset, preambles left out
	offset int64  // of the next byte
	replay bool   // between a replaying reset and live
}

func (s *screen) take(ev Event) {
	switch ev.Kind {
	case EventReady:
		s.offset = ev.Offset
	case EventReset:
		s.offset, s.replay, s.log = ev.Offset, ev.Replay, nil
	case EventLive:
		s.offset, s.replay = ev.Offset, false
	case EventOutput:
		if !s.replay {
			s.log = append(s.log, ev.Data...)
			s.offset += int64(len(ev.Data))
		}
	}
	ev.Data = bytes.Clone(ev.Data)
	s.events = append(s.events, ev)
}

func (s *screen) count(kind EventKind) int {
	n := 0
	for _, ev := range s.events {
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// drain takes everything that the viewer can be told without waiting for more.
func (s *screen) drain(t testing.TB, v *Viewer) {
	t.Helper()
	v.t.neverGather()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		ev, err := v.Next(ctx)
		if errors.Is(err, context.Canceled) {
			return
		}
		if err != nil {
			t.Fatalf("Next: %v", err)
		}
		s.take(ev)
	}
}

// neverGather makes all output count as the echo of what was typed, which is sent at once.
func (t *Terminal) neverGather() { t.lastInput.Store(math.MaxInt64) }

// until takes events until done says so.
func (s *screen) until(t testing.TB, v *Viewer, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for !done() {
		ev, err := v.Next(ctx)
		if err != nil {
			t.Fatalf("waiting for %s: %v; got so far: %.300q", what, err, s.log)
		}
		s.take(ev)
	}
}

// masked returns p with its queries masked, as one scan over all of it finds them.
func masked(p []byte) []byte {
	out := bytes.Clone(p)
	var s vt.Scanner
	var f vt.Findings
	s.Scan(out, 0, &f)
	for _, q := range f.Queries {
		out[q.From] = can
		clear(out[q.From+1 : q.To])
	}
	return out
}
