// Package shell makes bash (4.4 and later), zsh and fish tell what they do: where a prompt starts and ends, which
// command was typed, when it starts, how it ends, and in which directory. It touches none of the person's files.
//
// # Sequences
//
// They are OSC 633 sequences, each with a nonce behind all other parameters, and end in BEL:
//
//	ESC ] 633 ; A ; nonce BEL            a prompt starts
//	ESC ] 633 ; B ; nonce BEL            it ends, and typing starts
//	ESC ] 633 ; E ; line ; nonce BEL     the line that is about to be executed; empty if it is not known
//	ESC ] 633 ; C ; nonce BEL            execution starts: what follows is output
//	ESC ] 633 ; D ; status ; nonce BEL   execution has ended; status is 0-255
//	ESC ] 633 ; P ; Cwd=dir ; nonce BEL  the directory, at the first prompt and whenever it is another one
//
// In line and dir a backslash is written \\, and a semicolon and each byte of a control character \xNN (two lower-case
// hexadecimal digits), so that line and dir are UTF-8 again once decoded byte by byte. Readers that know no nonce but
// that of E find all they know in its place, and take the rest for a parameter too many.
//
// Their order is A B E C D P A, in which P, B and whole commands may be missing:
//   - E comes right before C. If Ctrl-C arrives at that very moment there is an E without a C.
//   - A, B and P may come again without a command: an empty line, Ctrl-C, a syntax error, a prompt drawn again.
//   - fish has no B, for that would take a changed fish_prompt. bash has none at prompts that are made anew by others
//     later than the integration can look, nor zsh where add-zle-hook-widget is missing.
//   - D is missing when the shell itself ends (exit, exec, set -e), but for fish; and when a command takes the hooks away.
//     Then nothing more is told, until the hooks are back where others are still called.
//   - Commands that are pasted together into bash have no prompt between them: E C D E C D.
//
// The line of a command is what the shell has in its history: bash writes a command of several lines as one where that
// means the same, and history expansion is done. A line that bash keeps out of its history for a leading space or by
// HISTIGNORE is not told. Output that a shell writes between C and D belongs to the command, too: fish sets the title
// then, zsh calls a function that is named precmd before D unless PROMPT_SP is on, as it is by default.
//
// Newer fish also sends OSC 133 and OSC 7 of its own, around the same commands. A reader is to heed one kind.
//
// # How shells come to load the scripts
//
// The nonce and what a script has to give back travel in the environment, under names that start with __tandem. Each
// script takes them out of it before anything of the person's runs, so commands and nested shells do not inherit them.
// A nested shell tells nothing; what it writes is output of the command that started it. The nonce is no secret from
// programs of the same user, which can read the memory of the shell. It is one from what they print.
//
// bash is a login shell by the dash of its name and cannot be told of another file then: --init-file is for shells that
// are none, and emulating one would leave out logout and ~/.bash_logout. In POSIX mode, which --posix turns on, an
// interactive shell reads the file that ENV names and nothing else, a login shell too. The script turns the mode off,
// undoes the little that it leaves behind, and reads /etc/profile and the first of ~/.bash_profile, ~/.bash_login and
// ~/.profile at its top level, as bash would have done. TestState compares all that the shell knows then.
//
// In bash the hooks are PROMPT_COMMAND for the end of a command and PS0 for the start of one, and no DEBUG trap: that is
// the person's, does not run for ( ) and functions, and is slow. Only a subshell can run commands in PS0, so the start of
// a command costs two forks, of the subshell and of the one that it reads the history from. The DEBUG trap sees the hook
// in PROMPT_COMMAND, like all that is there.
//
// zsh reads .zshenv first, from ZDOTDIR. Ours gives ZDOTDIR back and reads the person's; zsh finds all other files by
// itself. A /etc/zsh/zshenv that sets ZDOTDIR keeps the script from being read, and the nonce in the environment. The
// hooks are in precmd_functions and preexec_functions. The end of a command is told by PROMPT_EOL_MARK while it runs,
// because zsh writes that, and the spaces behind it, before it calls anything.
//
// fish runs --init-command behind its configuration, also as a login shell, and has events to hook.
package shell
