package sharing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"tandem/ptymgr"
)

// While programs are paused they read nothing new and do nothing; the person goes on.
func TestPause(t *testing.T) {
	s := setUp(t)
	terminal, own := s.open(s.desk), s.open(s.a)
	r := s.attach(own, s.a, ptymgr.NoOffset)
	s.must(r.v.Input([]byte("before\n")))
	r.until("before\r\nbefore\r\n")
	s.told.take()
	s.refused(s.m.SetPaused(By{Client: s.a}, true), errPersonOnly)
	s.must(s.m.SetPaused(By{Client: s.desk}, true))
	s.must(s.m.SetPaused(By{Client: s.phone}, true))
	if got := strings.Join(s.told.take(), ", "); got != "paused" {
		t.Errorf("told %q", got)
	}
	if !s.m.Paused() || !s.overview().Paused || !s.told.last.Paused {
		t.Error("programs are not said to be paused")
	}

	for _, c := range []*Client{s.a, s.b, s.join(reader, "r")} {
		by := By{Client: c}
		_, create := s.m.Create(by, ptymgr.Spec{Command: "cat"}, nil)
		_, get := s.m.Get(c, own.ID())
		_, missing := s.m.Get(c, "none")
		_, list := s.m.List(c)
		_, info := own.Info(c)
		_, watch := own.Watch(c)
		_, attach := own.Attach(c, ptymgr.NoOffset)
		for what, err := range map[string]error{
			"create": create, "get": get, "get what is missing": missing, "list": list, "info": info, "watch": watch, "attach": attach,
			"input": own.Input(by, []byte("x")), "clear": own.Clear(by), "rename": own.Rename(by, "x"),
			"resize": own.Resize(by, ptymgr.Size{Cols: 90, Rows: 30}), "mode": own.SetMode(by, Share),
			"claim": terminal.Claim(by, Claim{Client: c.name}), "dispose": s.m.Dispose(context.Background(), by, own.ID()),
			"viewer input": r.v.Input([]byte("x")), "viewer answer": r.v.Answer([]byte("x")),
			"viewer resize": r.v.Resize(ptymgr.Size{Cols: 90, Rows: 30}), "viewer clear": r.v.Clear(),
		} {
			if !errors.Is(err, errPaused) {
				t.Errorf("%s: got %v, want the refusal %q", what, err, PausedReason)
			}
		}
	}

	// The person's key goes on, and so does the output; the program's viewer is told of neither.
	s.must(own.Input(By{Client: s.desk}, []byte("meanwhile\n")))
	s.printed(own, "meanwhile\r\nmeanwhile\r\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		ev, err := r.v.Next(ctx)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the program's viewer ended with %v", err)
			}
			break
		}
		t.Errorf("the program's viewer is told %v %q", ev.Kind, ev.Data)
	}
	s.must(s.m.SetPaused(By{Client: s.desk}, false))
	r.until("meanwhile\r\nmeanwhile\r\n")
	if !slices.ContainsFunc(r.events, func(ev ptymgr.Event) bool { return ev.Kind == ptymgr.EventWritable && !ev.Writable }) {
		t.Error("the program's viewer was not told that it may not type any more")
	}
	if got := strings.Join(s.told.take(), ", "); got != "claimed for login-desk, unpaused" {
		t.Errorf("told %q", got)
	}
	s.asked(terminal, s.a)
}

// What a paused program holds it holds afterwards.
func TestPauseKeepsClaims(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.a)
	r := s.attach(terminal, s.a, ptymgr.NoOffset)
	s.must(s.m.SetPaused(By{Client: s.desk}, true))
	s.must(s.m.SetPaused(By{Client: s.desk}, false))
	s.must(r.v.Input([]byte("after\n")))
	r.until("after")
	for _, ev := range r.events {
		if ev.Kind == ptymgr.EventWritable {
			t.Error("the program was told that it may not type")
		}
	}
}

// A paused viewer ends with its terminal all the same.
func TestPausedViewerEnds(t *testing.T) {
	s := setUp(t)
	hidden, disposed := s.open(s.desk), s.open(s.desk)
	first, second := s.attach(hidden, s.a, ptymgr.NoOffset), s.attach(disposed, s.a, ptymgr.NoOffset)
	s.must(s.m.SetPaused(By{Client: s.desk}, true))
	s.mode(hidden, Private)
	s.must(s.m.Dispose(context.Background(), By{Client: s.desk}, disposed.ID()))
	for _, r := range []*screen{first, second} {
		if err := r.end(); !errors.Is(err, ptymgr.ErrDisposed) {
			t.Errorf("the viewer ended with %v, want %v", err, ptymgr.ErrDisposed)
		}
	}
}
