package ptymgr

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shells are those that mark their commands.
var shells = []string{"bash", "zsh", "fish"}

// integrated starts a shell that marks its commands, for a person without files of their own.
func integrated(t *testing.T, name string) (*Terminal, string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s here", name)
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if name == "zsh" { // without it, zsh asks new users what they want
		if err := os.WriteFile(filepath.Join(home, ".zshrc"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := manager(t, Config{ShellIntegration: filepath.Join(t.TempDir(), "scripts")})
	return create(t, m, Spec{Shell: path, Dir: home, Env: map[string]string{"HOME": home, "ZDOTDIR": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}}), home
}

// ends waits for the end of the command that has this line, and returns it and its output.
func (t *Terminal) ends(tb testing.TB, line string) (Command, string) {
	tb.Helper()
	var ended Command
	eventually(tb, fmt.Sprintf("end of %q", line), func() bool {
		for _, c := range t.Commands() {
			if c.Line == line && c.End >= 0 {
				ended = c
				return true
			}
		}
		return false
	})
	text, err := t.Text(nil, ended.Start, ended.End)
	if err != nil {
		tb.Fatal(err)
	}
	return ended, string(text)
}

// types types a line and waits for the end of the command.
func (t *Terminal) types(tb testing.TB, line string) (Command, string) {
	tb.Helper()
	if err := t.Input([]byte(line + "\n")); err != nil {
		tb.Fatal(err)
	}
	return t.ends(tb, line)
}

func TestShellsMarkTheirCommands(t *testing.T) {
	for _, name := range shells {
		t.Run(name, func(t *testing.T) {
			term, home := integrated(t, name)
			tap := term.Tap(func() {})
			defer tap.Close()
			p := attach(t, term)
			if err := os.Mkdir(filepath.Join(home, "a b"), 0o700); err != nil {
				t.Fatal(err)
			}
			status := "$?"
			if name == "fish" {
				status = "$status"
			}
			for i, test := range []struct {
				line, output string
				exit         int
				dir          string
			}{
				{"echo one", "one\r\n", 0, home},
				{"printf 'a;b\\nc'", "a;b\r\nc", 0, home}, // without a newline at the end
				{"sh -c 'exit 37'", "", 37, home},
				{"echo " + status, "37\r\n", 0, home},
				{"cd 'a b'", "", 0, home},
				{"echo 日本語 é", "日本語 é\r\n", 0, home + "/a b"},
				{"seq 3 | grep -v 2", "1\r\n3\r\n", 0, home + "/a b"},
				{"false", "", 1, home + "/a b"},
				{`printf '\033]633;D;0\007x\033]633;E;rm -rf /;guess\007\033]633;C;guess\007\033]133;C\007y\033]133;D;9\007\n'`, "xy\r\n", 0, home + "/a b"},
				{`printf '\033]633;C\033\134\033[1mbold'; sh -c 'exit 143'`, "\x1b[1mbold", 143, home + "/a b"},
			} {
				c, output := term.types(t, test.line)
				if name == "fish" { // it prints a title and colors of its own between its event and the command
					_, output, _ = strings.Cut(output, "\x1b(B\x1b[m\r")
				}
				if output != test.output {
					t.Errorf("%s: output %q, want %q", test.line, output, test.output)
				}
				if c.Exit == nil || *c.Exit != test.exit || c.Dir != test.dir || c.ID != fmt.Sprintf("c%d", i+1) {
					t.Errorf("%s: %+v, want exit code %d in %s", test.line, c, test.exit, test.dir)
				}
			}
			if err := term.Input([]byte("exit 5\n")); err != nil {
				t.Fatal(err)
			}
			<-term.Done()
			steps := tap.Steps(nil)
			told := commandsOf(steps)
			if n := pairs(t, told); n != 11 || told[2*n-1].Line != "exit 5" {
				t.Errorf("told of %d commands, the last of which is %v", n, told[len(told)-1])
			}
			if last := steps[len(steps)-1]; last.Kind != StepExited || last.Exit.Code != 5 {
				t.Errorf("the last step is %v", last)
			}
			p.until(t, p.Viewer, "the exit", func() bool { return p.count(EventExit) > 0 })
			if n := pairs(t, p.screen.commands()); n != 11 {
				t.Errorf("a viewer was told of %d commands", n)
			}
			if strings.Contains(term.text(t), "\x1b]633") {
				t.Error("there are marks in the text")
			}
		})
	}
}

// Ctrl-C at the prompt is no command, and ends one that runs.
func TestInterruptedCommands(t *testing.T) {
	for _, name := range shells {
		t.Run(name, func(t *testing.T) {
			term, _ := integrated(t, name)
			const long = "sleep 600"
			for range 3 {
				term.typesUntilRun(t, "echo one")
				head := term.head()
				for _, keys := range []string{"half a line", "\x03"} {
					if err := term.Input([]byte(keys)); err != nil {
						t.Fatal(err)
					}
					eventually(t, "an echo", func() bool { return term.head() > head })
				}
			}
			term.typesUntilRun(t, "echo two")
			if err := term.Input([]byte(long + "\n")); err != nil {
				t.Fatal(err)
			}
			eventually(t, "a command that runs", func() bool {
				info := term.Info()
				return info.Command == long && info.Foreground == "sleep"
			})
			if err := term.Input([]byte{3}); err != nil {
				t.Fatal(err)
			}
			c, output := term.ends(t, long)
			if c.Exit == nil || *c.Exit != 130 || !strings.HasSuffix(strings.TrimRight(output, "\r\n"), "^C") {
				t.Fatalf("%+v printed %q", c, output)
			}
			if got := term.Info().Command; got != "" {
				t.Fatalf("%q runs", got)
			}
			for _, c := range term.Commands() {
				if strings.Contains(c.Line, "line") {
					t.Fatalf("a command %+v", c)
				}
			}
		})
	}
}

// typesUntilRun types a line until it is run: with Ctrl-C a terminal drops what was typed and not read yet, and that may
// take a part of what is typed afterwards.
func (t *Terminal) typesUntilRun(tb testing.TB, line string) {
	tb.Helper()
	before := len(t.Commands())
	var typed time.Time
	eventually(tb, fmt.Sprintf("end of %q", line), func() bool {
		if time.Since(typed) > time.Second {
			typed = time.Now()
			if err := t.Input([]byte("\x15" + line + "\n")); err != nil { // Ctrl-U drops what was there
				tb.Fatal(err)
			}
		}
		list := t.Commands()
		return len(list) > before && list[len(list)-1].Line == line && list[len(list)-1].End >= 0
	})
}

// A command of the person's own is run as it is, and so is a shell that there is no script for.
func TestWhatIsNotIntegrated(t *testing.T) {
	scripts := filepath.Join(t.TempDir(), "scripts")
	m := manager(t, Config{ShellIntegration: scripts})
	for _, spec := range []Spec{bash(), {Shell: "/bin/sh"}} {
		term := create(t, m, spec)
		p := attach(t, term)
		if err := term.Input([]byte("echo do''ne; echo \"(${__tandem_nonce-none})\"\n")); err != nil {
			t.Fatal(err)
		}
		p.see(t, "done")
		p.see(t, "(none)")
		if len(term.Commands()) > 0 || p.count(EventCommand) > 0 || strings.Contains(string(p.log), "633") {
			t.Fatalf("%v marks its commands: %q", spec, p.log)
		}
	}
}

// Where the scripts cannot be put, shells start without them.
func TestShellsStartWithoutScripts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := manager(t, Config{ShellIntegration: filepath.Join(file, "scripts"), Shell: "/bin/bash"})
	term := create(t, m, Spec{Env: map[string]string{"HOME": t.TempDir(), "PS1": "$ "}})
	p := attach(t, term)
	if err := term.Input([]byte("echo do''ne\n")); err != nil {
		t.Fatal(err)
	}
	p.see(t, "done")
	if len(term.Commands()) > 0 {
		t.Fatalf("commands %v", term.Commands())
	}
}

// Each terminal's marks count in that terminal alone.
func TestNoncesDiffer(t *testing.T) {
	m := manager(t, Config{ShellIntegration: filepath.Join(t.TempDir(), "scripts"), Shell: "/bin/bash"})
	seen := map[string]bool{"": true}
	for range 3 {
		term := create(t, m, Spec{Env: map[string]string{"HOME": t.TempDir()}})
		if nonce := term.commands.nonce; seen[nonce] {
			t.Fatalf("the nonce %q is used again", nonce)
		}
		seen[term.commands.nonce] = true
	}
}
