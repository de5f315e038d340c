package ptymgr

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// terminalVariable carries the terminal's id to every process in it. It is how processes are found that left the
// session of their terminal.
const terminalVariable = "TANDEM_TERMINAL"

// ownPrefix starts the names of the server's own settings, passwords among them.
const ownPrefix = "TANDEM_"

// droppedVariables are about the place where the server was started, and wrong or harmful in a terminal of ours. A
// name that ends in * is a prefix.
var droppedVariables = []string{
	ownPrefix + "*",

	// The terminal that the server was started in.
	"TERMCAP", "TERMINFO", "TERM_*", "COLUMNS", "LINES", "WINDOWID", "SSH_TTY", "GPG_TTY", "LC_TERMINAL*", "TERMINAL_EMULATOR",
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "ZELLIJ*", "VTE_VERSION", "GNOME_TERMINAL_*", "KITTY_*", "WEZTERM_*", "ITERM_*",
	"ALACRITTY_*", "GHOSTTY_*", "KONSOLE_*", "WT_*", "VSCODE_*", "INSIDE_EMACS",

	// The shell that started it.
	"OLDPWD", "SHLVL", "_",

	// make, whose job server and recursion depth are not the person's.
	"MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MAKE_TERMOUT", "MAKE_TERMERR", "MAKE_RESTARTS",

	// The service manager: systemd.exec(5), sd_notify(3), sd_listen_fds(3).
	"INVOCATION_ID", "JOURNAL_STREAM", "NOTIFY_SOCKET", "WATCHDOG_*", "LISTEN_*", "MAINPID", "MANAGERPID*",
	"SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_*", "FDSTORE", "CREDENTIALS_DIRECTORY", "RUNTIME_DIRECTORY",
	"STATE_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY", "CONFIGURATION_DIRECTORY",
}

// environ returns the environment of a new terminal: the server's own less what must not or need not reach a shell,
// what a terminal sets, then spec.Env. shell is the value of SHELL, and spec.Dir, unless empty, that of PWD. The error
// is a *SpecError for "env".
func environ(id string, spec Spec, shell string) ([]string, error) {
	env := variables{}
	for _, entry := range os.Environ() {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" && !dropped(name) {
			env[name] = value
		}
	}
	env["TERM"] = "xterm-256color"
	env["COLORTERM"] = "truecolor"
	env["TERM_PROGRAM"] = "tandem"
	if version := programVersion(); version != "" {
		env["TERM_PROGRAM_VERSION"] = version
	}
	env["SHELL"] = shell
	delete(env, "PWD")
	if spec.Dir != "" {
		env["PWD"] = spec.Dir
	}
	env.identify()
	env.useUTF8()
	for name, value := range spec.Env {
		if err := checkVariable(name, value); err != nil {
			return nil, &SpecError{Field: "env", Err: err}
		}
		env[name] = value
	}
	env[terminalVariable] = id
	return env.entries(), nil
}

// dropped reports whether the server's variable stays with the server.
func dropped(name string) bool {
	return slices.ContainsFunc(droppedVariables, func(d string) bool {
		prefix, any := strings.CutSuffix(d, "*")
		return name == prefix || any && strings.HasPrefix(name, prefix)
	})
}

// checkVariable reports what keeps a variable out of an environment.
func checkVariable(name, value string) error {
	switch {
	case name == "":
		return errors.New("a variable needs a name")
	case strings.ContainsAny(name, "=\x00"):
		return fmt.Errorf("the name %q holds a character that none may: use neither = nor NUL", name)
	case strings.HasPrefix(name, ownPrefix):
		return fmt.Errorf("%s cannot be set: names that start with %s are the server's own", name, ownPrefix)
	case strings.Contains(value, "\x00"):
		return fmt.Errorf("the value of %s holds a NUL, which no value may", name)
	}
	return nil
}

// programVersion returns the version the binary was built as, or "" for a build from a working tree.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "(devel)" {
		return ""
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

// variables is an environment by name.
type variables map[string]string

// identify says whose environment it is, where a service manager did not.
func (env variables) identify() {
	if env["HOME"] != "" && env["USER"] != "" && env["LOGNAME"] != "" {
		return
	}
	u, err := user.Current()
	if err != nil {
		return // a user without a name has shells too
	}
	for name, value := range map[string]string{"HOME": u.HomeDir, "USER": u.Username, "LOGNAME": u.Username} {
		if env[name] == "" {
			env[name] = value
		}
	}
}

// useUTF8 makes the characters UTF-8, which is what the browser shows, and leaves the language alone.
func (env variables) useUTF8() {
	// The first that is not empty decides: locale(7).
	all, ctype, lang := env["LC_ALL"], env["LC_CTYPE"], env["LANG"]
	switch {
	case all != "":
		if isUTF8(all) {
			return
		}
		delete(env, "LC_ALL") // it would override what is set below
		env["LANG"] = all
	case ctype != "":
		if isUTF8(ctype) {
			return
		}
	case isUTF8(lang):
		return
	}
	delete(env, "LC_CTYPE")
	switch env["LANG"] {
	case "", "C", "POSIX":
		env["LANG"] = utf8Locale()
	default:
		if !isUTF8(env["LANG"]) {
			env["LC_CTYPE"] = utf8Locale()
		}
	}
}

// isUTF8 reports whether a locale name, language_COUNTRY.codeset@modifier, has UTF-8 as its codeset.
func isUTF8(locale string) bool {
	_, codeset, ok := strings.Cut(locale, ".")
	if !ok {
		codeset = locale // macOS has a locale that is just "UTF-8"
	}
	codeset, _, _ = strings.Cut(codeset, "@")
	codeset = strings.ToLower(codeset)
	return codeset == "utf-8" || codeset == "utf8"
}

// utf8Locale is a UTF-8 locale that every system has.
func utf8Locale() string {
	if runtime.GOOS == "darwin" {
		return "en_US.UTF-8"
	}
	return "C.UTF-8"
}

// entries returns name=value, sorted.
func (env variables) entries() []string {
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}
