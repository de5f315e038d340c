package shell

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait in these tests; none is expected to last long.
const patience = 30 * time.Second

const nonce = "nonce-of-these_tests"

// find returns the path of a shell, or skips the test.
func find(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// a home is what a session finds when it starts.
type home struct {
	dir string
	env []string
}

// newHome makes a home directory with these files, by name.
func newHome(t testing.TB, files map[string]string, env ...string) home {
	t.Helper()
	dir := t.TempDir()
	// Else fish goes on writing completions when a test has ended.
	if err := os.MkdirAll(filepath.Join(dir, ".local/share/fish/generated_completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home{dir, append([]string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "USER=tester",
	}, env...)}
}

func (h home) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(h.dir, name))
	return string(text)
}

// session is a login shell in a pty.
type session struct {
	t    testing.TB
	name string
	ptmx *os.File
	cmd  *exec.Cmd
	done chan struct{} // closed when all output has been read

	mu      sync.Mutex
	out     []byte
	changed chan struct{} // closed and replaced when out grows
}

// start starts a login shell, with or without the integration, in a new pty.
func start(t testing.TB, path string, h home, integrated bool) *session {
	t.Helper()
	args, env := []string{"-" + filepath.Base(path)}, h.env
	if integrated {
		dir := filepath.Join(t.TempDir(), "with space")
		if err := Install(dir); err != nil {
			t.Fatal(err)
		}
		var ok bool
		if args, env, ok = Inject(path, args, env, nonce, dir); !ok {
			t.Fatalf("no integration for %s", path)
		}
	}
	cmd := &exec.Cmd{Path: path, Args: args, Env: env, Dir: h.dir}
	blocking, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 50})
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	blocking.Close()
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	s := &session{
		t: t, name: filepath.Base(path), ptmx: os.NewFile(uintptr(fd), "ptmx"), cmd: cmd,
		done: make(chan struct{}), changed: make(chan struct{}),
	}
	go s.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the kernel hangs up on those in the foreground
		_ = cmd.Wait()
		s.ptmx.Close()
		<-s.done
	})
	return s
}

func (s *session) read() {
	defer close(s.done)
	buf := make([]byte, 1<<16)
	for {
		n, err := s.ptmx.Read(buf)
		s.mu.Lock()
		s.out = append(s.out, buf[:n]...)
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if bytes.Contains(buf[:n], []byte("\x1b[c")) || bytes.Contains(buf[:n], []byte("\x1b[0c")) {
			s.write("\x1b[?62c") // newer fish waits to hear what the terminal is
		}
		if err != nil {
			return
		}
	}
}

func (s *session) write(text string) {
	if _, err := s.ptmx.WriteString(text); err != nil && !errors.Is(err, os.ErrClosed) && !errors.Is(err, syscall.EIO) {
		s.t.Errorf("typing: %v", err)
	}
}

func (s *session) output() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out
}

// within waits until the shell has written text n times, and reports whether it did.
func (s *session) within(limit time.Duration, text string, n int) bool {
	timeout := time.After(limit)
	for {
		s.mu.Lock()
		out, changed := s.out, s.changed
		s.mu.Unlock()
		if bytes.Count(out, []byte(text)) >= n {
			return true
		}
		select {
		case <-changed:
		case <-s.done:
			return bytes.Count(s.output(), []byte(text)) >= n
		case <-timeout:
			return false
		}
	}
}

// at waits until the shell has written text n times.
func (s *session) at(text string, n int) {
	s.t.Helper()
	if !s.within(patience, text, n) {
		s.t.Fatalf("no %q for the %d. time within %v, or before the shell ended:\n%s", text, n, patience, readable(s.output()))
	}
}

// interrupt presses Ctrl-C until the shell has written text n times. A shell that is just about to read, or to start a
// command, does not always heed the first.
func (s *session) interrupt(text string, n int) {
	s.t.Helper()
	for range int(patience / time.Second) {
		s.write("\x03")
		if s.within(time.Second, text, n) {
			return
		}
	}
	s.at(text, n)
}

// exit waits for the shell's exit and returns its status.
func (s *session) exit() int {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(patience):
		s.t.Fatalf("the shell did not exit within %v:\n%s", patience, readable(s.output()))
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// prompt is the mark behind which a shell takes a line. In fish there is none behind the prompt.
func (s *session) prompt() string {
	if s.name == "fish" {
		return "\x1b]633;A;"
	}
	return "\x1b]633;B;"
}

// prompts waits for the n-th prompt.
func (s *session) prompts(n int) { s.t.Helper(); s.at(s.prompt(), n) }

// run types lines at the prompt, one physical line at a time, and waits for the next prompt.
func (s *session) run(lines string) {
	s.t.Helper()
	n := bytes.Count(s.output(), []byte(s.prompt()))
	s.write(strings.ReplaceAll(lines, "\n", "\r") + "\r")
	s.prompts(n + 1)
}

var markPattern = regexp.MustCompile("\x1b\\]633;([^\x07]*)\x07")

// command is what the marks say about one.
type command struct {
	line   string
	output string
	code   string // "" if it did not end
}

// events splits what a shell has written into its marks, without the nonce, and a letter for each; it fails the test for
// a mark without the nonce. texts has one more element: what was before and behind each mark.
func (s *session) events() (marks []string, texts []string) {
	s.t.Helper()
	out := s.output()
	from := 0
	for _, at := range markPattern.FindAllSubmatchIndex(out, -1) {
		mark, found := strings.CutSuffix(string(out[at[2]:at[3]]), ";"+nonce)
		if !found {
			s.t.Errorf("mark without the nonce: %q", mark)
		}
		marks = append(marks, mark)
		texts = append(texts, string(out[from:at[0]]))
		from = at[1]
	}
	return marks, append(texts, string(out[from:]))
}

// order is how marks may follow each other, by their letters: prompts, and commands between them. An interrupt at the
// very start of a command leaves an E alone, a command that takes hooks away can leave a prompt without its start, and a
// shell's last command need not end.
var order = regexp.MustCompile(`^(P?AB*|ECD(P?A)?(DAB|B)*|E)*(ECD?)?$`)

// commands returns the commands that the marks tell of, and fails the test if the marks are not in order.
func (s *session) commands() []command {
	s.t.Helper()
	marks, texts := s.events()
	var letters strings.Builder
	var list []command
	line := ""
	for i, mark := range marks {
		letter, rest, _ := strings.Cut(mark, ";")
		letters.WriteString(letter)
		switch letter {
		case "E":
			line = unescape(rest)
		case "C":
			list = append(list, command{line: line, output: plain(texts[i+1])})
		case "D":
			if len(list) > 0 {
				list[len(list)-1].code = rest
			}
		}
	}
	if !order.MatchString(letters.String()) {
		s.t.Errorf("marks out of order: %s", letters.String())
	}
	return list
}

// directories returns those that the marks tell of.
func (s *session) directories() []string {
	s.t.Helper()
	marks, _ := s.events()
	var list []string
	for _, mark := range marks {
		if dir, found := strings.CutPrefix(mark, "P;Cwd="); found {
			list = append(list, unescape(dir))
		}
	}
	return list
}

var escapes = regexp.MustCompile(`\\(?:\\|x[0-9a-f]{2})`)

func unescape(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		if escape == `\\` {
			return `\`
		}
		var b byte
		fmt.Sscanf(escape, `\x%02x`, &b)
		return string([]byte{b})
	})
}

// decoration is what shells write around output: titles, and fish's reset of the colours before a command.
var decoration = regexp.MustCompile("\x1b\\][0-27];[^\x07\x1b]*(?:\x07|\x1b\\\\)|(?:\x1b\\[30m\x1b\\(B)?\x1b\\[m\r?|\x1b\\[\\?2004[hl]|\x1b\\]133;[^\x07\x1b]*(?:\x07|\x1b\\\\)")

// plain returns output as a command wrote it.
func plain(text string) string {
	return strings.ReplaceAll(decoration.ReplaceAllString(text, ""), "\r\n", "\n")
}

// readable shows marks without their nonces, for messages.
func readable(out []byte) string {
	text := markPattern.ReplaceAllStringFunc(string(out), func(mark string) string {
		return "⟨" + strings.TrimSuffix(mark[len("\x1b]633;"):len(mark)-1], ";"+nonce) + "⟩"
	})
	return strings.ReplaceAll(text, "\x1b", "␛")
}

// compare fails the test for commands that are not as wanted.
func (s *session) compare(want []command) {
	s.t.Helper()
	got := s.commands()
	for i := range min(len(got), len(want)) {
		if want[i].output == anything {
			want[i].output = got[i].output
		}
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("commands:\n got %q\nwant %q\n%s", got, want, readable(s.output()))
	}
}

// anything is an output that is not compared.
const anything = "*"
