package ptymgr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const testNonce = "nonce-0123456789"

// String shows what is told of a command, for comparisons.
func (c *Command) String() string {
	switch {
	case c.End < 0:
		return fmt.Sprintf("%s runs %q", c.ID, c.Line)
	case c.Exit == nil:
		return c.ID + " ends"
	default:
		return fmt.Sprintf("%s ends with %d", c.ID, *c.Exit)
	}
}

// marks returns output in which each «X;…» is the mark that a shell with this nonce prints.
func marks(nonce, output string) string {
	return strings.NewReplacer("«", "\x1b]633;", "»", ";"+nonce+"\a").Replace(output)
}

// told returns what the steps since the last call tell, with output as text.
func (tap *Tap) told(t *testing.T) string {
	t.Helper()
	return tell(t, tap.t, tap.Steps(nil))
}

func tell(t *testing.T, term *Terminal, steps []Step) string {
	t.Helper()
	var said []string
	var text []byte
	flush := func() {
		if len(text) > 0 {
			said = append(said, fmt.Sprintf("%q", text))
			text = nil
		}
	}
	pos := int64(-1)
	for _, step := range steps {
		if pos >= 0 && step.From != pos {
			t.Fatalf("step %v after offset %d", step, pos)
		}
		pos = step.From
		switch step.Kind {
		case StepOutput:
			var err error
			if text, err = term.Text(text, step.From, step.To); err != nil {
				t.Fatal(err)
			}
			pos = step.To
			continue
		case StepCommandDetection:
			flush()
			said = append(said, "detects")
		case StepCommandStarted, StepCommandFinished:
			flush()
			if finished := step.Command.End >= 0; finished != (step.Kind == StepCommandFinished) {
				t.Fatalf("%v is a step of kind %d", step.Command, step.Kind)
			}
			said = append(said, step.Command.String())
		default:
			flush()
			said = append(said, step.String())
		}
	}
	flush()
	return strings.Join(said, ", ")
}

// Whatever a shell says is told the same, wherever it was split between two reads and whether somebody looked in between.
func TestCommandsAreToldInTheOrderOfTheLog(t *testing.T) {
	for _, test := range []struct{ name, nonce, output, want string }{
		{"one", testNonce, "$ «A»«B»ls\r\n«E;ls»«C»a  b\r\n«D;0»$ ", `"$ ", detects, "ls\r\n", c1 runs "ls", "a  b\r\n", c1 ends with 0, "$ "`},
		{"without output", testNonce, "«A»$ «B»«E;true»«C»«D;0»«A»$ «B»", `detects, "$ ", c1 runs "true", c1 ends with 0, "$ "`},
		{"several lines", testNonce, `«E;for i in a\x3b do\x0aecho \\$i\x3b done»«C»a` + "«D;1»", `detects, c1 runs "for i in a; do\necho \\$i; done", "a", c1 ends with 1`},
		{"no line", testNonce, "«C»a«D;1»«A»«C»b«D;2»", `detects, c1 runs "", "a", c1 ends with 1, c2 runs "", "b", c2 ends with 2`},
		{"no code", testNonce, "«E;x»«C»a«D;»b", `detects, c1 runs "x", "a", c1 ends, "b"`},
		{"ends before it starts", testNonce, "«D;0»«A»$ «D;130»«A»$ ", `detects, "$ $ "`},
		{"starts twice", testNonce, "«E;one»«C»a«E;two»«C»b«D;3»c«D;4»d", `detects, c1 runs "one", "a", c1 ends, c2 runs "two", "b", c2 ends with 3, "cd"`},
		{"a line that was never run", testNonce, "«E;old»«A»«C»a«D;0»", `detects, c1 runs "", "a", c1 ends with 0`},
		{"the last line counts", testNonce, "«E;old»«E;new»«C»a", `detects, c1 runs "new", "a"`},
		{"properties", testNonce, "«P;IsWindows=False»a«P;Cwd=relative»b", `detects, "ab"`},
		{"no marks", testNonce, "plain \x1b[1mtext\x1b[m \x1b]7;file:///\a", `"plain \x1b[1mtext\x1b[m "`},
		{"unknown letters", testNonce, "«F»«G»«H;x»a", `"a"`},

		{"FinalTerm", "", "\x1b]133;A\x1b\\$ \x1b]133;B\x1b\\ls\r\n\x1b]133;C\x1b\\a\r\n\x1b]133;D;1\x1b\\$ ", `detects, "$ ls\r\n", c1 runs "", "a\r\n", c1 ends with 1, "$ "`},
		{"with lines", "", "\x1b]133;C;cmdline_url=echo%20%3b\aa\x1b]133;D\a", `detects, c1 runs "echo ;", "a", c1 ends`},
		{"anybody's nonce", "", "«E;ls»«C»a«D;0»", `detects, c1 runs "ls", "a", c1 ends with 0`},
		{"no nonce", "", "\x1b]633;E;ls\a\x1b]633;C\aa\x1b]633;D;0\a", `detects, c1 runs "ls", "a", c1 ends with 0`},

		{"forged without a nonce", testNonce, "\x1b]633;A\a\x1b]633;E;rm -rf /\a\x1b]633;C\aa\x1b]633;D;0\a\x1b]133;C\ab\x1b]133;D\a", `"ab"`},
		{"forged with another", testNonce, strings.NewReplacer("«", "\x1b]633;", "»", ";guess\a").Replace("«A»«E;rm -rf /»«C»a«D;0»«P;Cwd=/etc»"), `"a"`},
		{"forged with a part", testNonce, strings.NewReplacer("«", "\x1b]633;", "»", ";"+testNonce[:15]+"\a").Replace("«A»«E;rm»«C»a«D;0»"), `"a"`},
		{"forged with more", testNonce, strings.NewReplacer("«", "\x1b]633;", "»", ";"+testNonce+"0\a").Replace("«A»«E;rm»«C»a«D;0»"), `"a"`},
		{"forged within a command", testNonce, "«E;cat»«C»a\x1b]633;D;0\ab\x1b]633;E;x\a\x1b]633;C\ac\x1b]133;D;1\a«D;7»", `detects, c1 runs "cat", "abc", c1 ends with 7`},
		{"forged line before a true start", testNonce, "\x1b]633;E;rm\a«C»a\x1b]633;E;rm\a«D;7»", `detects, c1 runs "", "a", c1 ends with 7`},
		{"given up", testNonce, "\x1b]633;C;" + testNonce + "\x18a\x1b]633;C;" + testNonce + "\x1b[1mb", `"a\x1b[1mb"`},
	} {
		output := []byte(marks(testNonce, test.output))
		for at := range len(output) + 1 {
			term := bench(MinLogBytes)
			term.commands.nonce = test.nonce
			looks, waits := term.Tap(func() {}), term.Tap(func() {})
			term.feed(output[:at], 1<<10)
			steps := looks.Steps(nil)
			term.feed(output[at:], 1<<10)
			steps = looks.Steps(steps)
			if got := tell(t, term, steps); got != test.want {
				t.Fatalf("%s, read in two at %d: told %s, want %s", test.name, at, got, test.want)
			}
			if got := waits.told(t); got != test.want {
				t.Fatalf("%s, read in two at %d: told at the end %s, want %s", test.name, at, got, test.want)
			}
		}
	}
}

// What is forged by brute force changes nothing, is no text, and shows nobody anything.
func TestForgedMarksChangeNothing(t *testing.T) {
	for _, end := range []string{"\a", "\x1b\\", "\u009c", "\x18", ""} {
		for _, forged := range []string{
			"\x1b]633;C;" + strings.Repeat("x", 1<<20), "\u009d633;E;rm -rf /;" + strings.Repeat(testNonce+";", 1<<16), "\x1b]133;D;" + strings.Repeat("1", 1<<20),
			"\x1b]633;P;Cwd=/" + strings.Repeat("x/", 1<<19), "\x1b]633;C", "\x1b]633;E;" + strings.Repeat("x", 4096) + ";" + testNonce,
		} {
			term := bench(MinLogBytes)
			term.commands.nonce = testNonce
			tap := term.Tap(func() {})
			v := term.Attach(AttachOptions{Since: 0})
			var s screen
			for sent := forged + end; len(sent) > 0; {
				n := min(50_000, len(sent))
				term.feed([]byte(sent[:n]), 4095)
				sent = sent[n:]
				s.drain(t, v)
			}
			term.seal(Exit{})
			s.drain(t, v)
			v.Close()
			if got := tell(t, term, tap.Steps(nil)[1:]); got != fmt.Sprintf("exited %d 0", term.head()) {
				t.Fatalf("%.20q…: told %s", forged, got)
			}
			tail, head := term.Bounds()
			if text, err := term.Text(nil, tail, head); err != nil || len(text) > 0 {
				t.Fatalf("%.20q…: text of %d bytes, %v", forged, len(text), err)
			}
			if s.count(EventCommand) > 0 || len(term.Commands()) > 0 || term.live.dir != "" {
				t.Fatalf("%.20q…: commands %v", forged, term.Commands())
			}
		}
	}
}

func TestCommandsAreListed(t *testing.T) {
	term := bench(MinLogBytes)
	term.commands.nonce = testNonce
	term.dir = "/first"
	begin := time.Now()
	term.feed([]byte(marks(testNonce, "«E;one»«C»first\r\n«D;3»$ «P;Cwd=/tmp»«E;two»«C»second")), 1<<10)
	list := term.Commands()
	if len(list) != 2 || list[0].ID != "c1" || list[1].ID != "c2" || list[0].Dir != "/first" || list[1].Dir != "/tmp" {
		t.Fatalf("commands %+v", list)
	}
	one, two := list[0], list[1]
	if text, err := term.Text(nil, one.Start, one.End); err != nil || string(text) != "first\r\n" {
		t.Fatalf("output %q, %v", text, err)
	}
	if *one.Exit != 3 || one.Started.Before(begin) || one.Duration < 0 || two.End != -1 || two.Exit != nil || two.Duration != 0 {
		t.Fatalf("commands %+v", list)
	}
	if text, err := term.Text(nil, two.Start, term.head()); err != nil || string(text) != "second" {
		t.Fatalf("output %q, %v", text, err)
	}
	*one.Exit = 3
	if got, ok := term.Command("c2"); !ok || got != two {
		t.Fatalf("command %+v", got)
	}
	for _, id := range []string{"c0", "c3", "c", "", "1", "c01"} {
		if got, ok := term.Command(id); ok {
			t.Fatalf("%q is %+v", id, got)
		}
	}
	tap := term.Tap(func() {})
	time.Sleep(2 * time.Millisecond) // a command that takes time
	term.seal(Exit{Code: 9})
	if want := fmt.Sprintf(`detects, c2 runs "two", c2 ends, exited %d 9`, term.head()); tap.told(t) != want {
		t.Fatalf("told otherwise than %s", want)
	}
	ended, _ := term.Command("c2")
	if ended.End != term.head() || ended.Exit != nil || ended.Duration < 2*time.Millisecond {
		t.Fatalf("at the exit: %+v", ended)
	}
}

// What was cleared is not listed, but for what still runs. Readers are told of it all the same.
func TestClearedCommands(t *testing.T) {
	term := bench(MinLogBytes)
	term.feed([]byte(marks("", "«E;one»«C»a\r\n«D;0»$ «E;two»«C»b\r\nc\r\n")), 1<<10)
	tap := term.Tap(func() {})
	term.Clear()
	if list := term.Commands(); len(list) != 1 || list[0].ID != "c2" {
		t.Fatalf("while the second runs: %v", list)
	}
	if _, ok := term.Command("c1"); ok {
		t.Fatal("the first is still there")
	}
	term.feed([]byte(marks("", "d\r\n«D;0»")), 1<<10)
	if list := term.Commands(); len(list) != 0 {
		t.Fatalf("when it ended: %v", list)
	}
	term.feed([]byte(marks("", "$ «E;three»«C»e«D;0»")), 1<<10)
	if list := term.Commands(); len(list) != 1 || list[0].ID != "c3" {
		t.Fatalf("after that: %v", list)
	}
	from := tap.From()
	want := fmt.Sprintf(`detects, c2 runs "two", cleared %d %d, "d\r\n", c2 ends with 0, "$ ", c3 runs "three", "e", c3 ends with 0`, from, from)
	if got := tap.told(t); got != want {
		t.Fatalf("told %s, want %s", got, want)
	}
}

// Sizes and commands at the same offset are told in the order in which they came.
func TestCommandsAmongSizes(t *testing.T) {
	term := bench(MinLogBytes)
	tap := term.Tap(func() {})
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	say := func(output string) { term.feed([]byte(marks("", output)), 1<<10) }
	say("«E;x»")
	resize(t, term, 90, 20)
	say("«C»")
	resize(t, term, 91, 20)
	say("«D;0»")
	resize(t, term, 92, 20)
	at := func(marked string) int { return len(marks("", marked)) }
	want := fmt.Sprintf("detects, resized %d 90×20, c1 runs %q, resized %d 91×20, c1 ends with 0, resized %d 92×20",
		at("«E;x»"), "x", at("«E;x»«C»"), at("«E;x»«C»«D;0»"))
	if got := tap.told(t); got != want {
		t.Fatalf("told %s, want %s", got, want)
	}
}

func TestDirectoriesOfCommands(t *testing.T) {
	term := bench(MinLogBytes)
	term.commands.nonce = testNonce
	tap := term.Tap(func() {})
	term.feed([]byte(marks(testNonce, "«P;Cwd=/a»«C»«D;0»\x1b]7;file:///b\a«C»«D;0»\x1b]633;P;Cwd=/forged\a«C»«D;0»«P;Cwd=relative»«P;Cwd=/b/c»«C»\x1b]7;file://elsewhere.invalid/x\a«D;0»«C»\x1b]7;file:///d\a«D;0»«C»«D;0»«A»«C»")), 1<<10)
	var dirs []string
	for _, c := range term.Commands() {
		dirs = append(dirs, c.Dir)
	}
	if got := strings.Join(dirs, " "); got != "/a /b /b /b/c /b/c /d /b/c" {
		t.Fatalf("directories %s", got)
	}
	if steps := tap.Steps(nil); steps[len(steps)-1].Kind != StepMoved || steps[len(steps)-1].Dir != "/b/c" {
		t.Fatalf("the last step is %v", steps[len(steps)-1])
	}
}

func TestInfoHasTheCommandThatRuns(t *testing.T) {
	f := createRemote(t, manager(t, Config{}), RemoteSpec{})
	for _, step := range []struct{ output, want string }{
		{"$ ", ""}, {"«E;sleep 1»", ""}, {"«C»", "sleep 1"}, {"zzz", "sleep 1"}, {"«D;0»", ""}, {"«C»", ""}, {"«E;vi»«C»", "vi"},
	} {
		f.prints(t, marks("", step.output))
		if got := f.Terminal().Info().Command; got != step.want {
			t.Fatalf("after %s: %q runs, want %q", step.output, got, step.want)
		}
	}
	if err := f.End(Exit{}); err != nil || f.Terminal().Info().Command != "" {
		t.Fatalf("after the exit: %q runs, %v", f.Terminal().Info().Command, err)
	}
}

// A viewer with a floor is told of no command that started before it, wherever it joins.
func TestCommandsBelowTheFloorAreNotTold(t *testing.T) {
	term := bench(MinLogBytes)
	say := func(output string) { term.feed([]byte(marks("", output)), 1<<10) }
	say("«E;secret»«C»a\r\n«D;0»$ «E;secret too»«C»b\r\n")
	floor := term.head()
	say("c\r\n")
	want := "c3 runs \"open\", c3 ends with 0"
	join := func(since int64) *person {
		return &person{Viewer: term.Attach(AttachOptions{Since: since, Floor: floor, Program: true})}
	}
	early := []*person{join(NoOffset), join(floor), join(floor + 1), join(0)}
	say("«D;0»$ «E;open»«C»d\r\n«D;0»")
	for i, p := range append(early, join(NoOffset), join(floor), join(floor+1), join(1)) {
		p.screen.drain(t, p.Viewer)
		p.Close()
		var told []string
		for _, c := range p.screen.commands() {
			told = append(told, c.String())
		}
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("viewer %d is told %s, want %s", i, got, want)
		}
	}
}

// A viewer that was overtaken is told anew what runs where it goes on.
func TestOvertakenViewersAreToldWhatRuns(t *testing.T) {
	term := bench(MinLogBytes)
	say := func(output string) { term.feed([]byte(marks("", output)), 4000) }
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	say("«E;first»«C»")
	var s screen
	s.drain(t, v)
	say("«D;0»«E;second»«C»")
	term.feed(lines(0, 300_000), 4000)
	s.drain(t, v)
	say("«D;0»")
	s.drain(t, v)
	var told []string
	for _, ev := range s.events {
		switch ev.Kind {
		case EventReset:
			told = append(told, "reset")
		case EventCommand:
			told = append(told, ev.Command.String())
		}
	}
	if got := strings.Join(told, ", "); got != `c1 runs "first", reset, c2 runs "second", c2 ends with 0` {
		t.Fatalf("told %s", got)
	}
}

// Ten thousand commands: the newest are kept, readers are told of all, and those that do not look of some, each whole.
func TestManyCommandsAreBounded(t *testing.T) {
	const many = 10_000
	term := bench(MinLogBytes)
	looks, waits := term.Tap(func() {}), term.Tap(func() {})
	v := term.Attach(AttachOptions{Since: 0})
	defer v.Close()
	late := term.Attach(AttachOptions{Since: 0})
	defer late.Close()
	late.drainNothing(t)
	var steps []Step
	var s screen
	for i := range many {
		term.feed([]byte(marks("", fmt.Sprintf("$ «E;line %d»«C»output %d\r\n«D;%d»", i, i, i%256))), 1<<10)
		if i == 0 {
			waits.Steps(nil)
		}
		if i%100 == 99 {
			steps = looks.Steps(steps)
			s.drain(t, v)
		}
	}
	if n := cap(term.commands.kept); n > 2*maxCommands {
		t.Fatalf("room for %d commands", n)
	}
	list := term.Commands()
	for i, c := range list {
		n := many - maxCommands + i
		text, err := term.Text(nil, c.Start, c.End)
		if c.ID != fmt.Sprintf("c%d", n+1) || c.Line != fmt.Sprintf("line %d", n) || *c.Exit != n%256 || err != nil || string(text) != fmt.Sprintf("output %d\r\n", n) {
			t.Fatalf("command %d of the list is %+v with output %q, %v", i, c, text, err)
		}
	}
	if len(list) != maxCommands {
		t.Fatalf("%d commands are listed", len(list))
	}
	if _, ok := term.Command(fmt.Sprintf("c%d", many-maxCommands)); ok {
		t.Fatal("one more is there")
	}
	if got := pairs(t, commandsOf(steps)); got != many {
		t.Fatalf("told of %d commands", got)
	}
	if got := pairs(t, s.commands()); got != many {
		t.Fatalf("a viewer was told of %d commands", got)
	}
	if got := pairs(t, commandsOf(waits.Steps(nil))); got < maxCommands || got > 2*maxCommands {
		t.Fatalf("who did not look was told of %d commands", got)
	}
	var behind screen
	behind.drain(t, late)
	if got := pairs(t, behind.commands()); got < maxCommands || got > 2*maxCommands {
		t.Fatalf("a viewer that did not read was told of %d commands", got)
	}
}

// drainNothing takes what a viewer is told first.
func (v *Viewer) drainNothing(t *testing.T) {
	t.Helper()
	var s screen
	s.drain(t, v)
}

func commandsOf(steps []Step) []*Command {
	var list []*Command
	for _, step := range steps {
		if step.Command != nil {
			list = append(list, step.Command)
		}
	}
	return list
}

func (s *screen) commands() []*Command {
	var list []*Command
	for _, ev := range s.events {
		if ev.Kind == EventCommand {
			list = append(list, ev.Command)
		}
	}
	return list
}

// pairs checks that each start is followed by its end, in ascending order, and returns how many there are.
func pairs(t *testing.T, told []*Command) int {
	t.Helper()
	last := 0
	for i, c := range told {
		var n int
		if _, err := fmt.Sscanf(c.ID, "c%d", &n); err != nil {
			t.Fatal(err)
		}
		if starts := c.End < 0; starts != (i%2 == 0) || starts && n <= last || !starts && n != last || !starts && c.End < c.Start {
			t.Fatalf("told %d: %v after c%d", i, c, last)
		}
		last = n
	}
	return len(told) / 2
}

// A command that ended unseen, and is not kept, ends where the reader is.
func TestEndOfAForgottenCommand(t *testing.T) {
	term := bench(MinLogBytes)
	tap := term.Tap(func() {})
	term.feed([]byte(marks("", "«E;first»«C»out")), 1<<10)
	if got := tap.told(t); got != `detects, c1 runs "first", "out"` {
		t.Fatalf("told %s", got)
	}
	for range 2 * maxCommands {
		term.feed([]byte(marks("", "«D;0»«C»")), 1<<10)
	}
	steps := tap.Steps(nil)
	if steps[0].Kind != StepCommandFinished || steps[0].Command.ID != "c1" || steps[0].Command.End != steps[0].From || steps[0].Command.Exit != nil {
		t.Fatalf("the first step is %v", steps[0])
	}
	if steps[2].Kind != StepCommandStarted || steps[2].Command.ID == "c2" {
		t.Fatalf("the third step is %v", steps[2])
	}
}

// A mark is handled in time that does not depend on how many there were.
func BenchmarkMarks(b *testing.B) {
	term := bench(MinLogBytes)
	tap := term.Tap(func() {})
	defer tap.Close()
	output := []byte(strings.Repeat("\x1b]633;C\a", 1<<10))
	b.SetBytes(int64(len(output)))
	b.ReportAllocs()
	for b.Loop() {
		term.feed(output, 4095)
	}
}

// shellStory is output with marks, true ones and others, and what there is to tell of it.
type shellStory struct {
	output []byte
	told   []placed // in the order of the log
	spans  []Command
}

type placed struct {
	offset int64
	what   string
}

func tellStory(seed uint64, n int) shellStory {
	r := rand.New(rand.NewPCG(seed, 4))
	var s shellStory
	line, open := "", -1
	mark := func(body string) (from, to int64) {
		from = int64(len(s.output))
		ends := []string{"\a", "\x1b\\", "\u009c"}
		s.output = append(append(append(s.output, "\x1b]633;"...), body...), ends[r.IntN(3)]...)
		return from, int64(len(s.output))
	}
	finish := func(at int64, exit *int) {
		if open >= 0 {
			c := &s.spans[open]
			c.End, c.Exit, open = at, exit, -1
			s.told = append(s.told, placed{at, c.String()})
		}
	}
	for i := 0; len(s.output) < n; i++ {
		switch r.IntN(12) {
		case 0:
			mark("A;" + testNonce)
			line = ""
		case 1:
			mark("B;" + testNonce)
		case 2:
			line = fmt.Sprintf("line %d", i)
			mark("E;" + line + ";" + testNonce)
		case 3:
			from, to := mark("C;" + testNonce)
			finish(from, nil)
			open = len(s.spans)
			s.spans = append(s.spans, Command{ID: fmt.Sprintf("c%d", open+1), Line: line, Start: to, End: -1})
			s.told = append(s.told, placed{to, s.spans[open].String()})
			line = ""
		case 4:
			from, _ := mark(fmt.Sprintf("D;%d;%s", i%256, testNonce))
			finish(from, new(i%256))
		case 5:
			from, _ := mark("D;;" + testNonce)
			finish(from, nil)
		case 6:
			mark([]string{"C", "D;0", "E;forged", "A;x", "C;" + testNonce[1:], "D;1;", "E;forged;" + strings.Repeat("long ", 900) + testNonce}[r.IntN(7)])
		default:
			s.output = append(s.output, pieces[r.IntN(len(pieces))].output...)
		}
	}
	return s
}

// after returns what a viewer is to be told that reads from offset on: of what runs there too if it replays, and, if it
// goes on where it was, maybe again of what is at offset.
func (s *shellStory) after(offset int64, replays bool) []string {
	var want []string
	if replays {
		for _, c := range s.spans {
			if c.Start < offset && (c.End < 0 || c.End > offset) {
				c.End = -1
				want = append(want, c.String())
			}
		}
	}
	for _, p := range s.told {
		starts := strings.Contains(p.what, " runs ")
		if p.offset > offset || p.offset == offset && (starts || !replays || s.startOf(p.what) == offset) {
			want = append(want, p.what)
		}
	}
	return want
}

func (s *shellStory) startOf(what string) int64 {
	id, _, _ := strings.Cut(what, " ")
	for _, c := range s.spans {
		if c.ID == id {
			return c.Start
		}
	}
	return -1
}

// Whatever is printed, however it is read, and whenever somebody looks: taps and viewers are told of each command where
// it is in the log, also when they come later, or back.
func TestCommandsAreToldWhereTheyAre(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		story := tellStory(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 30_000).Draw(rt, "bytes"))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "looks"), 5))
		term := bench(MinLogBytes)
		term.commands.nonce = testNonce
		tap := term.Tap(func() {})
		var steps []Step
		type reader struct {
			v    *Viewer
			s    screen
			told []string
		}
		var readers []*reader
		join := func(since int64) { readers = append(readers, &reader{v: term.Attach(AttachOptions{Since: since})}) }
		join(0)
		for fed := 0; fed < len(story.output); {
			n := min(1+r.IntN(3000), len(story.output)-fed)
			term.feed(story.output[fed:fed+n], 1+r.IntN(2000))
			fed += n
			if r.IntN(3) == 0 {
				steps = tap.Steps(steps)
			}
			if r.IntN(3) == 0 {
				join([]int64{NoOffset, r.Int64N(term.head() + 1)}[r.IntN(2)])
			}
			for _, reader := range readers {
				if r.IntN(2) == 0 {
					reader.s.drain(t, reader.v)
				}
			}
		}
		// The log may end inside a sequence.
		steps = tap.Steps(steps)
		pos, i := int64(0), 0
		for _, step := range steps {
			if step.From != pos {
				rt.Fatalf("step %v at offset %d", step, pos)
			}
			switch {
			case step.Kind == StepOutput:
				pos = step.To
			case step.Command != nil:
				if i >= len(story.told) || story.told[i] != (placed{step.From, step.Command.String()}) {
					rt.Fatalf("command step %d is %v", i, step)
				}
				i++
			}
		}
		if pos != term.head() || i != len(story.told) {
			rt.Fatalf("told of %d starts and ends of %d, up to offset %d of %d", i, len(story.told), pos, term.head())
		}
		for _, reader := range readers {
			reader.s.drain(t, reader.v)
			reader.v.Close()
			var s screen
			start, replays := int64(math.MaxInt64), false
			var told []string
			for _, ev := range reader.s.events {
				s.take(ev)
				switch ev.Kind {
				case EventReady:
					start = ev.Offset
				case EventReset:
					start, replays = ev.Offset, true
				case EventCommand:
					at := ev.Command.Start
					if ev.Command.End >= 0 {
						at = ev.Command.End
					}
					if at != s.offset && !(ev.Command.End < 0 && s.offset == start && at < start) {
						rt.Fatalf("told %v at offset %d", ev.Command, s.offset)
					}
					told = append(told, ev.Command.String())
				}
			}
			if want := story.after(start, replays); strings.Join(told, ", ") != strings.Join(want, ", ") {
				rt.Fatalf("from %d, a replay: %v: told\n%v, want\n%v", start, replays, told, want)
			}
		}
		for _, c := range story.spans {
			got, ok := term.Command(c.ID)
			if !ok || got.Start != c.Start || got.End != c.End || got.Line != c.Line {
				rt.Fatalf("command %+v, want %+v", got, c)
			}
		}
	})
}
