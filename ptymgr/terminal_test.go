package ptymgr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// manager returns a Manager whose terminals are gone when the test ends.
func manager(t testing.TB, cfg Config) *Manager {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	m := NewManager(cfg)
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Errorf("closing the manager: %v", err)
		}
	})
	return m
}

// sh is a spec that runs a script.
func sh(script string) Spec { return Spec{Command: "/bin/sh", Args: []string{"-c", script}} }

// bash is a spec for an interactive shell without anybody's start-up files.
func bash() Spec {
	return Spec{Command: "bash", Args: []string{"--norc", "--noprofile"}, Env: map[string]string{"PS1": "$ "}}
}

func create(t testing.TB, m *Manager, spec Spec) *Terminal {
	t.Helper()
	term, err := m.Create(spec)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// person is an acking viewer of a terminal with a screen to read.
type person struct {
	screen
	*Viewer
}

func attach(t testing.TB, term *Terminal) *person {
	p := &person{Viewer: term.Attach(AttachOptions{Since: NoOffset, Writable: true})}
	t.Cleanup(p.Close)
	return p
}

// see waits until text was printed since the last call.
func (p *person) see(t testing.TB, text string) {
	t.Helper()
	p.until(t, p.Viewer, fmt.Sprintf("%q", text), func() bool { return bytes.Contains(p.log, []byte(text)) })
	p.log = p.log[bytes.Index(p.log, []byte(text))+len(text):]
}

func (p *person) types(t testing.TB, text string) {
	t.Helper()
	if err := p.Input([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// ended waits for the exit.
func (p *person) ended(t testing.TB) Exit {
	t.Helper()
	p.until(t, p.Viewer, "the exit", func() bool { return p.count(EventExit) == 1 })
	return p.events[len(p.events)-1].Exit
}

func TestShellTakesInputAndExits(t *testing.T) {
	m := manager(t, Config{Shell: "/bin/bash", Dir: t.TempDir()})
	term := create(t, m, Spec{Env: map[string]string{"HOME": t.TempDir(), "GREETING": "hello"}})
	p := attach(t, term)
	p.types(t, "echo $GREETING-$TERM-$COLORTERM-$TERM_PROGRAM-$0-$TANDEM_TERMINAL; stty size; exit 3\n")
	p.see(t, "hello-xterm-256color-truecolor-tandem--bash-"+term.ID())
	p.see(t, "24 80")
	if exit := p.ended(t); exit != (Exit{Code: 3}) {
		t.Fatalf("exit %v", exit)
	}
	info := term.Info()
	if info.Exit == nil || info.Exit.Code != 3 || len(term.ID()) != 22 || !errors.Is(p.Input([]byte("x")), ErrExited) {
		t.Fatalf("%+v", info)
	}
}

func TestExitTellsTheSignal(t *testing.T) {
	m := manager(t, Config{})
	p := attach(t, create(t, m, sh("kill -TERM $$")))
	if exit := p.ended(t); exit != (Exit{Code: 143, Signal: "SIGTERM"}) {
		t.Fatalf("%+v", exit)
	}
}

func TestCommandRunsWithItsArgumentsDirectoryAndSize(t *testing.T) {
	m := manager(t, Config{})
	dir := t.TempDir()
	p := attach(t, create(t, m, Spec{
		Command: "sh", Args: []string{"-c", `echo "$1|$PWD"; stty size`, "sh", "two words"}, Dir: dir, Size: Size{100, 30},
	}))
	p.see(t, "two words|"+dir)
	p.see(t, "30 100")
	p.ended(t)
}

func TestSpecsThatCannotRunSayWhy(t *testing.T) {
	m := manager(t, Config{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for field, spec := range map[string]Spec{
		"shell":   {Shell: "/no/such/shell"},
		"command": {Command: "no-such-command"},
		"args":    {Args: []string{"x"}},
		"env":     {Env: map[string]string{"TANDEM_PASSWORD": "x"}},
		"cwd":     {Dir: file},
		"cwd ":    {Dir: "relative"},
		"size":    {Size: Size{1001, 24}},
		"size ":   {Size: Size{0, 24}},
		"name":    {Name: "\x1b[31m"},
		"name ":   {Name: strings.Repeat("x", 300)},
	} {
		_, err := m.Create(spec)
		var bad *SpecError
		if !errors.As(err, &bad) || bad.Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if live := m.Stats().Live; live != 0 {
		t.Fatalf("%d terminals live", live)
	}
}

func TestTheEleventhTerminalIsRefused(t *testing.T) {
	m := manager(t, Config{})
	var first *Terminal
	for i := range 10 {
		term := create(t, m, sh("cat"))
		if i == 0 {
			first = term
		}
	}
	var limit *LimitError
	if _, err := m.Create(sh("cat")); !errors.As(err, &limit) || limit.Limit != 10 {
		t.Fatalf("got %v", err)
	}
	if err := m.Dispose(context.Background(), first.ID()); err != nil {
		t.Fatal(err)
	}
	create(t, m, sh("cat"))
}

func TestTerminalsAreKeptFree(t *testing.T) {
	m := manager(t, Config{MaxTerminals: 4})
	sparing := sh("cat")
	sparing.KeepFree = 2
	first := create(t, m, sparing)
	create(t, m, sparing)
	refused := func() {
		t.Helper()
		var limit *LimitError
		if _, err := m.Create(sparing); !errors.As(err, &limit) || *limit != (LimitError{Limit: 4, KeepFree: 2}) || !strings.Contains(err.Error(), "limit of 4") {
			t.Fatalf("got %v", err)
		}
	}
	refused()
	create(t, m, sh("cat"))
	greedy := sh("cat")
	greedy.KeepFree = -5
	create(t, m, greedy)
	var limit *LimitError
	if _, err := m.Create(greedy); !errors.As(err, &limit) || *limit != (LimitError{Limit: 4}) {
		t.Fatalf("got %v", err)
	}
	if err := m.Dispose(context.Background(), first.ID()); err != nil {
		t.Fatal(err)
	}
	refused()
}

// However a terminal goes, that is told once, and the Manager can be asked meanwhile.
func TestForgottenTerminalsAreTold(t *testing.T) {
	var m *Manager
	var mu sync.Mutex
	told := map[*Terminal]int{}
	m = manager(t, Config{Forgotten: func(term *Terminal) {
		if _, found := m.Get(term.ID()); found {
			t.Errorf("%s is still there", term.ID())
		}
		m.Stats()
		term.Info()
		mu.Lock()
		defer mu.Unlock()
		told[term]++
	}})
	times := func(term *Terminal) int {
		mu.Lock()
		defer mu.Unlock()
		return told[term]
	}
	oldest := create(t, m, sh("true"))
	<-oldest.Done()
	for range keepExited - 1 {
		<-create(t, m, sh("true")).Done()
	}
	if len(m.List()) != keepExited || times(oldest) != 0 {
		t.Fatalf("%d terminals, told %d times", len(m.List()), times(oldest))
	}
	disposed, left := create(t, m, sh("cat")), create(t, m, sh("cat"))
	for range 2 {
		_ = m.Dispose(context.Background(), disposed.ID()) // the second time it is not found
	}
	<-create(t, m, sh("true")).Done()
	eventually(t, "the oldest is told", func() bool { return times(oldest) == 1 })
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if told[oldest] != 1 || told[disposed] != 1 || told[left] != 1 || len(told) != keepExited+3 {
		t.Fatalf("told %d, %d and %d times, of %d terminals", told[oldest], told[disposed], told[left], len(told))
	}
}

func TestExitedTerminalsDoNotCountAndTheNewestTwentyStay(t *testing.T) {
	m := manager(t, Config{MaxTerminals: 1})
	var ids []string
	for i := range keepExited + 3 {
		term := create(t, m, sh(fmt.Sprintf("echo number-%d", i)))
		ids = append(ids, term.ID())
		<-term.Done()
		eventually(t, "the slot is free", func() bool { return m.Stats().Live == 0 })
	}
	eventually(t, "the oldest are gone", func() bool { return len(m.List()) == keepExited })
	if _, ok := m.Get(ids[2]); ok {
		t.Fatal("an old one stayed")
	}
	term, ok := m.Get(ids[3])
	if !ok {
		t.Fatal("a new one is gone")
	}
	attach(t, term).see(t, "number-3")
}

func TestDisposeEndsViewersAndIsNotFoundAfterwards(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, bash())
	p := attach(t, term)
	p.see(t, "$ ")
	done := make(chan error)
	go func() {
		for {
			if _, err := p.Next(context.Background()); err != nil {
				done <- err
				return
			}
		}
	}()
	if err := m.Dispose(context.Background(), term.ID()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrDisposed) {
		t.Fatalf("viewer ended with %v", err)
	}
	if err := m.Dispose(context.Background(), term.ID()); !errors.Is(err, ErrNotFound) {
		t.Fatalf("second dispose: %v", err)
	}
}

func TestBackgroundJobsDieWithTheirTerminal(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, bash())
	p := attach(t, term)
	p.types(t, "sleep 1001 & setsid sleep 1002 & (trap '' HUP TERM; sleep 1003) & nohup sleep 1004 >/dev/null & echo started-$((1+1))\n")
	p.see(t, "started-2")
	eventually(t, "all jobs run", func() bool { return len(carriers(t, term.ID())) >= 5 })
	if err := m.Dispose(context.Background(), term.ID()); err != nil {
		t.Fatal(err)
	}
	if left := carriers(t, term.ID()); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
}

// carriers returns the command lines of the living processes with a terminal's id in their environment.
func carriers(t testing.TB, id string) (lines []string) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range dirs {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte("TANDEM_TERMINAL="+id)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			lines = append(lines, string(line))
		}
	}
	return lines
}

func TestExitIsTheLeadersExit(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, sh("(trap '' HUP; sleep 1000) & echo bye; exit 4"))
	p := attach(t, term)
	began := time.Now()
	if exit := p.ended(t); exit.Code != 4 {
		t.Fatalf("%+v", exit)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Fatalf("a background job that holds the pty delayed the exit by %v", took)
	}
}

func TestAllOutputBeforeTheExitArrives(t *testing.T) {
	m := manager(t, Config{})
	for range 20 {
		p := attach(t, create(t, m, sh("seq 1 20000; echo the-end")))
		p.ended(t)
		if !bytes.HasSuffix(p.log, []byte("20000\r\nthe-end\r\n")) {
			t.Fatalf("ends with %q", p.log[max(0, len(p.log)-40):])
		}
	}
}

func TestCloseUnblocksReadAndWrite(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	ptmx, err := startPty(cmd, defaultSize)
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	ended := make(chan error, 2)
	go func() { _, err := io.Copy(io.Discard, struct{ io.Reader }{ptmx}); ended <- err }()
	go func() { _, err := ptmx.Write(make([]byte, 1<<20)); ended <- err }()
	time.Sleep(50 * time.Millisecond) // both are blocked by now, or this proves a little less
	if err := ptmx.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		select {
		case err := <-ended:
			if !errors.Is(err, os.ErrClosed) {
				t.Fatalf("ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("still blocked")
		}
	}
}

func TestRawCatWithUnreadOutputTakesAPasteAndCtrlC(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, sh("stty raw isig -echo; echo ready; exec cat"))
	p := attach(t, term)
	p.see(t, "ready")
	if err := p.Ack(p.offset); err != nil {
		t.Fatal(err)
	}
	paste := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for piece := range slices.Chunk(paste, 65_535) {
		p.types(t, string(piece)) // the output stays unread, and yet none of this blocks
	}
	p.types(t, "\x03")
	p.log = nil
	p.until(t, p.Viewer, "the exit", func() bool {
		if err := p.Ack(p.offset); err != nil {
			t.Fatal(err)
		}
		return p.count(EventExit) == 1
	})
	if exit := p.events[len(p.events)-1].Exit; exit.Signal != "SIGINT" {
		t.Fatalf("%+v", exit)
	}
	if got := bytes.TrimLeft(p.log, "\r\n"); !bytes.HasPrefix(paste, got) {
		t.Fatalf("%d bytes of the paste came back altered", len(got))
	}
}

func TestFullInputQueueRefusesWholeMessages(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, sh("stty raw -echo; echo ready; sleep 1000"))
	attach(t, term).see(t, "ready")
	message := make([]byte, 1<<20)
	var err error
	taken := 0
	for ; taken < 20 && err == nil; taken++ {
		err = term.Input(message)
	}
	if !errors.Is(err, ErrInputFull) || taken != 8+1 {
		t.Fatalf("message %d: %v", taken, err)
	}
	if in := m.Stats().InputBytes; in != 8<<20 {
		t.Fatalf("%d bytes count as taken", in)
	}
}

func TestCtrlCWorksAtOnceInAFlood(t *testing.T) {
	m := manager(t, Config{})
	p := attach(t, create(t, m, bash()))
	p.see(t, "$ ")
	p.types(t, "yes\n")
	p.until(t, p.Viewer, "a flood", func() bool {
		if err := p.Ack(p.offset); err != nil {
			t.Fatal(err)
		}
		return p.offset > 4<<20
	})
	p.types(t, "\x03")
	at := p.offset
	p.log = nil
	p.until(t, p.Viewer, "the prompt", func() bool {
		if err := p.Ack(p.offset); err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(p.log, []byte("$ "))
	})
	if late := p.offset - at; late > 4*highWater {
		t.Fatalf("%d bytes after Ctrl-C", late)
	}
}

func TestServerAnswersQueriesWhenNobodyElseDoes(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, sh(`stty raw -echo
		ask() { printf "\033[$1"; dd bs=1 count=$2 2>/dev/null | od -An -c | tr -d ' \n'; }
		ask c 7; echo; ask '>c' 11; echo; ask 5n 4; echo`))
	eventually(t, "the exit", term.hasExited)
	p := attach(t, term)
	p.ended(t)
	want := "\x18\x00\x00033[?1;2c\n" + "\x18\x00\x00\x00033[>0;276;0c\n" + "\x18\x00\x00\x00033[0n\n"
	if string(p.log) != want {
		t.Fatalf("got %q, want %q", p.log, want)
	}
}

func TestTitleIsTheProgramsElseTheForegroundProcess(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, bash())
	p := attach(t, term)
	titled := func(want string) {
		t.Helper()
		p.until(t, p.Viewer, "title "+want, func() bool { return p.toldTitle == want })
		if got := term.Info().Title; got != want {
			t.Fatalf("listed as %q", got)
		}
	}
	titled("bash")
	p.types(t, "sleep 1000\n")
	titled("sleep")
	if info := term.Info(); !info.Busy || info.Foreground != "sleep" {
		t.Fatalf("%+v", info)
	}
	p.types(t, "\x03")
	titled("bash")
	if term.Info().Busy {
		t.Fatal("an idle shell is busy")
	}
	p.types(t, "printf '\\033]0;mine\\007'; cd /usr\n")
	titled("mine")
	eventually(t, "the directory", func() bool { return term.Info().Dir == "/usr" })
	term.Rename("yours")
	titled("yours")
	p.types(t, "printf '\\033]2;other\\007'\n")
	p.types(t, "echo seen-$((1+1))\n")
	p.see(t, "seen-2")
	titled("yours")
	term.Rename("")
	titled("other")
}

func TestSizeIsTheSmallestOfThoseWhoShowIt(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, bash())
	desk, phone := attach(t, term), attach(t, term)
	is := func(want Size) {
		t.Helper()
		if got := term.Info().Size; got != want {
			t.Fatalf("size %v, want %v", got, want)
		}
		for told := ""; told != fmt.Sprintf("%d %d", want.Rows, want.Cols); { // the pty has it a moment later
			desk.types(t, "stty size; echo told\n")
			desk.see(t, "stty size; echo told\r\n")
			desk.until(t, desk.Viewer, "a size", func() bool { return bytes.Contains(desk.log, []byte("told\r\n")) })
			told = string(regexp.MustCompile(`\d+ \d+`).Find(desk.log))
			desk.see(t, "told\r\n")
		}
	}
	desk.see(t, "$ ")
	is(Size{80, 24}) // nobody has said a size
	resize := func(p *person, size Size) {
		t.Helper()
		if err := p.Resize(size); err != nil {
			t.Fatal(err)
		}
	}
	resize(desk, Size{120, 40})
	is(Size{120, 40})
	resize(phone, Size{40, 60})
	is(Size{40, 40})
	phone.SetVisible(false)
	is(Size{120, 40})
	desk.SetVisible(false)
	is(Size{120, 40}) // frozen while nobody shows it
	phone.SetVisible(true)
	is(Size{40, 60})
	phone.Close()
	is(Size{40, 60})
	if desk.Resize(Size{0, 10}) == nil || desk.Resize(Size{10, 1001}) == nil {
		t.Fatal("a size out of range was taken")
	}
}

func TestLongGoneAlternateScreenIsDrawnAgain(t *testing.T) {
	m := manager(t, Config{LogBytes: MinLogBytes})
	// A full-screen program that draws its screen on SIGWINCH alone.
	term := create(t, m, Spec{Command: "bash", Args: []string{"--norc", "-c",
		`trap 'printf "\033[H\033[2Jdrawn at %s\n" "$(stty size)"' WINCH; printf '\033[?1049h\033[?25lonce'
		 yes 'nothing to see here' | head -c 3000000; echo; echo flooded; while :; do sleep 0.2; done`}})
	first := term.Attach(AttachOptions{Since: NoOffset})
	var s screen
	s.until(t, first, "the flood", func() bool { return bytes.Contains(s.log, []byte("flooded")) })
	first.Close()
	p := attach(t, term)
	p.see(t, "drawn at 23 80")
	p.see(t, "drawn at 24 80")
	preamble := p.events[2]
	if p.events[1].Kind != EventReset || !p.events[1].Replay || !bytes.Contains(preamble.Data, []byte("\x1b[?1047h")) ||
		!bytes.Contains(preamble.Data, []byte("\x1b[?25l")) {
		t.Fatalf("replay begins with %q", preamble.Data)
	}
}

func TestAttachAndDetachLeakNothing(t *testing.T) {
	m := manager(t, Config{LogBytes: MinLogBytes})
	term := create(t, m, sh("while :; do seq 1 1000; sleep 0.01; done"))
	cycle := func() {
		p := &person{Viewer: term.Attach(AttachOptions{Since: NoOffset, Writable: true})}
		p.until(t, p.Viewer, "some output", func() bool { return len(p.log) > 0 })
		p.Close()
	}
	for range 100 {
		cycle()
	}
	measure := func() (fds, goroutines int, heap uint64) {
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine(), mem.HeapAlloc
	}
	fds, goroutines, heap := measure()
	for range 1000 {
		cycle()
	}
	fds2, goroutines2, heap2 := measure()
	if fds2 > fds || goroutines2 > goroutines || heap2 > heap+2*MinLogBytes {
		t.Fatalf("1000 cycles: %d → %d fds, %d → %d goroutines, %d → %d bytes of heap", fds, fds2, goroutines, goroutines2, heap, heap2)
	}
	if n := m.Stats().Viewers; n != 0 {
		t.Fatalf("%d viewers", n)
	}
}

func TestManagerCloseEndsEverything(t *testing.T) {
	m := NewManager(Config{Logger: slog.New(slog.DiscardHandler)})
	var ids []string
	for range 5 {
		ids = append(ids, create(t, m, sh("trap '' HUP TERM; sleep 1000 & wait; sleep 1000")).ID())
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if left := carriers(t, id); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	}
	if _, err := m.Create(sh("true")); !errors.Is(err, ErrClosed) {
		t.Fatalf("create after close: %v", err)
	}
}

// A build that ran for hours is not forgotten at its end because others, begun later, ended before it.
func TestTheNewestExitsStay(t *testing.T) {
	m := manager(t, Config{})
	build := create(t, m, sh("read line; echo built"))
	p := attach(t, build)
	for range keepExited {
		<-create(t, m, sh("true")).Done()
		eventually(t, "the slot is free", func() bool { return m.Stats().Live == 1 })
	}
	p.types(t, "go\n")
	p.ended(t)
	eventually(t, "one is gone", func() bool { return len(m.List()) == keepExited })
	if _, ok := m.Get(build.ID()); !ok {
		t.Fatal("the one that ended last was disposed of")
	}
}

func TestManagerCloseWaitsForADisposalUnderWay(t *testing.T) {
	m := NewManager(Config{Logger: slog.New(slog.DiscardHandler)})
	term := create(t, m, sh("trap '' HUP TERM; echo ready; while :; do sleep 1000; done"))
	attach(t, term).see(t, "ready")
	disposed := make(chan error)
	go func() { disposed <- m.Dispose(context.Background(), term.ID()) }()
	eventually(t, "the disposal", func() bool { return len(m.List()) == 0 })
	if err := m.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if left := carriers(t, term.ID()); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := <-disposed; err != nil {
		t.Error(err)
	}
}

func TestManagerCloseWaitsForATerminalBeingStarted(t *testing.T) {
	m := NewManager(Config{Logger: slog.New(slog.DiscardHandler)})
	live := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.live
	}
	created := make(chan error)
	go func() {
		_, err := m.Create(sh("sleep 1000"))
		created <- err
	}()
	for live() == 0 {
		runtime.Gosched()
	}
	if err := m.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if n := live(); n != 0 {
		t.Errorf("%d terminals live after Close", n)
	}
	if err := <-created; err != nil && !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// What a program says of itself last counts, however soon it ends; what says nothing has the name of its command.
func TestTitleAndDirectoryOutliveTheExit(t *testing.T) {
	m := manager(t, Config{})
	dir := t.TempDir()
	for script, want := range map[string]struct{ title, dir string }{
		`true`: {"sh", dir},
		`printf '\033]0;working\007'; sleep 0.02; printf '\033]0;done\007\033]7;file:///usr\007'`: {"done", "/usr"},
	} {
		spec := sh(script)
		spec.Dir = dir
		term := create(t, m, spec)
		p := attach(t, term)
		p.ended(t)
		if info := term.Info(); info.Title != want.title || info.Dir != want.dir {
			t.Errorf("%s: listed as %q in %q", script, info.Title, info.Dir)
		}
		if p.toldTitle != want.title || p.toldDir != want.dir {
			t.Errorf("%s: viewers were told %q in %q", script, p.toldTitle, p.toldDir)
		}
	}
}

// A program may close its terminal and open it again: between, reading it fails.
func TestTerminalThatIsOpenedAgainGoesOn(t *testing.T) {
	m := manager(t, Config{})
	lock := filepath.Join(t.TempDir(), "again")
	p := attach(t, create(t, m, sh(`echo before; exec </dev/null >/dev/null 2>&1; until [ -e `+lock+` ]; do sleep 0.01; done
		exec </dev/tty >/dev/tty; echo after; read line; echo "got $line"; exit 5`)))
	p.see(t, "before")
	time.Sleep(100 * time.Millisecond) // it is closed by now, or this proves a little less
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.see(t, "after")
	p.types(t, "line\n")
	p.see(t, "got line")
	if exit := p.ended(t); exit.Code != 5 {
		t.Fatalf("%+v", exit)
	}
}
