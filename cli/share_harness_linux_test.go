package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/ahp/client"
	"tandem/ahp/wire"
)

// markEnv marks the processes of one test.
const markEnv = "SHARE_TEST"

// seat is a terminal with a person at it, who runs tandem share.
type seat struct {
	t      *testing.T
	cmd    *exec.Cmd
	ptmx   *os.File
	tty    *os.File // kept open, so that what tandem leaves can be looked at
	before unix.Termios
	screen output // everything that was shown
	reader sync.WaitGroup
	ended  chan struct{} // closed when tandem has ended
}

// sit runs tandem share with these arguments in a new terminal of 80×24. The test's end ends it, and checks that nothing is
// left: no process, no raw mode.
func sit(t *testing.T, env []string, args ...string) *seat {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, ptmx: ptmx, tty: tty, ended: make(chan struct{})}
	s.resize(80, 24)
	s.before = s.termios()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".profile"), []byte("PS1='$ '\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(binary, append([]string{"share"}, args...)...)
	s.cmd.Dir = home
	s.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh", "TERM=xterm-256color", markEnv + "=" + t.Name(),
	}, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	s.reader.Go(func() { _, _ = io.Copy(&s.screen, ptmx) })
	t.Cleanup(s.leave)
	return s
}

// leave ends what still runs and checks what is left.
func (s *seat) leave() {
	select {
	case <-s.ended:
	default:
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		s.wait()
	}
	if !eventually(func() bool { return len(marked(s.t)) == 0 }) {
		s.t.Errorf("processes are left behind: %v", marked(s.t))
	}
	_ = s.tty.Close() // nobody has it open now, which ends the reader
	s.reader.Wait()
	_ = s.ptmx.Close()
}

// wait waits for the end and returns the exit code.
func (s *seat) wait() int {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Errorf("tandem goes on; the screen shows %q", s.screen.String())
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	if s.termios() != s.before {
		s.t.Error("the terminal is left in another mode")
	}
	return s.cmd.ProcessState.ExitCode()
}

func (s *seat) termios() unix.Termios {
	s.t.Helper()
	termios, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *termios
}

func (s *seat) resize(cols, rows int) {
	s.t.Helper()
	if err := pty.Setsize(s.ptmx, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *seat) keys(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.ptmx, keys); err != nil {
		s.t.Fatal(err)
	}
}

// until waits for something on the screen.
func (s *seat) until(shown string) {
	s.t.Helper()
	if !eventually(func() bool { return strings.Contains(s.screen.String(), shown) }) {
		s.t.Fatalf("the screen does not show %q: %q", shown, s.screen.String())
	}
}

// program returns what the program has shown: everything after the line of tandem's own.
func (s *seat) program() string {
	_, shown, _ := strings.Cut(s.screen.String(), "ends.\r\n")
	return shown
}

// marked returns the ids of the living processes of the test.
func marked(t *testing.T) (found []string) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		t.Skip("needs /proc")
	}
	for _, path := range environs {
		environ, _ := os.ReadFile(path) // a process may end meanwhile
		if slices.Contains(strings.Split(string(environ), "\x00"), markEnv+"="+t.Name()) {
			found = append(found, filepath.Base(filepath.Dir(path)))
		}
	}
	return found
}

// watcher is a program that sees the terminals of a server.
type watcher struct {
	*client.Client
	t    *testing.T
	seen sync.WaitGroup

	mu     sync.Mutex // guards mirror
	mirror client.Mirror
}

// watch connects a watcher.
func watch(t *testing.T, r *running, secret string) *watcher {
	t.Helper()
	base, _, _ := strings.Cut(r.link, "#")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Dial(ctx, base+"ahp", client.Options{Token: secret, ClientID: "watcher"})
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{Client: c, t: t}
	t.Cleanup(func() {
		c.Close()
		w.seen.Wait()
	})
	result, err := c.Initialize(ctx, wire.RootChannel)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.mirror.Take(result.Snapshots[0]); err != nil {
		t.Fatal(err)
	}
	w.seen.Go(func() {
		for {
			e, err := c.Next(context.Background())
			if err != nil {
				return
			}
			w.mu.Lock()
			w.mirror.Apply(e)
			w.mu.Unlock()
		}
	})
	return w
}

// list returns the terminals.
func (w *watcher) list() []wire.TerminalInfo {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mirror.Root.Terminals
}

// terminal waits for the only terminal, subscribes to it and returns its URI.
func (w *watcher) terminal() string {
	w.t.Helper()
	if !eventually(func() bool { return len(w.list()) == 1 }) {
		w.t.Fatalf("there are %d terminals, want 1", len(w.list()))
	}
	uri := w.list()[0].Resource
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.mu.Lock() // what comes after the snapshot is applied after it
	defer w.mu.Unlock()
	snapshot, err := w.Subscribe(ctx, uri, -1)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.mirror.Take(snapshot); err != nil {
		w.t.Fatal(err)
	}
	return uri
}

// state returns a copy of a terminal's state without its content, and the content.
func (w *watcher) state(uri string) (wire.TerminalState, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	state := *w.mirror.Terminals[uri]
	state.Content = nil
	return state, w.mirror.Text(uri)
}

// until waits until the watcher sees something of a terminal.
func (w *watcher) until(uri, what string, holds func(state wire.TerminalState, text string) bool) {
	w.t.Helper()
	if !eventually(func() bool { return holds(w.state(uri)) }) {
		state, text := w.state(uri)
		w.t.Fatalf("the watcher does not see %s: %+v with %q", what, state, text)
	}
}

// untilSame waits until the watcher sees what the person sees.
func (w *watcher) untilSame(uri string, s *seat) {
	w.t.Helper()
	w.until(uri, "what the person sees", func(_ wire.TerminalState, text string) bool { return text == s.program() })
}

const readWrite = "terminals:read,terminals:write"
