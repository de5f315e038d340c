package ptymgr

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// String shows what a step says, for comparisons.
func (s Step) String() string {
	switch s.Kind {
	case StepOutput:
		return fmt.Sprintf("output %d-%d", s.From, s.To)
	case StepResized:
		return fmt.Sprintf("resized %d %d×%d", s.From, s.Size.Cols, s.Size.Rows)
	case StepCleared:
		return fmt.Sprintf("cleared %d %d", s.From, s.To)
	case StepTitled:
		return fmt.Sprintf("titled %d %s", s.From, s.Title)
	case StepMoved:
		return fmt.Sprintf("moved %d %s", s.From, s.Dir)
	case StepExited:
		return fmt.Sprintf("exited %d %d", s.From, s.Exit.Code)
	case StepCommandDetection:
		return fmt.Sprintf("detects %d", s.From)
	default:
		return fmt.Sprintf("%d %v", s.From, s.Command)
	}
}

// expect compares the steps since the last call.
func (tap *Tap) expect(t *testing.T, when, want string) {
	t.Helper()
	var got []string
	for _, step := range tap.Steps(nil) {
		got = append(got, step.String())
	}
	if list := strings.Join(got, ", "); list != want {
		t.Fatalf("%s: steps are %s; want %s", when, list, want)
	}
}

func (t *Terminal) showTitle(title, dir string) {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	t.show(title, dir)
}

func resize(t *testing.T, term *Terminal, cols, rows int) {
	t.Helper()
	if err := term.Resize(Size{cols, rows}); err != nil {
		t.Fatal(err)
	}
}

func TestStepsAreInTheOrderOfTheLog(t *testing.T) {
	term := bench(MinLogBytes)
	term.feed([]byte("before\r\n"), 10)
	tap := term.Tap(func() {})
	defer tap.Close()
	if tap.From() != 8 {
		t.Fatalf("starts at %d", tap.From())
	}
	tap.expect(t, "at first", "")
	resize(t, term, 100, 30)
	term.feed([]byte("one\r\n$ "), 3)
	resize(t, term, 90, 20)
	resize(t, term, 91, 21) // nothing was printed at the size before
	term.Clear()
	term.feed([]byte("two"), 3)
	term.Rename("mine")
	term.feed([]byte("three"), 3)
	term.Clear()
	term.showTitle("theirs", "/tmp")
	tap.expect(t, "after all that", "resized 8 100×30, output 8-15, resized 15 91×21, cleared 15 13, output 15-23, cleared 23 13, titled 23 mine, moved 23 /tmp")
	tap.expect(t, "again", "")
	term.feed([]byte("\x1b[6"), 3)
	tap.expect(t, "with half a sequence", "")
	term.Rename("")
	term.feed([]byte("n."), 3)
	term.seal(Exit{Code: 3})
	tap.expect(t, "at the end", "output 23-28, titled 28 theirs, exited 28 3")
	term.Rename("late")
	term.Clear()
	tap.expect(t, "after the end", "cleared 28 13, titled 28 late")
	tap.Close()
	term.Rename("later")
	tap.expect(t, "when it is closed", "")
	late := term.Tap(func() {})
	defer late.Close()
	late.expect(t, "of a terminal that has exited", "exited 28 3")
}

func TestTapIsToldOnceUntilItLooks(t *testing.T) {
	term := bench(MinLogBytes)
	told := 0
	tap := term.Tap(func() { told++ })
	defer tap.Close()
	look := func(what string, want int) {
		t.Helper()
		if told != want {
			t.Fatalf("%s: told %d times, want %d", what, told, want)
		}
		told = 0
		tap.Steps(nil)
	}
	term.feed([]byte("a"), 1)
	look("output that is not wanted", 0)
	resize(t, term, 100, 30)
	resize(t, term, 101, 30)
	look("two sizes", 1)
	term.feed([]byte("b"), 1)
	tap.WantOutput(true)
	look("output that came before it was wanted", 1)
	tap.WantOutput(true)
	look("wanting again", 0)
	term.feed([]byte("\x1b["), 1)
	look("what is held back", 0)
	term.feed([]byte("mcd"), 1)
	term.Clear()
	term.Rename("x")
	look("much at once", 1)
	tap.WantOutput(false)
	term.feed([]byte("e"), 1)
	look("output not wanted any more", 0)
	term.Rename("x")
	term.seal(Exit{})
	look("the exit", 1)
	tap.Close()
	tap.Close()
	term.Rename("y")
	tap.WantOutput(true)
	look("a closed one", 0)
	late := term.Tap(func() { told++ })
	defer late.Close()
	if told != 1 {
		t.Fatalf("told %d times of an exit before", told)
	}
}

// A Tap nobody looks at costs a bounded list, holds nothing of the log and nobody up.
func TestTapHoldsNothing(t *testing.T) {
	term := bench(MinLogBytes)
	tap := term.Tap(func() {})
	defer tap.Close()
	term.Clear()
	for i := range 3 * maxRecords {
		resize(t, term, 10+i%2, 10)
		term.feed([]byte("line\r\n"), 10)
	}
	term.feed(lines(0, 200_000), 4000)
	tail, head := term.Bounds()
	if tail == 0 || len(term.log.segs) > MinLogBytes/segmentBytes || cap(tap.records) > 2*maxRecords {
		t.Fatalf("tail %d, %d segments, room for %d records", tail, len(term.log.segs), cap(tap.records))
	}
	steps := tap.Steps(nil)
	if kinds := slices.IndexFunc(steps, func(s Step) bool { return s.Kind == StepCleared }); kinds != 0 {
		t.Fatalf("the clear is step %d: newer sizes took its place", kinds)
	}
	pos, sizes := int64(0), 0
	for _, step := range steps {
		if step.From != pos {
			t.Fatalf("%v at offset %d", step, pos)
		}
		switch step.Kind {
		case StepOutput:
			pos = step.To
		case StepResized:
			sizes++
		}
	}
	if pos != head || sizes != maxRecords-1 {
		t.Fatalf("steps to %d of %d with %d sizes", pos, head, sizes)
	}
}

// A real flood with sizes, clears and titles from several sides: nothing is lost, doubled or out of order.
func TestTapUnderAFlood(t *testing.T) {
	m := manager(t, Config{LogBytes: MinLogBytes})
	over := make(chan struct{})
	term := create(t, m, sh(`read go; i=0; while [ $i -lt 40 ]; do printf '\033]2;title %d\a' $i; head -c 300000 /dev/zero | tr '\0' y; echo; i=$((i+1)); done; printf last; exit 7`))
	var told, looked atomic.Int64
	wake := make(chan struct{}, 1)
	tap := term.Tap(func() {
		if told.Add(1) > looked.Load()+1 {
			t.Error("told twice between two looks")
		}
		signal(wake)
	})
	defer tap.Close()
	tap.WantOutput(true)
	if err := term.Input([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	var disturbers sync.WaitGroup
	for i := range 2 {
		disturbers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				case <-time.After(time.Millisecond):
				}
				if i == 0 {
					term.Clear()
				} else if err := term.Resize(Size{50 + n%50, 24}); err != nil && err != ErrExited {
					t.Error(err)
				}
			}
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var seen struct{ outputs, sizes, clears, titles, exits int }
	pos, floor := tap.From(), int64(0)
	var size Size
	var title string
	var steps []Step
	for seen.exits == 0 {
		select {
		case <-wake:
		case <-ctx.Done():
			t.Fatalf("no exit: %+v", seen)
		}
		looked.Store(told.Load())
		steps = tap.Steps(steps[:0])
		for _, step := range steps {
			if step.From != pos || seen.exits > 0 && step.Kind == StepOutput {
				t.Fatalf("%v at offset %d, exits %d", step, pos, seen.exits)
			}
			switch step.Kind {
			case StepOutput:
				seen.outputs++
				if step.To <= step.From {
					t.Fatalf("empty %v", step)
				}
				pos = step.To
			case StepResized:
				seen.sizes++
				size = step.Size
			case StepCleared:
				seen.clears++
				if step.To < floor || step.To > pos {
					t.Fatalf("%v after a floor of %d", step, floor)
				}
				floor = step.To
			case StepTitled:
				seen.titles++
				title = step.Title
			case StepExited:
				seen.exits++
				if step.Exit.Code != 7 {
					t.Fatalf("%v", step)
				}
			}
		}
	}
	close(over)
	disturbers.Wait()
	_, head := term.Bounds()
	if pos != head || title != "title 39" || seen.sizes < 2 || seen.clears < 2 || seen.titles < 2 {
		t.Fatalf("at %d of %d, title %q, %+v", pos, head, title, seen)
	}
	text, err := term.Text(nil, head-4, head)
	if err != nil || string(text) != "last" {
		t.Fatalf("the last output is %q, %v", text, err)
	}
	if now := term.Info().Size; now != size {
		t.Fatalf("the size is %v, the last step said %v", now, size)
	}
}
