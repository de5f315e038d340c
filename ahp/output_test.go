package ahp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

// capture is a person's viewer of a terminal, which keeps or passes on the bytes of its log.
type capture struct {
	t      *testing.T
	viewer *sharing.Viewer
	uri    string
	over   chan struct{} // closed after the exit or an error

	mu   sync.Mutex
	raw  []byte // all output, unless take is set
	more *sync.Cond
	take func(p []byte) // is given output instead
}

// run starts a shell command in a terminal of the person's, once the capture that it returns is given a line: by then it
// is the viewer that is sent queries as they are.
func (w *world) run(t *testing.T, command string, take func(p []byte)) *capture {
	t.Helper()
	desk, err := w.sharing.Join(identities["person"], "lane")
	if err != nil {
		t.Fatal(err)
	}
	term, err := w.sharing.Create(sharing.By{Client: desk}, ptymgr.Spec{
		Command: "/bin/sh", Args: []string{"-c", "read go; " + command}, Size: ptymgr.Size{Cols: 100, Rows: 30},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	viewer, err := term.Attach(desk, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &capture{t: t, viewer: viewer, uri: w.host.Resource(term), over: make(chan struct{}), take: take}
	c.more = sync.NewCond(&c.mu)
	go c.read()
	t.Cleanup(func() {
		viewer.Close()
		<-c.over
		desk.Leave()
	})
	return c
}

// read takes and acks output until the exit.
func (c *capture) read() {
	defer close(c.over)
	defer c.more.Broadcast()
	var offset int64
	for {
		ev, err := c.viewer.Next(context.Background())
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				c.t.Errorf("the capture ended: %v", err)
			}
			return
		}
		switch ev.Kind {
		case ptymgr.EventReady:
			if offset = ev.Offset; offset != 0 {
				c.t.Errorf("the capture begins at %d", offset)
			}
		case ptymgr.EventReset:
			c.t.Errorf("the capture was overtaken at %d", ev.Offset)
		case ptymgr.EventOutput:
			if c.take != nil {
				c.take(ev.Data)
			} else {
				c.mu.Lock()
				c.raw = append(c.raw, ev.Data...)
				c.mu.Unlock()
				c.more.Broadcast()
			}
			offset += int64(len(ev.Data))
			if err := c.viewer.Ack(offset); err != nil {
				c.t.Error(err)
			}
		case ptymgr.EventExit:
			return
		}
	}
}

func (c *capture) types(keys string) {
	c.t.Helper()
	if err := c.viewer.Input([]byte(keys)); err != nil {
		c.t.Fatal(err)
	}
}

// see waits until the output contains text.
func (c *capture) see(text string) {
	c.t.Helper()
	late := time.AfterFunc(patience, func() {
		c.t.Errorf("no %q in %d bytes of output", text, len(c.raw))
		c.viewer.Close()
	})
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !bytes.Contains(c.raw, []byte(text)) {
		select {
		case <-c.over:
			c.t.Fatalf("no %q in all output: %.500q", text, c.raw)
		default:
		}
		c.more.Wait()
	}
}

// noText matches what programs are not sent: OSC of shell integration, and what terminals answer. It is written down from
// the documents of xterm and kitty, apart from the scanner of the log.
var noText = regexp.MustCompile("^(?:" + strings.Join([]string{
	`\x1b\](?:633|133|7)(?:;[^\x07\x1b]*)?(?:\x07|\x1b\\)`,
	`\x1b\](?:4|5|1[0-9]|21|22|50|52);[^\x07\x1b]*\?(?:;[^\x07\x1b]*)?(?:\x07|\x1b\\)`,
	`\x1bP[0-9;]*[$+]q[^\x1b]*\x1b\\`,
	`\x1b\[[>=]?[0-9;]*c`,
	`\x1b\[\??[0-9;]*n`,
	`\x1b\[\??[0-9;]*\$p`,
	`\x1b\[>[0-9;]*q`,
	`\x1b\[\?[0-9;]*[uS]`,
	`\x1b\[\?[0-9;]*m`,
	`\x1b\[(?:1[134568]|19|2[01])(?:;[0-9;]*)?t`,
	`\x1b\[\?(?:[0-9]+;)*1004(?:;[0-9]+)*h`, // answered with whether the terminal has the focus
	`\x1bZ`,
}, "|") + ")")

// textOf returns what programs are to be sent of output.
func textOf(raw []byte) (text []byte, removed int) {
	for {
		from := bytes.IndexByte(raw, '\x1b')
		if from < 0 {
			return decoded(text, raw), removed
		}
		gone := noText.Find(raw[from:])
		if gone == nil {
			from++
		} else {
			removed++
		}
		text = decoded(text, raw[:from])
		raw = raw[from+len(gone):]
	}
}

// decoded appends p with U+FFFD for each byte that is no UTF-8.
func decoded(dst, p []byte) []byte {
	if utf8.Valid(p) {
		return append(dst, p...)
	}
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		dst = utf8.AppendRune(dst, r)
		p = p[n:]
	}
	return dst
}

// ended takes everything up to the end of the terminal and returns its text.
func (p *peer) ended(uri string) string {
	p.t.Helper()
	p.until(func(e wire.Envelope) bool {
		_, exited := e.Action.(wire.TerminalExited)
		return exited && e.Channel == uri
	})
	return p.Text(uri)
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

// differ reports where texts differ.
func differ(t *testing.T, who string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("%s: %d bytes of text differ from the log's %d at %d: %.60q, want %.60q", who, len(got), len(want), at,
		got[max(at-20, 0):], want[max(at-20, 0):])
}

// What programs print: subscribers have the text of it, whenever they came, and so has a snapshot.
func TestTextOfRealPrograms(t *testing.T) {
	for _, test := range []struct {
		name    string
		program string // that it needs
		command func(t *testing.T) string
		drive   func(c *capture)
		removes bool // whether there must be something that is no text
	}{
		{"git log", "git", gitLog, func(*capture) {}, false},
		{"vim", "vim", func(t *testing.T) string { return "vim --clean " + textFile(t) }, driveVim, true},
		{"htop", "htop", func(*testing.T) string { return "htop -d 1" }, driveHtop, false},
		{"progress bar", "sh", progressBar, func(*capture) {}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			needs(t, test.program)
			w := newWorld(t, nil)
			c := w.run(t, test.command(t), nil)
			first := w.join("person", "desk", c.uri)
			hasty := w.join("claude", "c1")
			s, err := hasty.Subscribe(hasty.within(), c.uri, 0)
			if err != nil {
				t.Fatal(err)
			}
			hasty.take(s)
			c.types("\n")
			test.drive(c)
			got := []byte(first.ended(c.uri))
			<-c.over
			want, removed := textOf(c.raw)
			if test.removes && removed == 0 {
				t.Errorf("nothing in %d bytes is no text", len(c.raw))
			}
			t.Logf("%d bytes, %d of text, %d sequences removed", len(c.raw), len(want), removed)
			differ(t, "person", got, want)
			differ(t, "program", []byte(hasty.ended(c.uri)), want)
			last := w.join("other", "o1", c.uri).Text(c.uri)
			if !strings.HasSuffix(string(want), last) || len(want) < contentBytes/2 && last != string(want) || len(last) < min(len(want), contentBytes/2) {
				differ(t, "snapshot", []byte(last), want)
			}
		})
	}
}

func textFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(name, []byte(strings.Repeat("a line – with “quotes”, 日本語 and a \x1b[31mtrap\n", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// gitLog makes a repository and returns the command that shows its history.
func gitLog(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Zoë", "-c", "user.email=zoe@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	for i := range 25 {
		text := fmt.Sprintf("version %d\n%scafé – 日本語\nlatin-1: caf\xe9 \x80\xff\nan escape \x1b[6n in a file\n", i, strings.Repeat(fmt.Sprintf("line of %d\n", i), 40))
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", "file")
		git("commit", "-q", "-m", fmt.Sprintf("Change %d — with “quotes”", i))
	}
	return "git --no-pager -C " + dir + " log -p --color"
}

func driveVim(c *capture) {
	c.see("日本語")
	c.types("Goa new line — ünïcode\x1b:split\r:syntax on\r\x04\x15gg")
	c.types(":echo 'the ' . 'end'\r")
	c.see("the end")
	c.types(":qa!\r")
}

func driveHtop(c *capture) {
	c.see("PID")
	c.types("\x1b[B\x1b[B\x1bOQ")
	c.see("Setup")
	c.types("q")
	c.types("q")
}

// progressBar returns a script that rewrites a line, as tools do that know of shell integration.
func progressBar(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "progress")
	script := `printf '\033]633;A\a$ \033]133;B\033\\build\r\n\033]633;E;build;nonce\a\033]633;C\a\033[?25l'
i=0
while [ $i -le 400 ]; do
	printf '\r\033[K\033[32m%3d%%\033[0m [%s] é \377' $((i / 4)) "▓▓▓▓"
	[ $((i % 50)) = 0 ] && printf '\033[6n\033]7;file:///tmp\a\033]10;?\033\\'
	i=$((i + 1))
done
printf '\033[?25h\r\n\033]633;D;0\a'
`
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return "sh " + name
}

// comparison compares two streams of text as they come. What both have had is forgotten.
type comparison struct {
	t         *testing.T
	mu        sync.Mutex
	moved     *sync.Cond
	got, want bytes.Buffer
	same      int64 // bytes
	failed    bool
}

// ahead is how many bytes of text the comparison lets the one stream be ahead of the other.
const ahead = 1 << 20

// add appends to one of both.
func (c *comparison) add(stream *bytes.Buffer, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stream.Write(p)
	n := min(c.got.Len(), c.want.Len())
	got, want := c.got.Next(n), c.want.Next(n)
	if !c.failed && !bytes.Equal(got, want) {
		c.failed = true
		differ(c.t, fmt.Sprintf("after %d bytes", c.same), got, want)
	}
	c.same += int64(n)
	c.moved.Broadcast()
}

// await blocks while the text that is wanted is far ahead.
func (c *comparison) await() {
	late := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.failed = true
		c.t.Errorf("the subscriber does not get on after %d bytes", c.same)
		c.moved.Broadcast()
	})
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.want.Len() > ahead && !c.failed {
		c.moved.Wait()
	}
}

// A subscriber that keeps up misses nothing of a flood.
func TestTextOfAFlood(t *testing.T) {
	total := 256 << 20
	if raced || testing.Short() {
		total = 32 << 20
	}
	file := filepath.Join(t.TempDir(), "flood")
	piece := floodPiece()
	if err := os.WriteFile(file, piece, 0o600); err != nil {
		t.Fatal(err)
	}
	times := total/len(piece) + 1
	c := &comparison{t: t}
	c.moved = sync.NewCond(&c.mu)
	var line []byte
	var raw int64
	w := newWorld(t, nil)
	command := fmt.Sprintf("i=0; while [ $i -lt %d ]; do cat %s; i=$((i+1)); done", times, file)
	lane := w.run(t, command, func(p []byte) {
		raw += int64(len(p))
		line = append(line, p...)
		if end := bytes.LastIndexByte(line, '\n') + 1; end > 0 { // no sequence goes on over it
			text, _ := textOf(line[:end])
			c.add(&c.want, text)
			line = append(line[:0], line[end:]...)
		}
		c.await()
	})
	next := subscribeRaw(t, w, lane.uri)
	began := time.Now()
	lane.types("\n")
	for last, over := int64(0), false; !over; {
		e := next()
		if e.Params.ServerSeq <= last {
			t.Fatalf("number %d came after %d", e.Params.ServerSeq, last)
		}
		last = e.Params.ServerSeq
		switch a := e.Params.Action; a.Type {
		case wire.TerminalData{}.Type():
			c.add(&c.got, []byte(a.Data))
		case wire.TerminalExited{}.Type():
			over = true
		case wire.TerminalCleared{}.Type():
			t.Fatal("the subscriber was overtaken")
		}
	}
	<-lane.over
	took := time.Since(began)
	rest, _ := textOf(line)
	c.add(&c.want, rest)
	if c.got.Len()+c.want.Len() > 0 {
		t.Errorf("%d bytes of text too many, %d too few", c.got.Len(), c.want.Len())
	}
	if least := int64(times * len(piece)); raw < least {
		t.Errorf("the log has %d bytes, printed were %d", raw, least)
	}
	t.Logf("%d bytes in %v, %d of text", raw, took.Round(time.Millisecond), c.same)
}

// message is as much of an action or answer as the flood needs. The mirror of a client would be too slow for it.
type message struct {
	Params struct {
		Action    struct{ Type, Data string }
		ServerSeq int64
	}
	Result struct {
		Snapshot struct {
			State struct{ Content []any }
		}
	}
}

// subscribeRaw subscribes a program to a terminal that has printed nothing, and returns what takes its actions one by one.
func subscribeRaw(t *testing.T, w *world, uri string) (next func() message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, w.url+"?as=claude", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	next = func() (m message) {
		t.Helper()
		_, p, err := conn.Read(ctx)
		if err == nil {
			err = json.Unmarshal(p, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	latency := int64(1)
	for _, request := range [][]byte{
		wire.Request(json.RawMessage("1"), "initialize", wire.InitializeParams{
			Channel: RootChannel, ProtocolVersions: []string{"1.0.0"}, ClientID: "c1",
		}),
		wire.Request(json.RawMessage("2"), "subscribe", wire.SubscribeParams{
			Channel: uri, Delivery: &wire.Delivery{MaxLatencyMs: &latency},
		}),
	} {
		if err := conn.Write(ctx, websocket.MessageText, request); err != nil {
			t.Fatal(err)
		}
		if m := next(); len(m.Result.Snapshot.State.Content) > 0 {
			t.Fatalf("the terminal has printed %q", m.Result.Snapshot.State.Content)
		}
	}
	return next
}

// floodPiece returns 1 MiB of lines as programs print them.
func floodPiece() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		"plain text of some length, as there is most of ", "\x1b[38;5;123mcolour\x1b[0m ", "naïve – 日本語 👩‍👩‍👧‍👦 ", "caf\xe9 \xff\xfe ",
		"\x1b]633;A\a", "\x1b]133;B\x1b\\", "\x1b]7;file:///tmp\a", "\x1b[6n", "\x1b]11;?\a", "\x1b]0;title\a", "\"quoted\\\" \t",
	}
	var text []byte
	for len(text) < 1<<20 {
		for range 1 + r.IntN(6) {
			if r.IntN(3) > 0 {
				text = append(text, pieces[0]...)
			} else {
				text = append(text, pieces[r.IntN(len(pieces))]...)
			}
		}
		text = append(text, '\n')
	}
	return text
}

// What a program prints before its terminal is known here is in the snapshots all the same.
func TestOutputBeforeTheChannelIsThere(t *testing.T) {
	manager := sharing.New(sharing.Config{Terminals: ptymgr.Config{Logger: slog.New(slog.DiscardHandler)}})
	desk, err := manager.Join(identities["person"], "desk")
	if err != nil {
		t.Fatal(err)
	}
	by := sharing.By{Client: desk}
	term, err := manager.Create(by, ptymgr.Spec{Command: "echo", Args: []string{"first"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-term.Pty().Done()
	host := NewHost(Config{Sharing: manager})
	(*observer)(host).Created(term, sharing.Claim{Client: "desk"}, sharing.Access{}, by)
	host.mu.Lock()
	content := host.byTerminal[term].content(identities["person"], contentBytes)
	host.mu.Unlock()
	if shown, err := parts(term.Pty(), content); err != nil || len(shown) != 1 || shown[0].Value != "first\r\n" {
		t.Errorf("the content is %v, %v", shown, err)
	}
	desk.Leave()
	if err := manager.Close(t.Context()); err != nil {
		t.Error(err)
	}
	host.Wait()
}
