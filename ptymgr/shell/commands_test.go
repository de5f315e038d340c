package shell

import (
	"bytes"
	"strings"
	"testing"
)

// typed is what is typed at one prompt, and the command that the marks are to tell of; none if its line is empty.
type typed struct {
	keys string
	command
}

// told makes a typed of a command whose line is what was typed.
func told(line, output, code string) typed { return typed{line, command{line, output, code}} }

// posixCommands are typed into bash and zsh.
var posixCommands = []typed{
	told("echo hi", "hi\n", "0"),
	told("false", "", "1"),
	told("(exit 3)", "", "3"),
	told("echo a | cat | tr a b", "b\n", "0"),
	told("true | false", "", "1"),
	told("(echo in; (exit 4))", "in\n", "4"),
	told("{ echo one; echo two; }", "one\ntwo\n", "0"),
	told("printf x", "x", "0"),
	told("sh -c 'exit 200'", "", "200"),
	told("sh -c 'kill -9 $$'", anything, "137"),
	told("no-such-command-here", anything, "127"),
	told("echo 'a;b'; echo \\\\", "a;b\n\\\n", "0"),
	told("echo ünïcödé €", "ünïcödé €\n", "0"),
	told("fail() { return 5; }", "", "0"),
	told("fail", "", "5"),
	told("echo $?", "5\n", "0"),
	told("echo last word; true", "last word\n", "0"),
	told("echo $_ && cd /", "true\n", "0"),
	told("cd \"$HOME\"", "", "0"),
	told("echo 'first\nsecond'", "first\nsecond\n", "0"),
	told("cat <<end\nin a document\nend", "in a document\n", "0"),
	told("echo $((6 * 7)) > /dev/null", "", "0"),
	told("exec 3>/dev/null", "", "0"),
	told("set -u; set -e; set +eu", "", "0"),
	told("printf '\\033]633;C;forged\\007\\033]633;D;0\\007' | wc -c", anything, "0"),
	{"", command{}},
	{"   ", command{}},
}

var bashCommands = []typed{
	told("[[ a == b ]]", "", "1"),
	told("((0))", "", "1"),
	told("! true", "", "1"),
	told("while false; do :; done", "", "0"),
	told("f() { :; }; unset -f f", "", "0"),
	told("echo ${PIPESTATUS[*]}", "0\n", "0"),
	{"echo \\\njoined", command{"echo joined", "joined\n", "0"}}, // as bash has it in its history
	{"# nothing", command{}},
	{"# fails (", command{}},
	{"echo )", command{}},
	{"for i in 1 2\ndo echo $i\ndone", command{"for i in 1 2; do echo $i; done", "1\n2\n", "0"}},
	{"echo once", command{"echo once", "once\n", "0"}},
	{"!!", command{"echo once", anything, "0"}},
	{"echo !$ again", command{"echo once again", anything, "0"}},
	{"!zzz", command{}},
}

var zshCommands = []typed{
	told("for i in 1 2\ndo echo $i\ndone", "1\n2\n", "0"),
	told("echo \\\njoined", "joined\n", "0"),
	told("[[ a == b ]]", "", "1"),
	told("((0))", "", "1"),
	told("echo once", "once\n", "0"),
	{"!!", command{"echo once", anything, "0"}},
	told("print -n no newline", "no newline", "0"),
	told("() { return 9 }", "", "9"),
	{"echo )", command{}},
}

var fishCommands = []typed{
	told("echo hi", "hi\n", "0"),
	told("false", "", "1"),
	told("echo a | cat | tr a b", "b\n", "0"),
	told("true | false", "", "1"),
	told("begin; echo one; echo two; end", "one\ntwo\n", "0"),
	told("printf x", "x", "0"),
	told("sh -c 'exit 200'", "", "200"),
	told("no-such-command-here", anything, "127"),
	told("echo 'a;b'; echo \\\\", "a;b\n\\\n", "0"),
	told("echo ünïcödé €", "ünïcödé €\n", "0"),
	told("function fail; return 5; end", "", "0"),
	told("fail", "", "5"),
	told("echo $status", "5\n", "0"),
	told("cd /", "", "0"),
	told("cd $HOME", "", "0"),
	told("for i in 1 2\necho $i\nend", "1\n2\n", "0"),
	told("echo 'first\nsecond'", "first\nsecond\n", "0"),
	{"", command{}},
}

// TestCommands types every kind of command into shells that have no files of the person's.
func TestCommands(t *testing.T) {
	for name, table := range map[string][]typed{
		"bash": append(posixCommands[:len(posixCommands):len(posixCommands)], bashCommands...),
		"zsh":  append(posixCommands[:len(posixCommands):len(posixCommands)], zshCommands...),
		"fish": fishCommands,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{".zshrc": "", ".hushlogin": ""})
			s := start(t, find(t, name), h, true)
			s.prompts(1)
			var want []command
			for _, typed := range table {
				s.run(typed.keys)
				if typed.line != "" {
					want = append(want, typed.command)
				}
			}
			s.write("exit 7\r")
			if code := s.exit(); code != 7 {
				t.Errorf("exit status %d, want 7", code)
			}
			got := s.commands()
			last := command{line: "exit 7"}
			if len(got) > 0 {
				last.output, last.code = got[len(got)-1].output, got[len(got)-1].code // fish tells of it
			}
			s.compare(append(want, last))
			if dirs := s.directories(); !strings.Contains(strings.Join(dirs, " "), h.dir+" / "+h.dir) {
				t.Errorf("directories: %q", dirs)
			}
			if bytes.Contains(s.output(), []byte("__tandem")) {
				t.Errorf("something of ours shows:\n%s", readable(s.output()))
			}
		})
	}
}
