package ptymgr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func createRemote(t testing.TB, m *Manager, spec RemoteSpec) *Feed {
	t.Helper()
	f, err := m.CreateRemote(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *Feed) prints(t testing.TB, text string) {
	t.Helper()
	if n, err := f.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("took %d of %d bytes: %v", n, len(text), err)
	}
}

// text returns the log as text for programs.
func (t *Terminal) text(tb testing.TB) string {
	tb.Helper()
	tail, head := t.Bounds()
	text, err := t.Text(nil, tail, head)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// lane is attach by somebody who also says what size they have room for.
func lane(t testing.TB, term *Terminal, opts AttachOptions) *person {
	t.Helper()
	p := &person{Viewer: term.Attach(opts)}
	t.Cleanup(p.Close)
	p.drain(t, p.Viewer)
	if err := p.Resize(Size{40, 12}); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRemoteTerminalShowsWhatItIsFed(t *testing.T) {
	m := manager(t, Config{})
	f := createRemote(t, m, RemoteSpec{Dir: "/home/somebody", Size: Size{100, 30}})
	term := f.Terminal()
	tap := term.Tap(func() {})
	defer tap.Close()
	early := attach(t, term)
	f.prints(t, "one\r\n\x1b]0;vim\x07two")
	early.see(t, "one")
	early.see(t, "two")
	if err := f.Resize(Size{90, 20}); err != nil {
		t.Fatal(err)
	}
	term.Clear()
	f.prints(t, "three\x1b[") // not a whole sequence
	tap.expect(t, "while it lives", "output 0-16, resized 16 90×20, cleared 16 5, output 16-21, titled 21 vim")
	info := term.Info()
	if !term.Remote() || !info.Remote || info.PID != 0 || info.Foreground != "" || info.Busy || info.Exit != nil || term.AsksPassword() {
		t.Fatalf("%+v", info)
	}
	if info.Title != "vim" || info.Dir != "/home/somebody" || info.Size != (Size{90, 20}) || info.Viewers != 1 || time.Since(info.Created) > time.Minute {
		t.Fatalf("%+v", info)
	}
	if got, ok := m.Get(term.ID()); !ok || got != term {
		t.Fatal("it is in no list")
	}
	if err := f.End(Exit{Code: 3}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-term.Done():
	default:
		t.Fatal("it is not done")
	}
	if exit := early.ended(t); exit != (Exit{Code: 3}) {
		t.Fatalf("exit %v", exit)
	}
	tap.expect(t, "at the end", "output 21-23, exited 23 3") // what was held back is let go
	if _, err := f.Write([]byte("late")); !errors.Is(err, ErrExited) {
		t.Fatalf("output after the end: %v", err)
	}
	if err := f.Resize(Size{80, 24}); !errors.Is(err, ErrExited) {
		t.Fatalf("a size after the end: %v", err)
	}
	if err := f.End(Exit{}); !errors.Is(err, ErrExited) {
		t.Fatalf("a second end: %v", err)
	}
	late := attach(t, term)
	late.see(t, "two") // it was cleared before this line
	late.see(t, "three")
	late.ended(t)
	if s := m.Stats(); s.OutputBytes != 23 || s.Live != 0 || s.Remote != 0 {
		t.Fatalf("%+v", s)
	}
}

func TestNobodyTypesInARemoteTerminal(t *testing.T) {
	m := manager(t, Config{})
	f := createRemote(t, m, RemoteSpec{})
	term := f.Terminal()
	if err := term.Input([]byte("x")); !errors.Is(err, ErrRemote) {
		t.Errorf("Input: %v", err)
	}
	for _, program := range []bool{false, true} {
		p := lane(t, term, AttachOptions{Since: NoOffset, Writable: true, Program: program})
		p.SetWritable(true)
		p.drain(t, p.Viewer)
		if p.events[0].Kind != EventReady || p.events[0].Writable || p.count(EventWritable) != 0 {
			t.Errorf("told %+v", p.events)
		}
		for what, err := range map[string]error{"Input": p.Input([]byte("x")), "Answer": p.Answer([]byte("x")), "Clear": p.Viewer.Clear()} {
			if !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if n := m.Stats().InputBytes; n != 0 {
		t.Errorf("%d bytes were typed", n)
	}
}

// Only where it runs is it known how large it is, and whoever shows it there answers.
func TestViewersOfARemoteTerminalHaveNoSay(t *testing.T) {
	m := manager(t, Config{})
	f := createRemote(t, m, RemoteSpec{})
	term := f.Terminal()
	viewer := lane(t, term, AttachOptions{Since: NoOffset, Writable: true})
	agent := lane(t, term, AttachOptions{Since: NoOffset, Writable: true, Program: true})
	if err := term.Resize(Size{100, 30}); !errors.Is(err, ErrRemote) {
		t.Errorf("Resize: %v", err)
	}
	if size := term.Info().Size; size != defaultSize {
		t.Errorf("size %v", size)
	}
	f.prints(t, "a"+ask)
	for name, p := range map[string]*person{"the person": viewer, "the program": agent} {
		if got := p.told(t); got != "a"+maskedAsk {
			t.Errorf("%s got %q", name, got)
		}
	}
	if err := f.Resize(Size{1001, 1}); err == nil {
		t.Error("a size that is none is taken")
	}
	if err := f.Resize(Size{132, 50}); err != nil {
		t.Fatal(err)
	}
	viewer.drain(t, viewer.Viewer)
	if last := viewer.events[len(viewer.events)-1]; last.Kind != EventResize || last.Size != (Size{132, 50}) {
		t.Errorf("told %+v", last)
	}
	viewer.Close()
	if size := term.Info().Size; size != (Size{132, 50}) {
		t.Errorf("size %v after one left", size)
	}
}

// What comes is taken at once, however slowly it is read, and who is overtaken starts again near the end.
func TestRemoteTerminalNeverWaitsForViewers(t *testing.T) {
	m := manager(t, Config{LogBytes: MinLogBytes})
	f := createRemote(t, m, RemoteSpec{})
	slow := lane(t, f.Terminal(), AttachOptions{Since: NoOffset, Writable: true})
	ack(t, slow.Viewer, 0)
	line := strings.Repeat("x", 78) + "\r\n"
	f.prints(t, strings.Repeat(line, 4*MinLogBytes/len(line)))
	f.prints(t, "the end")
	slow.see(t, "the end")
	if s := m.Stats(); s.Pauses != 0 || s.Resyncs == 0 {
		t.Fatalf("%+v", s)
	}
}

func TestViewerOfARemoteTerminalGoesOn(t *testing.T) {
	m := manager(t, Config{})
	f := createRemote(t, m, RemoteSpec{})
	f.prints(t, "before ")
	_, head := f.Terminal().Bounds()
	f.prints(t, "after")
	p := &person{Viewer: f.Terminal().Attach(AttachOptions{Since: head})}
	defer p.Close()
	if got := p.told(t); got != "after" {
		t.Errorf("from an offset on: %q", got)
	}
	p = &person{Viewer: f.Terminal().Attach(AttachOptions{Since: 0, Floor: head})}
	defer p.Close()
	if got := p.told(t); got != "after" {
		t.Errorf("above a floor: %q", got)
	}
}

func TestRemoteTitles(t *testing.T) {
	m := manager(t, Config{})
	named, plain := createRemote(t, m, RemoteSpec{Name: "laptop"}), createRemote(t, m, RemoteSpec{})
	for _, step := range []struct {
		do           func()
		named, plain string
	}{
		{func() {}, "laptop", remoteTitle},
		{func() { named.prints(t, "\x1b]2;vim\x07"); plain.prints(t, "\x1b]2;vim\x07") }, "laptop", "vim"},
		{func() { named.Terminal().Rename(""); plain.Terminal().Rename("mine") }, "vim", "mine"},
	} {
		step.do()
		if n, p := named.Terminal().Info().Title, plain.Terminal().Info().Title; n != step.named || p != step.plain {
			t.Errorf("titles %q and %q, want %q and %q", n, p, step.named, step.plain)
		}
	}
}

func TestRemoteSpecIsChecked(t *testing.T) {
	m := manager(t, Config{})
	for field, spec := range map[string]RemoteSpec{
		"size":  {Size: Size{0, 24}},
		"name":  {Name: "\x1b[31m"},
		"cwd":   {Dir: "/tmp\n"},
		"cwd ":  {Dir: "/\xff"},
		"cwd  ": {Dir: "/" + strings.Repeat("x", maxDir)},
	} {
		_, err := m.CreateRemote(spec)
		var bad *SpecError
		if !errors.As(err, &bad) || bad.Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if n := m.Stats().Remote; n != 0 {
		t.Errorf("%d live", n)
	}
	createRemote(t, m, RemoteSpec{Dir: `C:\Users\somebody`, Name: strings.Repeat("x", maxName)})
}

// Remote terminals and the others do not take each other's places.
func TestRemoteTerminalsHaveALimitOfTheirOwn(t *testing.T) {
	m := manager(t, Config{MaxTerminals: 1})
	var feeds []*Feed
	for range DefaultMaxRemote {
		feeds = append(feeds, createRemote(t, m, RemoteSpec{}))
	}
	refused := func() {
		t.Helper()
		_, err := m.CreateRemote(RemoteSpec{})
		var limit *LimitError
		if !errors.As(err, &limit) || *limit != (LimitError{Limit: 10, Remote: true}) || !strings.Contains(err.Error(), "10") {
			t.Fatalf("got %v", err)
		}
	}
	refused()
	local := create(t, m, sh("cat"))
	var limit *LimitError
	if _, err := m.Create(sh("cat")); !errors.As(err, &limit) || limit.Remote {
		t.Fatalf("got %v", err)
	}
	if s := m.Stats(); s.Live != 1 || s.Remote != 10 {
		t.Fatalf("%+v", s)
	}
	if err := feeds[0].End(Exit{}); err != nil {
		t.Fatal(err)
	}
	createRemote(t, m, RemoteSpec{})
	refused()
	if err := m.Dispose(context.Background(), feeds[0].Terminal().ID()); err != nil { // it took no place any more
		t.Fatal(err)
	}
	refused()
	if err := m.Dispose(context.Background(), feeds[1].Terminal().ID()); err != nil {
		t.Fatal(err)
	}
	if err := m.Dispose(context.Background(), local.ID()); err != nil {
		t.Fatal(err)
	}
	createRemote(t, m, RemoteSpec{})
	refused()
	create(t, m, sh("cat"))

	small := manager(t, Config{MaxRemote: 1})
	createRemote(t, small, RemoteSpec{})
	if _, err := small.CreateRemote(RemoteSpec{}); !errors.As(err, &limit) || limit.Limit != 1 {
		t.Fatalf("got %v", err)
	}
}

// Of those that have ended the newest twenty stay, remote or not.
func TestEndedRemoteTerminalsAreForgottenLikeOthers(t *testing.T) {
	forgotten := make(chan *Terminal, 100)
	m := manager(t, Config{Forgotten: func(term *Terminal) { forgotten <- term }})
	first := createRemote(t, m, RemoteSpec{})
	if err := first.End(Exit{}); err != nil {
		t.Fatal(err)
	}
	for range keepExited - 1 {
		if err := createRemote(t, m, RemoteSpec{}).End(Exit{}); err != nil {
			t.Fatal(err)
		}
	}
	<-create(t, m, sh("true")).Done()
	if got := <-forgotten; got != first.Terminal() {
		t.Fatal("another one went")
	}
	eventually(t, "the oldest is gone", func() bool { return len(m.List()) == keepExited })
}

func TestManagerEndsRemoteTerminals(t *testing.T) {
	m := manager(t, Config{})
	f := createRemote(t, m, RemoteSpec{})
	p := attach(t, f.Terminal())
	tap := f.Terminal().Tap(func() {})
	defer tap.Close()
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Next(context.Background()); !errors.Is(err, ErrDisposed) {
		t.Fatalf("the viewer ends with %v", err)
	}
	tap.expect(t, "when closed", "exited 0 -1")
	if _, err := m.CreateRemote(RemoteSpec{}); !errors.Is(err, ErrClosed) {
		t.Fatalf("after Close: %v", err)
	}
}

// Whoever writes at the same time, every piece comes whole, and those of one in their order.
func TestRemoteTerminalIsFedByMany(t *testing.T) {
	const writers, pieces = 8, 200
	m := manager(t, Config{})
	f := createRemote(t, m, RemoteSpec{})
	term := f.Terminal()
	tap := term.Tap(func() {})
	defer tap.Close()
	p := attach(t, term)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range pieces {
				filler := strings.Repeat("é\x1b[1m\x1b]633;A\x07", (w*31+i*7)%40)
				f.prints(t, fmt.Sprintf("<%d %d %s>\r\n", w, i, filler))
				if i%50 == 0 {
					if err := f.Resize(Size{80 + w, 24 + i%3}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Go(func() {
		for range 100 {
			_ = term.Info()
			tap.Steps(nil)
			v := term.Attach(AttachOptions{Since: NoOffset, Writable: true})
			_ = v.Resize(Size{30, 10})
			v.Close()
		}
	})
	all.Wait()
	if err := f.End(Exit{}); err != nil {
		t.Fatal(err)
	}
	p.ended(t)
	next := [writers]int{}
	text := strings.ReplaceAll(term.text(t), "\x1b[1m", "")
	for _, line := range strings.Split(strings.TrimSuffix(text, "\r\n"), "\r\n") {
		var w, i int
		if n, err := fmt.Sscanf(line, "<%d %d", &w, &i); n != 2 || err != nil {
			t.Fatalf("a broken piece %q: %v", line, err)
		}
		want := fmt.Sprintf("<%d %d %s>", w, i, strings.Repeat("é", (w*31+i*7)%40))
		if i != next[w] || line != want {
			t.Fatalf("piece %q, want number %d: %q", line, next[w], want)
		}
		next[w]++
	}
	for w, n := range next {
		if n != pieces {
			t.Errorf("%d pieces of writer %d", n, w)
		}
	}
	if got := bytes.Count(p.log, []byte("<")); got != writers*pieces {
		t.Errorf("the viewer saw %d pieces", got)
	}
}

func TestRemoteTerminalIsDisposedOfWhileFed(t *testing.T) {
	for range 20 {
		m := manager(t, Config{LogBytes: MinLogBytes})
		f := createRemote(t, m, RemoteSpec{})
		tap := f.Terminal().Tap(func() {})
		v := f.Terminal().Attach(AttachOptions{Since: NoOffset})
		piece := bytes.Repeat([]byte("\x1b]0;title\x07 output\r\n"), 1000)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for {
					if _, err := f.Write(piece); err != nil {
						if !errors.Is(err, ErrExited) {
							t.Errorf("Write: %v", err)
						}
						return
					}
				}
			})
		}
		all.Go(func() {
			for {
				if _, err := v.Next(context.Background()); err != nil {
					if !errors.Is(err, ErrDisposed) {
						t.Errorf("Next: %v", err)
					}
					return
				}
			}
		})
		eventually(t, "output", func() bool { _, head := f.Terminal().Bounds(); return head > MinLogBytes })
		if err := m.Dispose(context.Background(), f.Terminal().ID()); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		steps := tap.Steps(nil)
		if last := steps[len(steps)-1]; last.Kind != StepExited || *last.Exit != (Exit{Code: LostCode}) {
			t.Fatalf("the last step is %v", last)
		}
		tap.Close()
		v.Close()
		if s := m.Stats(); s.Remote != 0 {
			t.Fatalf("%+v", s)
		}
		if err := m.Dispose(context.Background(), f.Terminal().ID()); !errors.Is(err, ErrNotFound) {
			t.Fatalf("again: %v", err)
		}
	}
}

// However its end comes, it comes once, and its place is free then.
func TestRemoteTerminalEndsOnce(t *testing.T) {
	m := manager(t, Config{MaxRemote: 1})
	for range 50 {
		f := createRemote(t, m, RemoteSpec{})
		var all sync.WaitGroup
		var mu sync.Mutex
		ends := 0
		for range 4 {
			all.Go(func() {
				if f.End(Exit{Code: 1}) == nil {
					mu.Lock()
					defer mu.Unlock()
					ends++
				}
			})
		}
		all.Go(func() { _ = m.Dispose(context.Background(), f.Terminal().ID()) })
		all.Wait()
		if ends > 1 || m.Stats().Remote != 0 {
			t.Fatalf("ended %d times; %+v", ends, m.Stats())
		}
		if info := f.Terminal().Info(); info.Exit == nil {
			t.Fatal("it has not ended")
		}
	}
}
