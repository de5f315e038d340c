package shell

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A configuration is a person's own, with hooks that write to ~/log what they see.
type configuration struct {
	shell string
	rc    string
	lines []string // typed after the common ones
	env   []string
}

// ready ends every prompt of these configurations.
const ready = "ready> "

// commonLines are typed in every configuration of a shell.
var commonLines = map[string][]string{
	"bash": {"echo one", "false", "echo $?", "(exit 3)", "echo $? $_", "true | false", "cd /", "cd", "", "echo one", "echo one", " echo hidden"},
	"zsh":  {"echo one", "false", "echo $?", "(exit 3)", "echo $? $_", "true | false", "printf x", "cd /", "cd", "", "echo one", "echo one", " echo hidden"},
	"fish": {"echo one", "false", "echo $status", "true | false", "printf x", "cd /", "cd", "", "echo one", "echo one", " echo hidden"},
}

var configurations = map[string]configuration{
	"bash with a prompt": {shell: "bash", rc: `PS1='\u:\w ready> '; PS2='more> '`, lines: []string{"echo 'a\nb'", "if true\nthen echo yes\nfi"}},
	"bash with PROMPT_COMMAND": {shell: "bash", rc: `
		pc() { echo "pc $?" >> ~/log; }
		PROMPT_COMMAND='pc'
		PS0='user \w\n'
		PS1='ready> '`,
		lines: []string{`PROMPT_COMMAND="$PROMPT_COMMAND; echo more \$? >> ~/log"`, "false", `PROMPT_COMMAND="echo before \$? >> ~/log; $PROMPT_COMMAND"`, "false", "(exit 4)", "PROMPT_COMMAND=other", "other() { echo other $? >> ~/log; }", "false", "unset PROMPT_COMMAND", "false", "echo x"}},
	"bash with PROMPT_COMMAND that ends in a semicolon": {shell: "bash", rc: `
		PROMPT_COMMAND='echo "pc $?" >> ~/log;  '
		PS1='ready> '`},
	"bash with an array of prompt commands": {shell: "bash", rc: `
		PROMPT_COMMAND=('echo "a $?" >> ~/log' 'false' 'echo "b $?" >> ~/log')
		PS1='ready> '`,
		lines: []string{"PROMPT_COMMAND+=('echo c $? >> ~/log')", "(exit 5)", "unset 'PROMPT_COMMAND[1]'", "(exit 6)"}},
	"bash with prompts made anew": {shell: "bash", rc: `
		build() { local s=$?; PS1="[$s] "; PS1+='ready> '; PS2="$s more> "; PS0="ps0 $s\n"; }
		PROMPT_COMMAND=build`, lines: []string{"echo 'a\nb'"}},
	"bash with prompts that run commands": {shell: "bash", rc: `
		PS1='$(echo "st $?") $((1+1)) ${debian_chroot:+x}\$ ready> '
		PS0='$(echo ps0 >> ~/log)\!\r'`},
	"bash with a DEBUG trap": {shell: "bash", rc: `
		PS1='ready> '
		trap 'echo "debug $BASH_COMMAND $?" >> ~/log' DEBUG`,
		lines: []string{"trap -p DEBUG", "trap 'echo other $BASH_COMMAND >> ~/log' DEBUG", "echo x", "trap -p", "trap - DEBUG", "echo y"}},
	"bash that times commands": {shell: "bash", rc: `
		timer_start() { timer=${timer:-$((++starts))}; }
		timer_stop() { echo "timer $timer" >> ~/log; unset timer; }
		trap timer_start DEBUG
		PROMPT_COMMAND=timer_stop
		PS1='ready> '`},
	"bash with a DEBUG trap set late": {shell: "bash", rc: `
		PS1='ready> '
		PROMPT_COMMAND='at_prompt=1'`,
		lines: []string{"trap 'if [[ $at_prompt && $BASH_COMMAND != at_prompt=1 ]]; then at_prompt=; echo \"ran $BASH_COMMAND\" >> ~/log; fi' DEBUG",
			"true", "true", "rm ~/log", "echo x", "echo y; echo z"}}, // the first two prompts still have a hook for the trap to see
	"bash with a framework of hooks": {shell: "bash", rc: `
		# In the manner of frameworks that give bash the preexec of zsh: they take over at the first prompt, and know by
		# a flag, set by the last of the prompt commands, that what the DEBUG trap sees next was typed.
		preexec() { echo "preexec $1" >> ~/log; }
		precmd() { echo "precmd $1" >> ~/log; PS1="($1) "; PS1+='ready> '; }
		fw_precmd() { fw_status=$?; fw_typing=; precmd "$fw_status"; return $fw_status; }
		fw_interactive() { fw_typing=1; }
		fw_debug() {
			[[ $fw_typing ]] || return 0
			local part
			while IFS= read -r part; do
				[[ $part == "$BASH_COMMAND" ]] && { fw_typing=; return 0; }
			done <<< "$(printf '%s\n' "${PROMPT_COMMAND[@]//;/$'\n'}")"
			fw_typing=
			preexec "$(HISTTIMEFORMAT= history 1 | sed 's/^ *[0-9]*[* ] //')"
		}
		fw_install() {
			trap fw_debug DEBUG
			PROMPT_COMMAND="fw_precmd"$'\n'"${PROMPT_COMMAND/fw_install/:}"
			PROMPT_COMMAND+=(fw_interactive)
			fw_interactive
		}
		PROMPT_COMMAND=fw_install
		PS1='ready> '`},
	"bash with exported prompts": {shell: "bash", rc: `
		export PS1='ready> ' PS0='user\n' PROMPT_COMMAND='echo "pc $?" >> ~/log'`, lines: []string{"bash --norc", "false", "exit", "true"}},
	"bash with traps": {shell: "bash", rc: `
		PS1='ready> '; PROMPT_COMMAND='echo "pc $?" >> ~/log'
		trap 'echo "err $?" >> ~/log' ERR; trap 'echo bye >> ~/log' EXIT;
		trap 'echo usr1 >> ~/log' USR1`, lines: []string{"kill -USR1 $$", "set -E", "false", "f() { false; }", "f", "trap -p"}},
	"bash under set -e": {shell: "bash", rc: "PS1='ready> '; PROMPT_COMMAND='echo pc >> ~/log'", lines: []string{"set -e", "true", "! true", "if false; then :; fi", "false || true", "set +e"}},
	"bash under set -x": {shell: "bash", rc: "PS1='ready> '; PROMPT_COMMAND='echo \"pc $?\" >> ~/log'; PS4='+ '", lines: []string{"set -x", "false", "(exit 4)", "PROMPT_COMMAND=", "false", "set +x"}},
	"bash under set -u": {shell: "bash", rc: "PS1='ready> '; set -u", lines: []string{"echo ok"}},
	"bash with strange options": {shell: "bash", rc: `
		PS1='ready> '; PROMPT_COMMAND='echo "pc $?" >> ~/log'
		set -a -f -C -k -h; shopt -s nocasematch failglob nullglob dotglob extglob xpg_echo lastpipe globstar autocd cdable_vars; IFS=x; GLOBIGNORE=y`},
	"bash under set -o posix":     {shell: "bash", rc: "PS1='ready> '; PROMPT_COMMAND='echo \"pc $?\" >> ~/log'", lines: []string{"set -o posix", "false", "echo x", "set +o posix", "echo y"}},
	"bash with functrace":         {shell: "bash", rc: "PS1='ready> '; shopt -s extdebug; set -T"},
	"bash with read-only prompts": {shell: "bash", rc: "PS1='ready> '; readonly PS1; PS0='x '; readonly PS0; readonly PS2"},
	"bash with read-only hooks":   {shell: "bash", rc: "PS1='ready> '; PROMPT_COMMAND='echo pc >> ~/log'; readonly PROMPT_COMMAND HISTCONTROL HISTTIMEFORMAT"},
	"bash without promptvars":     {shell: "bash", rc: "PS1='ready> '; PS0='user\\n'", lines: []string{"shopt -u promptvars", "echo x", "shopt -s promptvars", "echo y"}},
	"bash in vi mode":             {shell: "bash", rc: "PS1='ready> '; set -o vi"},
	"bash with functions in the way": {shell: "bash", rc: `
		PS1='ready> '
		printf() { echo "my printf" >> ~/log; }; history() { echo "my history" >> ~/log; }; local() { :; }; set() { :; }
		alias printf='echo not this' trap='echo nor this' if='if ' set=:`},
	"bash with HISTCONTROL=ignoreboth":  {shell: "bash", rc: "PS1='ready> '; HISTCONTROL=ignoreboth", lines: historyLines},
	"bash with HISTCONTROL=ignoredups":  {shell: "bash", rc: "PS1='ready> '; HISTCONTROL=ignoredups; HISTTIMEFORMAT='%Y '; HISTFILESIZE=-1", lines: historyLines},
	"bash with HISTCONTROL=ignorespace": {shell: "bash", rc: "PS1='ready> '; HISTCONTROL=ignorespace; HISTIGNORE='ls*:echo b'", lines: historyLines},
	"bash with HISTCONTROL=erasedups":   {shell: "bash", rc: "PS1='ready> '; HISTCONTROL=ignoreboth:erasedups", lines: historyLines},
	"bash with a short history":         {shell: "bash", rc: "PS1='ready> '; HISTCONTROL=ignoreboth; HISTSIZE=4; HISTFILESIZE=3", lines: historyLines},
	"bash with a shared history":        {shell: "bash", rc: "PS1='ready> '; shopt -s histappend; HISTCONTROL=ignoreboth; PROMPT_COMMAND='history -a; history -c; history -r'", lines: historyLines},
	"bash with an appended history":     {shell: "bash", rc: "PS1='ready> '; shopt -s histappend; HISTCONTROL=ignoreboth; PROMPT_COMMAND='history -a'", lines: historyLines},
	"bash without a history":            {shell: "bash", rc: "PS1='ready> '; set +o history", lines: []string{"echo x", "set -o history", "echo y"}},
	"bash with its history elsewhere":   {shell: "bash", rc: "PS1='ready> '", env: []string{"HISTFILE=hist", "MAILCHECK=7"}, lines: []string{"echo $MAILCHECK"}},
}

func init() {
	for name, c := range map[string]configuration{
		"zsh with a prompt": {rc: "PS1='%n:%~ ready> '; PS2='more> '", lines: []string{"echo 'a\nb'", "if true\nthen echo yes\nfi"}},
		"zsh with precmd and preexec": {rc: `
			PS1='ready> '
			precmd() { echo "precmd $?" >> ~/log }
			preexec() { echo "preexec $1|$2|$3" >> ~/log }`},
		"zsh with arrays of hooks": {rc: `
			autoload -Uz add-zsh-hook
			a() { echo "a $?" >> ~/log; PS1="[$?] "; PS1+='ready> ' }; b() { echo "b $? $1" >> ~/log }
			add-zsh-hook precmd a; preexec_functions+=(b); chpwd_functions=(b)
			PS1='ready> '`,
			lines: []string{"precmd_functions+=(b)", "preexec_functions=(a $preexec_functions)", "true", "precmd_functions=(b)", "false", "preexec_functions=()", "false"}},
		"zsh with arrays set anew":        {rc: "f() { echo f >> ~/log }; precmd_functions=(f); PS1='ready> '"},
		"zsh with its own end of line":    {rc: "PROMPT_EOL_MARK='<%?>'; PS1='ready> '", lines: []string{"echo $PROMPT_EOL_MARK[-4,-1]", "printf y", "PROMPT_EOL_MARK=''", "printf y", "unset PROMPT_EOL_MARK", "printf z", "true"}},
		"zsh without an end of line":      {rc: "unsetopt prompt_sp; PS1='ready> '", lines: []string{"setopt prompt_sp", "echo x", "unsetopt prompt_cr", "echo x"}},
		"zsh with read-only ends of line": {rc: "typeset -r PROMPT_EOL_MARK='$'; PS1='ready> '"},
		"zsh with a DEBUG trap": {rc: `
			PS1='ready> '
			trap '[[ $ZSH_DEBUG_CMD == *__tandem* || -n ${funcstack[1]} ]] || echo "debug $ZSH_DEBUG_CMD" >> ~/log' DEBUG`, lines: []string{"trap", "trap - DEBUG", "echo x"}},
		"zsh with traps": {rc: `
			PS1='ready> '
			TRAPZERR() { echo "err $?" >> ~/log }; TRAPEXIT() { [[ -o login ]] && echo "exit $?" >> ~/log }
			trap 'echo usr1 >> ~/log' USR1`, lines: []string{"kill -USR1 $$", "f() { false; }", "f"}},
		"zsh with widgets": {rc: `
			PS1='ready> '; bindkey -v
			zle-line-init() { echo "line $WIDGET" >> ~/log }; zle -N zle-line-init
			zle-line-finish() { echo finish >> ~/log }; zle -N zle-line-finish`, lines: []string{"echo 'a\nb'"}},
		"zsh with prompts that run commands": {rc: `setopt prompt_subst; PS1='$(echo "st $?") %? %(1j.j.)ready> '; RPS1='right'`},
		"zsh with strange options": {rc: `
			precmd() { echo "precmd $?" >> ~/log }
			PS1='ready> '
			setopt ksh_arrays sh_word_split glob_subst extended_glob warn_create_global no_clobber csh_junkie_quotes err_return
			setopt no_bang_hist rc_quotes ksh_glob no_multibyte all_export local_options typeset_silent no_short_loops ignore_braces`},
		"zsh under set -x": {rc: "PS1='ready> '; precmd() { echo pc >> ~/log }", lines: []string{"set -x", "false", "set +x"}},
		"zsh under set -u": {rc: "setopt no_unset; PS1='ready> '", lines: []string{"echo ok"}},
		"zsh with a history": {rc: "HISTFILE=~/.zsh_history HISTSIZE=100 SAVEHIST=100; setopt hist_ignore_space hist_ignore_dups extended_history; PS1='ready> '",
			lines: []string{"echo a", "echo a", " echo b", "echo 'x\ny'", "!e", "history", "fc -l -3"}},
		"zsh with a shared history": {rc: "HISTFILE=~/.zsh_history HISTSIZE=100 SAVEHIST=100; setopt share_history hist_ignore_all_dups; PS1='ready> '",
			lines: []string{"echo a", "echo b", "echo a", "history"}},
		"fish with a prompt": {rc: "function fish_prompt; echo \"[$status] \"; echo 'ready> '; end; function fish_right_prompt; echo right; end"},
		"fish with handlers": {rc: `
			function fish_prompt; echo "ready> "; end
			function at_prompt --on-event fish_prompt; echo "prompt $status" >> ~/log; end
			function before --on-event fish_preexec; echo "before $argv" >> ~/log; end
			function after --on-event fish_postexec; echo "after $status $argv" >> ~/log; end
			function on_pwd --on-variable PWD; echo "pwd $PWD" >> ~/log; end
			function bye --on-event fish_exit; echo "bye $status" >> ~/log; end`, lines: []string{"function x\nreturn 4\nend", "x", "for i in 1 2\necho $i\nend"}},
		"fish in vi mode": {rc: "fish_vi_key_bindings; function fish_prompt; echo 'ready> '; end"},
	} {
		c.shell, _, _ = strings.Cut(name, " ")
		c.rc = strings.ReplaceAll(c.rc, "\n\t\t\t", "\n")
		configurations[name] = c
	}
}

var historyLines = []string{"echo a", "echo a", " echo b", "echo b", "echo 'x\ny'", "echo 'x\ny'", "echo a", "echo a", "history", "echo $HISTCONTROL", "HISTCONTROL=$HISTCONTROL:ignoredups", "echo z", "echo z", "history -d 2", "history -s made up", "!e", "fc -l -3", "history -a"}

// ofOurs are what DEBUG traps see of the integration.
var ofOurs = regexp.MustCompile(`(?m)^.*__tandem_.*\n`)

// times are those of the commands in history files.
var times = regexp.MustCompile(`(?m)^#\d+\n|^  when: \d+\n|^: \d+:\d+;`)

// TestConfigurations types the same lines with and without the integration, and compares all that the person can see:
// the screen, what the hooks wrote, the history and the exit status.
func TestConfigurations(t *testing.T) {
	for name, c := range configurations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := find(t, c.shell)
			lines := slices.Concat(commonLines[c.shell], c.lines)
			var screens, logs, histories [2]string
			for i := range 2 {
				h := newHome(t, map[string]string{".bash_profile": c.rc + "\n", ".zshrc": c.rc + "\n", ".config/fish/config.fish": c.rc + "\n"}, c.env...)
				s := start(t, path, h, i == 1)
				for n, line := range lines {
					s.at(ready, n+1)
					s.write(strings.ReplaceAll(line, "\n", "\r") + "\r")
				}
				s.at(ready, len(lines)+1)
				s.write("exit 9\r")
				if code := s.exit(); code != 9 {
					t.Errorf("exit status %d, want 9", code)
				}
				screens[i] = strings.ReplaceAll(markPattern.ReplaceAllString(string(s.output()), ""), h.dir, "/home")
				logs[i] = strings.ReplaceAll(ofOurs.ReplaceAllString(h.read("log"), ""), h.dir, "/home")
				history := h.read(".bash_history") + h.read("hist") + h.read(".zsh_history") + h.read(".local/share/fish/fish_history")
				histories[i] = times.ReplaceAllString(history, "")
				if c.shell == "fish" {
					screens[i] = ""                                                                             // what fish draws, and when, depends on its other threads
					histories[i] = strings.Join(slices.Compact(slices.Sorted(strings.Lines(histories[i]))), "") // it drops duplicates now and then
				}
				if i == 1 {
					s.commands()
				}
			}
			for what, pair := range map[string][2]string{"screen": screens, "log": logs, "history": histories} {
				if pair[0] != pair[1] {
					t.Errorf("%s without integration:\n%s\nwith it:\n%s", what, readable([]byte(pair[0])), readable([]byte(pair[1])))
				}
			}
		})
	}
}

// TestHistoryLines types lines that the history leaves out, of which some have nothing to hide.
func TestHistoryLines(t *testing.T) {
	hidden := command{"", "b\n", "0"} // a line that is kept from the history is kept from others
	for name, test := range map[string]struct {
		rc   string
		want []command
	}{
		"everything":  {"", []command{{"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}, {" echo b", "b\n", "0"}, {"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}}},
		"ignoreboth":  {"HISTCONTROL=ignoreboth", []command{{"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}, hidden, {"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}}},
		"ignorespace": {"HISTCONTROL=ignorespace", []command{{"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}, hidden, {"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}}},
		"erasedups":   {"HISTCONTROL=ignoreboth:erasedups", []command{{"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}, hidden, {"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}}},
		"a pattern":   {"HISTIGNORE='*b'", []command{{"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}, hidden, {"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}}},
		"full":        {"HISTCONTROL=ignoreboth; HISTSIZE=2", []command{{"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}, hidden, {"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}}},
		"reloaded":    {"HISTCONTROL=ignoreboth; PROMPT_COMMAND='history -a; history -c; history -r'", []command{{"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}, hidden, {"echo a", "a\n", "0"}, {"echo a", "a\n", "0"}}},
		"read-only":   {"readonly HISTTIMEFORMAT=%F", []command{{"", "a\n", "0"}, {"", "a\n", "0"}, hidden, {"", "a\n", "0"}, {"", "a\n", "0"}}},
		"none":        {"set +o history", []command{{"", "a\n", "0"}, {"", "a\n", "0"}, hidden, {"", "a\n", "0"}, {"", "a\n", "0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, find(t, "bash"), newHome(t, map[string]string{".bash_profile": test.rc + "\n"}), true)
			s.prompts(1)
			for _, line := range []string{"echo a", "echo a", " echo b", "echo a", "echo a"} {
				s.run(line)
			}
			s.compare(test.want)
		})
	}
}
