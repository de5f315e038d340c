package shell

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// logged is a line for the startup file of this name that tells when it is read.
func logged(name string) string { return "echo " + name + " >> \"$HOME/log\"\n" }

// TestStartupFiles compares which files are read, and in which order, with those that the shell reads by itself.
func TestStartupFiles(t *testing.T) {
	for name, test := range map[string]struct {
		shell string
		files []string
		extra map[string]string
		env   []string
		want  string
	}{
		"bash_profile": {shell: "bash", files: []string{".bash_profile", ".bash_login", ".profile", ".bashrc", ".bash_logout"},
			want: ".bash_profile .bash_logout"},
		"bash_login": {shell: "bash", files: []string{".bash_login", ".profile", ".bash_logout"}, want: ".bash_login .bash_logout"},
		"profile":    {shell: "bash", files: []string{".profile"}, want: ".profile"},
		"profile that reads bashrc and leaves early": {shell: "bash", files: []string{".bashrc"},
			extra: map[string]string{".bash_profile": ". ~/.bashrc; echo level ${#BASH_SOURCE[@]} $0 $# $- >/dev/null; return 3; echo not this >> ~/log\n"},
			want:  ".bashrc"},
		"profile that cannot be read": {shell: "bash", files: []string{".profile"},
			extra: map[string]string{".bash_profile/file": ""}, want: ""},
		"profile with an error": {shell: "bash", files: []string{".bash_logout"},
			extra: map[string]string{".bash_profile": "echo before >> ~/log\nif fi\necho after >> ~/log\n"}, want: "before .bash_logout"},
		"ENV of the person's": {shell: "bash", files: []string{".env"}, env: []string{"ENV=$HOME/.env"}, want: ""},
		"zsh": {shell: "zsh", files: []string{".zshenv", ".zprofile", ".zshrc", ".zlogin", ".zlogout"},
			want: ".zshenv .zprofile .zshrc .zlogin .zlogout"},
		"zsh with ZDOTDIR": {shell: "zsh", files: []string{"z/.zshenv", "z/.zprofile", "z/.zshrc", "z/.zlogin", "z/.zlogout", ".zshenv", ".zshrc"},
			env: []string{"ZDOTDIR=HOME/z"}, want: "z/.zshenv z/.zprofile z/.zshrc z/.zlogin z/.zlogout"},
		"zsh with ZDOTDIR set by .zshenv": {shell: "zsh", files: []string{"z/.zprofile", "z/.zshrc", "z/.zlogin", "z/.zlogout", ".zshrc"},
			extra: map[string]string{".zshenv": "ZDOTDIR=$HOME/z\necho .zshenv >> ~/log\n"},
			want:  ".zshenv z/.zprofile z/.zshrc z/.zlogin z/.zlogout"},
		"zsh without rcs": {shell: "zsh", files: []string{".zprofile", ".zshrc", ".zlogin"},
			extra: map[string]string{".zshenv": "unsetopt rcs\necho .zshenv >> ~/log\n"}, want: ".zshenv"},
		"fish": {shell: "fish", files: []string{".config/fish/conf.d/one.fish", ".config/fish/config.fish"},
			extra: map[string]string{".config/fish/functions/fish_greeting.fish": "function fish_greeting; status is-login; and echo greeting >> ~/log; end"},
			want:  ".config/fish/conf.d/one.fish .config/fish/config.fish greeting"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := find(t, test.shell)
			var logs []string
			for _, integrated := range []bool{false, true} {
				files := map[string]string{}
				for _, file := range test.files {
					files[file] = logged(file)
				}
				for file, text := range test.extra {
					files[file] = text
				}
				h := newHome(t, files)
				for _, variable := range test.env {
					h.env = append(h.env, strings.ReplaceAll(variable, "HOME", h.dir))
				}
				s := start(t, path, h, integrated)
				s.write("exit 3\r")
				if code := s.exit(); code != 3 {
					t.Errorf("exit status %d, want 3", code)
				}
				logs = append(logs, strings.Join(strings.Fields(h.read("log")), " "))
			}
			if logs[0] != test.want {
				t.Fatalf("without integration the shell reads %q, which this test takes to be %q", logs[0], test.want)
			}
			if logs[1] != logs[0] {
				t.Errorf("files read: %q, without integration %q", logs[1], logs[0])
			}
		})
	}
}

// states write all that a shell knows to a file, one thing a line as far as it can be.
var states = map[string]string{
	"bash": "{ declare -p; declare -f; shopt; shopt -o; alias; trap; bind -v; complete; ulimit -a; echo $0 $# $-; env; } > state",
	"zsh":  "{ typeset -p; functions; setopt; alias; trap; print -r -- $0 $# $-; env; } > state",
	"fish": "begin; set -S; functions -a | string split ,; bind; abbr; status is-login; echo login $status; env; end > state",
}

// changing are the lines of a state that differ from one start to the next.
var changing = map[string]*regexp.Regexp{
	"bash": regexp.MustCompile(`^declare -\S+ (BASHPID|BASH_ARGV0|BASH_COMMAND|BASH_MONOSECONDS|EPOCH\w+|HISTCMD|LINENO|PPID|RANDOM|SECONDS|SRANDOM|_)\b|^_=`),
	"zsh":  regexp.MustCompile(`^(typeset|export) .*\b(RANDOM|SECONDS|EPOCH\w*|TTYIDLE|PPID|_|LINENO|HISTCMD|TTY)=|^_=`),
	"fish": regexp.MustCompile(`^\$(fish_pid|history|CMD_DURATION|last_pid)\b|^_=`),
}

// own are the lines of a state that the integration is meant to change.
var own = map[string]*regexp.Regexp{
	"bash": regexp.MustCompile(`^declare -\S+ (__tandem_\w+|PROMPT_COMMAND|PS0|PS1)(=|$)|__tandem_call|^} 2> /dev/null"`),
	// The arrays without a value are those that add-zle-hook-widget makes zsh load.
	"zsh":  regexp.MustCompile(`__tandem_|^typeset .*\b(precmd_functions|preexec_functions|PROMPT_EOL_MARK)\b|^typeset -\w+ \w+$`),
	"fish": regexp.MustCompile(`^\$?__tandem_\w+`),
}

// ownFunctions are those of the integration, and those that zsh gets for the widget of its.
var ownFunctions = regexp.MustCompile(`^(__tandem_\w+|add-zle-hook-widget|azhw:\S+) \(\)`)

// TestState compares all that a shell knows with what it knows without the integration.
func TestState(t *testing.T) {
	for name, command := range states {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := find(t, name)
			var states [2]map[string]bool
			for i := range states {
				h := newHome(t, map[string]string{".zshrc": "bindkey -e\n"}, "HISTSIZE=100", "MINE=1")
				s := start(t, path, h, i == 1)
				s.write(command + "\rexit\r")
				s.exit()
				states[i] = map[string]bool{}
				ours := false
				for line := range strings.Lines(strings.ReplaceAll(h.read("state"), h.dir, "/home")) {
					line = strings.TrimSuffix(line, "\n")
					ours = ours || ownFunctions.MatchString(line)
					if !ours && !changing[name].MatchString(line) {
						states[i][line] = true
					}
					ours = ours && line != "}"
				}
				if len(states[i]) < 50 {
					t.Fatalf("a state of %d lines only: %s", len(states[i]), readable(s.output()))
				}
			}
			for line := range states[0] {
				if !states[1][line] && !own[name].MatchString(line) {
					t.Errorf("lost: %q", line)
				}
			}
			for line := range states[1] {
				if !states[0][line] && !own[name].MatchString(line) {
					t.Errorf("new: %q", line)
				}
			}
		})
	}
}

// TestChildren looks for the integration in what a command inherits.
func TestChildren(t *testing.T) {
	for name, config := range map[string]string{
		"bash": "export PS0='x' PS1='$ ' PS2='> '; PROMPT_COMMAND=true; export PROMPT_COMMAND; set -a; MINE=1",
		"zsh":  "export PS1='$ ' PROMPT_EOL_MARK='%%'; setopt all_export; MINE=1",
		"fish": "set -gx MINE 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{".bash_profile": config, ".zshrc": config, ".config/fish/config.fish": config})
			s := start(t, find(t, name), h, true)
			s.prompts(1)
			s.run("env > first")
			s.run("env > second")
			for _, file := range []string{"first", "second"} {
				env := h.read(file)
				if !strings.Contains(env, "MINE=1\n") {
					t.Fatalf("no environment in %s: %q", file, env)
				}
				for _, found := range []string{nonce, "ENV=", "ZDOTDIR=", "POSIXLY_CORRECT", "__tandem_zdotdir", "__tandem_env"} {
					if regexp.MustCompile(`(?m)^.*`+found).MatchString(env) && (found != "ENV=" || strings.Contains("\n"+env, "\nENV=")) {
						t.Errorf("%s is in the environment of a command:\n%s", found, env)
					}
				}
			}
			s.write("exit\r")
			s.exit()
			s.commands()
		})
	}
}

// TestOtherShells types into shells that are started from shells. They tell nothing, and belong to the command that
// started them.
func TestOtherShells(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := find(t, name)
			export := map[string]string{
				"bash": "export PS1='outer '; export PS0='user '; PROMPT_COMMAND='echo $?'; export PROMPT_COMMAND\n", "zsh": "export PS1='outer '\n", "fish": "",
			}[name]
			h := newHome(t, map[string]string{".bash_profile": export, ".zshrc": "", ".zlogin": export})
			s := start(t, path, h, true)
			s.prompts(1)
			s.write(path + "\r")
			s.at("\x1b]633;C;", 1)
			s.write("echo one\r")
			s.write("echo in'ne'r\r")
			s.at("inner", 1)
			s.write("exit 5\r")
			s.prompts(2)
			s.write("exec " + path + " -c 'echo replaced; exit 6'\r")
			if code := s.exit(); code != 6 {
				t.Errorf("exit status %d, want 6", code)
			}
			got := s.commands()
			if len(got) != 2 || got[0].line != path || got[0].code != "5" || !strings.Contains(got[0].output, "one\n") ||
				!strings.HasPrefix(got[1].line, "exec ") || got[1].output != "replaced\n" || got[1].code != "" {
				t.Errorf("commands: %q\n%s", got, readable(s.output()))
			}
			if strings.Contains(string(s.output()), "__tandem") || strings.Contains(string(s.output()), "command not found") {
				t.Errorf("something of ours shows:\n%s", readable(s.output()))
			}
		})
	}
}

// TestInterrupts presses Ctrl-C at the prompt, in a command, and right behind the end of a line.
func TestInterrupts(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, find(t, name), newHome(t, map[string]string{".zshrc": ""}), true)
			s.prompts(1)
			if name != "fish" { // where it takes back the line without a new prompt
				s.write("echo not this")
				s.at("this", 1)
				s.interrupt(s.prompt(), 2)
			}
			s.run("echo one")
			const sleep = "sh -c 'echo s''leeps; exec sleep 100'"
			n := bytes.Count(s.output(), []byte(s.prompt()))
			s.write(sleep + "\r")
			s.at("sleeps", 1)
			s.interrupt(s.prompt(), n+1)
			s.run("echo two")
			s.compare([]command{{"echo one", "one\n", "0"}, {sleep, anything, "130"}, {"echo two", "two\n", "0"}})
			for range 20 {
				s.write("sleep 0.01; true\r\x03")
			}
			s.write("\r")
			s.write("exit\r")
			s.exit()
			for _, c := range s.commands() {
				if c.line != "exit" && c.code == "" {
					t.Errorf("%q never ended", c.line)
				}
			}
		})
	}
}

// TestInject holds the function against what it must not touch.
func TestInject(t *testing.T) {
	env := []string{"A=1", "ENV=mine", "ZDOTDIR=/z", "__tandem_nonce=forged"}
	for name, test := range map[string]struct {
		path, dir, nonce string
		args, env        []string
	}{
		"a shell without a script":   {path: "/bin/dash", args: []string{"-dash"}},
		"a shell with arguments":     {path: "/bin/bash", args: []string{"-bash", "-c", "true"}},
		"a shell that is no login":   {path: "/bin/bash", args: []string{"bash"}},
		"bash under another name":    {path: "/bin/bash", args: []string{"-sh"}},
		"bash in POSIX mode":         {path: "/bin/bash", args: []string{"-bash"}, env: []string{"POSIXLY_CORRECT="}},
		"bash told to be POSIX":      {path: "/bin/bash", args: []string{"-bash"}, env: []string{"SHELLOPTS=emacs:posix"}},
		"functions with odd names":   {path: "/bin/bash", args: []string{"-bash"}, env: []string{"BASH_FUNC_a-b%%=() { :; }"}},
		"a nonce that ends a string": {path: "/bin/zsh", args: []string{"-zsh"}, nonce: "0123456789abcdef\a"},
		"a nonce that is short":      {path: "/bin/zsh", args: []string{"-zsh"}, nonce: "0123456789"},
		"a directory to be expanded": {path: "/bin/fish", args: []string{"-fish"}, dir: "/tmp/$HOME"},
		"a directory without a root": {path: "/bin/fish", args: []string{"-fish"}, dir: "scripts"},
	} {
		t.Run(name, func(t *testing.T) {
			env := append(slices.Clone(env), test.env...)
			dir, with := "/dir", nonce
			if test.dir != "" {
				dir = test.dir
			}
			if test.nonce != "" {
				with = test.nonce
			}
			args, got, ok := Inject(test.path, test.args, env, with, dir)
			if ok || !slices.Equal(args, test.args) || !slices.Equal(got, env) {
				t.Errorf("got %q, %q, %v", args, got, ok)
			}
		})
	}
	before := slices.Clone(env)
	args, got, ok := Inject("/usr/bin/bash", []string{"-bash"}, env, nonce, "/dir")
	want := []string{"A=1", "__tandem_env=mine", "ZDOTDIR=/z", "__tandem_nonce=" + nonce, "ENV=/dir/bash.sh"}
	if !ok || !slices.Equal(args, []string{"-bash", "--posix"}) || !slices.Equal(got, want) {
		t.Errorf("got %q, %q, %v, want %q", args, got, ok, want)
	}
	if !slices.Equal(env, before) {
		t.Errorf("the caller's environment is now %q", env)
	}
}

// TestInstall installs twice, and has each shell check its script.
func TestInstall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	for range 2 {
		if err := Install(dir); err != nil {
			t.Fatal(err)
		}
	}
	for name := range files {
		shell := map[string]string{"bash.sh": "bash", "zsh/.zshenv": "zsh", "fish.fish": "fish"}[name]
		if out, err := exec.Command(find(t, shell), "-n", filepath.Join(dir, name)).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
	if err := Install(filepath.Join(dir, "bash.sh")); err == nil {
		t.Error("no error for a directory that is a file")
	}
}
