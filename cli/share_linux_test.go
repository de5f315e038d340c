package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/ahp/wire"
	"tandem/cli/share/networktest"
)

// A shell is shared with the server beside it, for which nothing is needed.
func TestShareShell(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	s := sit(t, nil, "--data", r.data, "--name", "my shell")
	s.until("$ ")
	w := watch(t, r, createToken(t, r.data, "watcher", readWrite))
	uri := w.terminal()
	s.keys("echo on; tty; pwd\r")
	s.until("/dev/pts/")
	w.untilSame(uri, s)
	state, _ := w.state(uri)
	host, _ := os.Hostname()
	if state.ExecutionTarget != wire.ExecutedByClient || state.Title != "my shell" || state.Cwd != "file://"+s.cmd.Dir || state.Cols != 80 || state.Rows != 24 {
		t.Errorf("the watcher sees %+v", state)
	}
	var logins []struct{ Device string }
	openLink(t, r.link).want(t, http.StatusOK, "GET", "api/logins", nil, &logins)
	if len(logins) != 2 || logins[0].Device != host && logins[1].Device != host {
		t.Errorf("logins %v, want one of %s", logins, host)
	}

	s.keys("exit 7\r")
	if code := s.wait(); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
	w.until(uri, "the exit", func(state wire.TerminalState, _ string) bool {
		return state.Lifecycle != nil && state.Lifecycle.ExitCode != nil && *state.Lifecycle.ExitCode == 7
	})
	b := openLink(t, strings.TrimSpace(wantRun(t, "", 0, []string{"login-link", "--data", r.data})))
	b.want(t, http.StatusOK, "GET", "api/logins", nil, &logins)
	if len(logins) != 2 || logins[0].Device == host || logins[1].Device == host {
		t.Errorf("logins %v: that of the shared terminal is left", logins)
	}
}

func TestShareCommand(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	for _, test := range []struct {
		command []string
		code    int
		shows   string
	}{
		{[]string{"true"}, 0, "until the command ends"},
		{[]string{"--", "sh", "-c", "exit 3"}, 3, ""},
		{[]string{"sh", "-c", "echo $0 $1", "first", "--to"}, 0, "first --to"},
		{[]string{"sh", "-c", "kill -9 $$"}, 137, ""},
		{[]string{"--", "no-such-command"}, 1, "no-such-command"},
		{[]string{"sh", "-c", "printf 'no newline'; sleep 1000 & exit 4"}, 4, "no newline"},
	} {
		s := sit(t, nil, append([]string{"--data", r.data}, test.command...)...)
		if code := s.wait(); code != test.code {
			t.Errorf("%q: exit code %d, want %d; the screen shows %q", test.command, code, test.code, s.screen.String())
		}
		s.until(test.shows)
		s.leave()
	}
}

// Everything of a program with a screen of its own gets there.
func TestShareVim(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	w := watch(t, r, createToken(t, r.data, "watcher", readWrite))
	s := sit(t, nil, "--data", r.data, "--", "vim", "-u", "NONE", "-i", "NONE", "note.txt")
	uri := w.terminal()
	s.until("note.txt")
	s.keys("ihello from the laptop")
	s.until("hello from the laptop")
	s.resize(100, 30)
	w.until(uri, "the size", func(state wire.TerminalState, _ string) bool { return state.Cols == 100 && state.Rows == 30 })
	s.keys("\x1b:set lines? columns?\r")
	s.until("columns=100")
	s.keys("\r:wq\r")
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	content, err := os.ReadFile(filepath.Join(s.cmd.Dir, "note.txt"))
	if err != nil || string(content) != "hello from the laptop\n" {
		t.Errorf("the file has %q (%v)", content, err)
	}
	_, text := w.state(uri)
	for _, want := range []string{"\x1b[?1049h", "hello from the laptop", "columns=100", "\x1b[?1049l"} {
		if !strings.Contains(text, want) {
			t.Errorf("the watcher does not see %q", want)
		}
	}
}

// Ctrl-C is the program's, not tandem's.
func TestShareCtrlC(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	s := sit(t, []string{"SHELL=/bin/bash"}, "--data", r.data)
	s.keys("echo be'gun'; sleep 1000\r")
	s.until("begun")
	if !eventually(func() bool { return len(marked(t)) == 3 }) { // tandem, the shell and sleep
		t.Fatalf("processes: %v", marked(t))
	}
	s.keys("\x03")
	s.until("^C")
	s.keys("echo st'atus' $?\r")
	s.until("status 130")
	s.keys("exit 0\r")
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Signals end the program, and leave the terminal as it was.
func TestShareEndsOnSignals(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	w := watch(t, r, createToken(t, r.data, "watcher", readWrite))
	for n, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		s := sit(t, nil, "--data", r.data, "--", "sh", "-c", "printf '\\033[?1049h\\033[?25lfull screen'; sleep 1000; exit 0")
		s.until("full screen")
		if err := s.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if code := s.wait(); code != 129 {
			t.Errorf("%v: exit code %d, want that of SIGHUP", signal, code)
		}
		s.until("\x1b[?1049l")
		s.leave()
		if !eventually(func() bool { l := w.list(); return len(l) == n+1 && l[n].Lifecycle.Status == wire.Exited }) {
			t.Errorf("%v: the server was not told", signal)
		}
	}
}

// A program that will not end is made to, and a second signal does not leave the terminal raw.
func TestShareEndsWhatIgnoresSignals(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	s := sit(t, nil, "--data", r.data, "--", "sh", "-c", "trap '' HUP TERM; echo deaf; while :; do sleep 0.1; done")
	s.until("deaf\r\n")
	for range 2 {
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	if code := s.wait(); code != 137 {
		t.Errorf("exit code %d, want that of SIGKILL", code)
	}
}

// The person's window is closed.
func TestShareEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	w := watch(t, r, createToken(t, r.data, "watcher", readWrite))
	s := sit(t, nil, "--data", r.data)
	s.until("$ ")
	s.keys("sleep 1000\r")
	if !eventually(func() bool { return len(marked(t)) == 3 }) {
		t.Fatalf("processes: %v", marked(t))
	}
	// The test's own descriptors keep the terminal from hanging up, which the kernel tells the leader of the session.
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.wait()
	if !eventually(func() bool { l := w.list(); return len(l) == 1 && l[0].Lifecycle.Status == wire.Exited }) {
		t.Error("the server was not told")
	}
}

// The server ends and is started again, at another address. It has what the person sees then, also what came meanwhile.
func TestShareSurvivesARestart(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	secret := createToken(t, r.data, "watcher", readWrite)
	s := sit(t, nil, "--data", r.data)
	s.until("$ ")
	s.keys("echo be'fore'\r")
	s.until("before")
	w := watch(t, r, secret)
	w.untilSame(w.terminal(), s)
	r.stop(t, syscall.SIGTERM)
	s.keys("echo mean'while'\r")
	s.until("meanwhile")
	r = start(t, r.data, nil)
	s.keys("echo af'ter'\r")
	s.until("after")
	w = watch(t, r, secret)
	uri := w.terminal()
	w.untilSame(uri, s)
	s.keys("exit\r")
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	w.until(uri, "the exit", func(state wire.TerminalState, _ string) bool { return state.Lifecycle.Status == wire.Exited })
}

// For twenty seconds nothing gets through, while the program prints. Nothing is missing in the end, and nothing is there twice.
func TestShareSurvivesTwentySecondsWithoutNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than twenty seconds")
	}
	t.Parallel()
	network := networktest.New(t)
	r := start(t, t.TempDir(), nil, "--trusted-origin", "http://"+network.Addr())
	secret := createToken(t, r.data, "laptop", readWrite)
	network.LeadTo(strings.TrimPrefix(openLink(t, r.link).origin, "http://"))
	s := sit(t, []string{"TANDEM_TOKEN=" + secret}, "--to", "http://"+network.Addr(), "--", "sh", "-c",
		"i=0; while [ $i -lt 220 ]; do echo line $i; i=$((i+1)); sleep 0.1; done; read end")
	s.until("line 5\r\n")
	w := watch(t, r, secret)
	uri := w.terminal()
	network.Freeze(true)
	time.Sleep(20 * time.Second) // what is tested
	network.Freeze(false)
	s.until("line 219\r\n")
	w.untilSame(uri, s)
	if len(w.list()) != 1 {
		t.Errorf("%d terminals", len(w.list()))
	}
	s.keys("\r")
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A shell goes on when its tab is closed; its person is told in the title and at the end. A command is ended.
func TestShareIsClosedInTandem(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	w := watch(t, r, createToken(t, r.data, "watcher", readWrite))
	b := openLink(t, r.link)
	dispose := func() {
		t.Helper()
		var list []struct{ ID string }
		b.want(t, http.StatusOK, "GET", "api/terminals", nil, &list)
		if len(list) != 1 {
			t.Fatalf("%d terminals, want 1", len(list))
		}
		b.want(t, http.StatusNoContent, "DELETE", "api/terminals/"+list[0].ID, nil, nil)
	}
	s := sit(t, nil, "--data", r.data)
	s.until("$ ")
	dispose()
	s.until("not shared any more: closed in Tandem\a")
	s.keys("echo goes' on'\r")
	s.until("goes on")
	s.keys("exit 5\r")
	if code := s.wait(); code != 5 {
		t.Errorf("exit code %d, want 5", code)
	}
	s.until("since then it was not shared")
	s.leave()

	s = sit(t, nil, "--data", r.data, "--", "sh", "-c", "echo up; exec sleep 1000")
	s.until("up\r\n")
	dispose()
	if code := s.wait(); code != 129 {
		t.Errorf("exit code %d, want that of SIGHUP", code)
	}
	if l := w.list(); len(l) != 0 {
		t.Errorf("%d terminals are left", len(l))
	}
}

// The program gets no token, by which what it prints would let others in.
func TestShareKeepsTheTokenFromTheProgram(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	secret := createToken(t, r.data, "laptop", readWrite)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := watch(t, r, secret)
	for _, given := range []struct{ env, args []string }{
		{[]string{"TANDEM_TOKEN=" + secret}, nil},
		{nil, []string{"--token-file", file}},
	} {
		s := sit(t, given.env, append(append([]string{"--data", r.data}, given.args...), "--", "sh", "-c", "env; tr '\\0' ' ' </proc/self/environ; echo done")...)
		if code := s.wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		s.until("done\r\n")
		if strings.Contains(s.screen.String(), "tandem_") {
			t.Errorf("the program has the token: %s", s.screen.String())
		}
		s.leave()
	}
	if l := w.list(); len(l) != 2 {
		t.Errorf("%d terminals, want 2", len(l))
	}
}

func TestShareTakesACertificateByItsFingerprint(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil, "--tls", "self-signed")
	secret := createToken(t, r.data, "laptop", readWrite)
	var fingerprint string
	for line := range strings.Lines(r.stdout.String()) {
		if line = strings.TrimSpace(line); strings.Count(line, ":") == 31 {
			fingerprint = line
		}
	}
	origin := openLink(t, r.link).origin
	for _, test := range []struct {
		args  []string
		code  int
		shows string
	}{
		{[]string{"--data", r.data}, 0, "let in"}, // a login
		{[]string{"--to", origin, "--fingerprint", fingerprint}, 0, "let in"},
		{[]string{"--to", origin}, 1, "--fingerprint"},
		{[]string{"--to", origin, "--fingerprint", strings.Repeat("00", 32)}, 1, "another certificate"},
	} {
		var env []string
		if test.args[0] == "--to" {
			env = []string{"TANDEM_TOKEN=" + secret}
		}
		s := sit(t, env, append(test.args, "--", "echo", "let", "in")...)
		if code := s.wait(); code != test.code {
			t.Errorf("%q: exit code %d, want %d", test.args, code, test.code)
		}
		s.until(test.shows)
		s.leave()
	}
}

func TestShareDoesNotStart(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), nil)
	wantRun(t, "", 1, []string{"share", "--data", r.data}, "no terminal")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := []string{"TANDEM_TOKEN=tandem_wrong"}
	reader := []string{"TANDEM_TOKEN=" + createToken(t, r.data, "reader", "terminals:read")}
	for _, test := range []struct {
		env   []string
		args  []string
		shows string
	}{
		{nil, []string{"--data", t.TempDir()}, "no server runs"},
		{nil, []string{"--data", t.TempDir()}, "tandem token create"},
		{nil, []string{"--to", "https://tandem.example.org"}, "tandem token create"},
		{wrong, []string{"--data", r.data}, "does not take the token"},
		{reader, []string{"--data", r.data}, "terminals:write"},
		{wrong, []string{"--token-file", empty}, "exclude each other"},
		{nil, []string{"--token-file", empty}, "first line"},
		{nil, []string{"--token-file", "/no/such/file"}, "/no/such/file"},
		{wrong, []string{"--to", "http://127.0.0.1:1"}, "connection refused"},
	} {
		s := sit(t, test.env, append(test.args, "--", "echo", "started")...)
		if code := s.wait(); code != 1 {
			t.Errorf("%q: exit code %d, want 1", test.args, code)
		}
		s.until(test.shows)
		if strings.Contains(s.screen.String(), "started") {
			t.Errorf("%q: the command ran", test.args)
		}
		s.leave()
	}
	var logins []struct{ Device string }
	openLink(t, r.link).want(t, http.StatusOK, "GET", "api/logins", nil, &logins)
	if len(logins) != 1 {
		t.Errorf("logins are left: %v", logins)
	}
}

func TestShareUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"--to", "tandem.example.org"}, "https://tandem.example.org"},
		{[]string{"--to", "ftp://tandem.example.org"}, "https://tandem.example.org"},
		{[]string{"--to", "https://a/?token=x"}, "https://tandem.example.org"},
		{[]string{"--fingerprint", "12"}, "32 bytes"},
		{[]string{"--to", "http://127.0.0.1:1", "--fingerprint", strings.Repeat("00", 32)}, "https"},
		{[]string{"--nope"}, "--nope"},
	} {
		wantRun(t, "", 2, append([]string{"share", "--data", t.TempDir()}, test.args...), test.says, "tandem --help")
	}
}
