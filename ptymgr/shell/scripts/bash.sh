# Shell integration for bash 4.4 and later. An interactive login shell that was started in POSIX mode reads this file,
# which ENV names, and no other; so it reads the files of a login shell in their place, between its two halves.

builtin set +o posix
builtin unset -v ENV
if [ "${__tandem_env+set}" ]; then
	builtin export ENV="$__tandem_env"
	builtin unset -v __tandem_env
fi
builtin export -n __tandem_nonce
# What POSIX mode leaves behind, unless the environment had it so.
if [[ ${BASH_VERSINFO[0]} -gt 4 || ${BASH_VERSINFO[0]} -eq 4 && ${BASH_VERSINFO[1]} -ge 4 ]]; then
	builtin shopt -u inherit_errexit
	if [[ ${HISTFILE@a} != *x* ]]; then
		HISTFILE=~/.bash_history
	fi
	if [[ ${MAILCHECK@a} != *x* ]]; then
		MAILCHECK=60
	fi
fi

# Each function that is called from a prompt starts with options of its own, for the person may have set any. A command
# that fails in one would end a shell under set -e and set off an ERR trap, so none does.

# __tandem_prompt comes first in PROMPT_COMMAND. It tells of the end of the command and of the new prompt.
__tandem_prompt() {
	builtin set -- "$?" "$-"
	builtin local -
	builtin set +aefkuvxCET
	__tandem_tell "$1"
	__tandem_hold_dups
	# What else is in the same string of PROMPT_COMMAND is to find $? as it was, behind what can fail unnoticed only.
	builtin local __tandem_sole=0
	if [[ ${PROMPT_COMMAND-} == "$__tandem_first" ]]; then
		__tandem_sole=1
	elif [[ $2 == *e* && ${PROMPT_COMMAND-} != "$__tandem_first &&"* ]]; then
		__tandem_sole=1
	fi
	__tandem_hook "$2"
	if [[ $__tandem_sole == 1 ]]; then
		builtin return 0
	fi
	builtin return "$1"
}

# __tandem_prompt_end comes last in PROMPT_COMMAND, behind whatever sets the prompt anew each time.
__tandem_prompt_end() {
	builtin set -- "$?" "$-"
	builtin local -
	builtin set +aefkuvxCET
	if [[ $__tandem_ran != 0 ]]; then
		__tandem_tell "$1" # for the command took the first hook away
	fi
	__tandem_hook "$2"
	builtin return 0
}

# __tandem_tell tells of the end of the command, if one ran, with status $1, and of a prompt.
__tandem_tell() {
	builtin local __tandem_marks='' __tandem_out
	if [[ $__tandem_ran != 0 ]]; then
		__tandem_marks=$'\e]633;D;'$1';'$__tandem_nonce$'\a'
		__tandem_traps=$((__tandem_ran & 6))
		if [[ $__tandem_ran -ge 8 && $HISTCMD == "$__tandem_next" ]]; then
			builtin history -d "$((__tandem_ran >> 3))" # see __tandem_hold_dups
		fi
		__tandem_ran=0
	fi
	if [[ $PWD != "$__tandem_cwd" ]]; then
		__tandem_cwd=$PWD
		__tandem_escape "$PWD"
		__tandem_marks+=$'\e]633;P;Cwd='$__tandem_out';'$__tandem_nonce$'\a'
	fi
	builtin printf '%s\e]633;A;%s\a' "$__tandem_marks" "$__tandem_nonce" >/dev/tty
}

# __tandem_hook puts the hooks where they belong, if the person's files or commands moved them. $1 is what $- is to the
# person.
__tandem_hook() {
	__tandem_next=$HISTCMD
	if [[ -v PROMPT_COMMAND && ${PROMPT_COMMAND@a} == *r* ]]; then
		if [[ ${PROMPT_COMMAND[*]} != *"$__tandem_first"* ]]; then
			builtin return 0
		fi
	else
		__tandem_hook_first "$1"
		__tandem_hook_last
	fi
	# Not so with promptvars off, which shows what is to be expanded.
	if [[ ! -v PS0 || ${PS0@a} != *r* ]]; then
		if ! builtin shopt -q promptvars; then
			PS0=${PS0//"$__tandem_ps0"}
		elif [[ ${PS0-} != *"$__tandem_ps0" ]]; then
			PS0=${PS0//"$__tandem_ps0"}$__tandem_ps0
		fi
	fi
	if [[ -v PS1 && ${PS1@a} != *r* ]]; then
		if ! builtin shopt -q promptvars; then
			PS1=${PS1//"$__tandem_ps1"}
		elif [[ $PS1 != *"$__tandem_ps1" && $PS1 != *\\ ]]; then
			PS1=${PS1//"$__tandem_ps1"}$__tandem_ps1
		fi
	fi
}

# __tandem_hook_first makes __tandem_prompt the first line of PROMPT_COMMAND, or of its first string: whoever assigns to
# the variable replaces that. A status that is not 0 would be a failure to set -e and an ERR trap, but not in a list.
__tandem_hook_first() {
	builtin local __tandem_line="$__tandem_first"
	if [[ $1 == *e* || $((__tandem_traps & 4)) != 0 ]]; then
		__tandem_line+=' && :'
	fi
	if [[ ! ${PROMPT_COMMAND-} || $PROMPT_COMMAND == "$__tandem_first" || $PROMPT_COMMAND == "$__tandem_first && :" ]]; then
		PROMPT_COMMAND=$__tandem_first
	elif [[ $PROMPT_COMMAND != "$__tandem_line"$'\n'* ]]; then
		PROMPT_COMMAND=${PROMPT_COMMAND#"$__tandem_first && :"$'\n'}
		PROMPT_COMMAND=${PROMPT_COMMAND#"$__tandem_first"$'\n'}
		PROMPT_COMMAND=$__tandem_line$'\n'${PROMPT_COMMAND//$'\n'"$__tandem_first"$'\n'/$'\n'}
	fi
}

# __tandem_hook_last makes __tandem_prompt_end the last of PROMPT_COMMAND, but leaves it out where there is a DEBUG trap.
# That would run for it after the person's own commands, and those who time or name commands in the trap would take it
# for what the person types next.
__tandem_hook_last() {
	# An array cannot be exported, and before bash 5.1 only its first string is executed.
	if [[ ${PROMPT_COMMAND@a} == *x* || $((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1])) -lt 501 ]]; then
		if [[ $((__tandem_traps & 2)) != 0 ]]; then
			PROMPT_COMMAND=${PROMPT_COMMAND%$'\n'"$__tandem_last"}
		elif [[ $PROMPT_COMMAND != *"$__tandem_last"* ]]; then
			PROMPT_COMMAND+=$'\n'$__tandem_last
		fi
		builtin return 0
	fi
	builtin local __tandem_i
	for __tandem_i in "${!PROMPT_COMMAND[@]}"; do
		if [[ ${PROMPT_COMMAND[__tandem_i]} == "$__tandem_last" ]]; then
			if [[ $((__tandem_traps & 2)) != 0 ]]; then
				builtin unset -v "PROMPT_COMMAND[$__tandem_i]"
			fi
			builtin return 0
		fi
	done
	if [[ $((__tandem_traps & 2)) == 0 ]]; then
		PROMPT_COMMAND+=("$__tandem_last")
	fi
}

# __tandem_hold_dups makes bash keep duplicates in the history until their command has ended. There is no other way to
# tell a line that was left out as a duplicate, which is the last one of the history, from one that was left out for
# its leading space, which nobody else is to know. A reference writes the variable without bash acting on it, so it
# reads as the person set it.
__tandem_hold_dups() {
	__tandem_dups=0
	if [[ :${HISTCONTROL-}: != *:ignore@(dups|both):* || ${HISTCONTROL@a} == *[ar]* ]]; then
		builtin return 0
	fi
	builtin local __tandem_value="$HISTCONTROL" __tandem_kept=''
	builtin local -n __tandem_unseen=HISTCONTROL
	if [[ :$HISTCONTROL: == *:ignore@(space|both):* ]]; then
		__tandem_kept=ignorespace
	fi
	if [[ :$HISTCONTROL: == *:erasedups:* ]]; then
		__tandem_kept+=:erasedups
	else
		__tandem_dups=1
	fi
	HISTCONTROL=$__tandem_kept
	builtin printf -v __tandem_unseen %s "$__tandem_value"
}

# __tandem_escape sets __tandem_out to $1 without what would end or split a sequence.
__tandem_escape() {
	__tandem_out=$1
	if [[ $1 != *[\\\;[:cntrl:]]* ]]; then
		builtin return 0
	fi
	builtin local __tandem_i __tandem_c __tandem_x LC_ALL=C
	__tandem_x='\\'
	__tandem_out=${1//\\/"$__tandem_x"}
	__tandem_x='\x3b'
	__tandem_out=${__tandem_out//;/"$__tandem_x"}
	__tandem_x='\x0a'
	__tandem_out=${__tandem_out//$'\n'/"$__tandem_x"}
	if [[ $__tandem_out == *[[:cntrl:]]* ]]; then
		for __tandem_i in {1..31} 127; do
			builtin printf -v __tandem_x '\\x%02x' "$__tandem_i"
			builtin printf -v __tandem_c %b "$__tandem_x"
			__tandem_out=${__tandem_out//"$__tandem_c"/"$__tandem_x"}
		done
	fi
	# The control characters beyond ASCII, as UTF-8.
	if [[ $__tandem_out == *$'\xc2'[$'\x80'-$'\x9f']* ]]; then
		for __tandem_i in {128..159}; do
			builtin printf -v __tandem_x '\\xc2\\x%02x' "$__tandem_i"
			builtin printf -v __tandem_c %b "$__tandem_x"
			__tandem_out=${__tandem_out//"$__tandem_c"/"$__tandem_x"}
		done
	fi
}

# __tandem_history is run in a subshell. It writes the last line of the history; then what the last two lines are after
# another is added the way of the command history -s, which first takes away the line that it was typed in.
__tandem_history() {
	builtin local -
	builtin set +aefkuvxCET
	builtin local HISTTIMEFORMAT='' HISTFILE='' || builtin return 0 # it is read-only
	builtin set -o history # which would read HISTFILE
	builtin printf %s "$__tandem_nonce"
	builtin history 1
	builtin printf %s "$__tandem_nonce"
	builtin history -s "$__tandem_nonce"
	builtin history 2
}

# __tandem_exec is run in a subshell, from PS0. It tells which command starts, and writes what that subshell's parent is
# to know: 0 for nothing told, else 1, plus 2 if there is a DEBUG trap, plus 4 if there is an ERR trap, plus 8 times the
# number of the line in the history if it is to be taken from there. $1 is the status of the command before, which did not
# end yet if the two were pasted together, and $2 the traps and what __tandem_history wrote.
__tandem_exec() {
	builtin local -
	builtin set +aefkuvxCET
	if [[ ${PROMPT_COMMAND[*]-} != *"$__tandem_first"* ]]; then
		builtin return 0 # then nobody would tell of the command's end
	fi
	builtin local __tandem_report=1 __tandem_out='' __tandem_line='' __tandem_number __tandem_two __tandem_one __tandem_marks=''
	if [[ $__tandem_ran != 0 ]]; then
		__tandem_marks=$'\e]633;D;'$1';'$__tandem_nonce$'\a'
	fi
	__tandem_traps_in "${2%%"$__tandem_nonce"*}"
	__tandem_report=$((1 + __tandem_traps))
	__tandem_one=${2#*"$__tandem_nonce"}
	__tandem_two=${__tandem_one#*"$__tandem_nonce"}
	__tandem_one=${__tandem_one%%"$__tandem_nonce"*}
	__tandem_entry "${__tandem_one%$'\n'}"
	__tandem_one=$__tandem_line
	builtin local __tandem_typed="$__tandem_number"
	__tandem_entry "${__tandem_two##*$'\n'}"
	# The line is in the history if it went for the other, or, for it does not if it is several, has the next number.
	if [[ :$SHELLOPTS: == *:history:* && $__tandem_line == "$__tandem_nonce" && ($__tandem_number == "$__tandem_typed" ||
		$__tandem_lines -gt 1 && $__tandem_typed == "$__tandem_next") ]]; then
		__tandem_escape "${__tandem_one%$'\n'}" # which ends one with a here-document
		__tandem_entry "${__tandem_two%$'\n'*}"
		if [[ $__tandem_dups == 1 && $__tandem_lines -le 1 && $__tandem_line == "$__tandem_one" && $__tandem_number != "$__tandem_typed" ]]; then
			__tandem_report=$((__tandem_report + 8 * __tandem_typed))
		fi
	fi
	builtin printf '%s\e]633;E;%s;%s\a' "$__tandem_marks" "$__tandem_out" "$__tandem_nonce" >/dev/tty
	builtin printf %s "$__tandem_report"
}

# __tandem_traps_in sets __tandem_traps from what trap -p writes of the DEBUG and the ERR trap.
__tandem_traps_in() {
	__tandem_traps=0
	if [[ $1 == *\ DEBUG$'\n'* ]]; then
		__tandem_traps=2
	fi
	if [[ $1 == *\ ERR$'\n'* ]]; then
		__tandem_traps=$((__tandem_traps + 4))
	fi
}

# __tandem_entry sets __tandem_number and __tandem_line to the two parts of an entry as history prints it.
__tandem_entry() {
	__tandem_line=${1#"${1%%[!' ']*}"}
	__tandem_number=${__tandem_line%%[!0-9]*}
	__tandem_line=${__tandem_line#"$__tandem_number"}
	__tandem_line=${__tandem_line:2} # a space, or * for a line that was edited, and a space
}

# __tandem_install is called once, when the files of the login shell have been read.
__tandem_install() {
	builtin local -
	builtin set +aefkuvxCET
	builtin unset -f __tandem_install
	if [[ ${BASH_VERSINFO[0]} -lt 4 || ${BASH_VERSINFO[0]} -eq 4 && ${BASH_VERSINFO[1]} -lt 4 ]]; then
		builtin return 0
	fi
	# Until a command tells, there may be a DEBUG trap: frameworks set theirs at the first prompt.
	__tandem_ran=0 __tandem_next='' __tandem_lineno=0 __tandem_lines=0 __tandem_cwd='' __tandem_dups=0 __tandem_traps=2
	# Shells that inherit what follows do not have these variables. They run what is empty then, and leave $? as it was.
	# The braces keep traces from being shown. The lines are for frameworks, which look in PROMPT_COMMAND for a line that
	# is what their DEBUG trap sees.
	__tandem_call=__tandem_prompt
	__tandem_call_end=__tandem_prompt_end
	__tandem_first=$'{\n${__tandem_call-$(exit $?)}\n} 2> /dev/null'
	__tandem_last=$'{\n${__tandem_call_end-$(exit $?)}\n} 2> /dev/null'
	# PS0 is expanded by this shell, but only a subshell can run commands there. What the shell is to remember comes as
	# the value of an expression, whose text is then cut to nothing. C is told by the shell itself, lest an interrupt
	# comes between.
	__tandem_on=1
	__tandem_c=$'\e]633;C;'$__tandem_nonce$'\a'
	__tandem_ps0='${__tandem_on:+${__tandem_on:$((__tandem_lines=LINENO-__tandem_lineno,__tandem_lineno=LINENO)):0}${__tandem_on:$((__tandem_ran=10#0$({ __tandem_exec "$?" "$(builtin trap -p DEBUG ERR; __tandem_history)"; } 2>/dev/null),__tandem_next=HISTCMD)):0}${__tandem_yes[__tandem_ran>0]:+$__tandem_c}}'
	# If the command left no hook in PROMPT_COMMAND, the prompt itself tells of its end, each time it is shown.
	__tandem_yes=([1]=yes)
	__tandem_d=$'\e]633;D;'
	__tandem_a=';'$__tandem_nonce$'\a\e]633;A;'$__tandem_nonce$'\a'
	__tandem_b=$'\e]633;B;'$__tandem_nonce$'\a'
	__tandem_ps1='\[${__tandem_on:+${__tandem_yes[__tandem_ran>0]:+$__tandem_d$?$__tandem_a}${__tandem_on:$((__tandem_lineno=LINENO)):0}$__tandem_b}\]'
	__tandem_hook ''
}

if [[ -r /etc/profile ]]; then
	builtin . /etc/profile
fi
if [[ -e ~/.bash_profile ]]; then
	builtin . ~/.bash_profile
elif [[ -e ~/.bash_login ]]; then
	builtin . ~/.bash_login
elif [[ -e ~/.profile ]]; then
	builtin . ~/.profile
fi
\__tandem_install
