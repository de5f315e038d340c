package shell

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed scripts
var scripts embed.FS

// files are the scripts, by the name that each has in the directory of Install.
var files = map[string]string{
	"bash.sh":     "scripts/bash.sh",
	"zsh/.zshenv": "scripts/zshenv", // the name that zsh looks for
	"fish.fish":   "scripts/fish.fish",
}

// Install writes the scripts into dir, which it makes if need be and which nobody else may write to. They hold nothing
// secret and serve any number of shells. Shells read them while they start, so dir must stay as long as shells are
// started. Installing again replaces the files one at a time and disturbs no shell that reads them.
func Install(dir string) error {
	for name, source := range files {
		text, err := scripts.ReadFile(source)
		if err != nil {
			return err
		}
		if err := replace(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
			return fmt.Errorf("installing the shell integration: %w", err)
		}
	}
	return nil
}

// replace writes a file so that whoever opens it finds all of the old text or all of the new one.
func replace(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// Inject returns the arguments and the environment that make the shell at path load its script from dir, where Install
// put it. args must be those of an interactive login shell: its name behind a dash, and nothing else. env lists
// name=value. nonce is what the shell's sequences will carry; it needs 16 characters or more out of A-Z, a-z, 0-9, _
// and -, and should be used for one shell only.
//
// ok is false for shells and conditions that there is no script for; args and env are then returned as they were.
func Inject(path string, args, env []string, nonce, dir string) (newArgs, newEnv []string, ok bool) {
	name := filepath.Base(path)
	if len(args) != 1 || args[0] != "-"+name || !usableNonce(nonce) || !usableDir(dir) {
		return args, env, false
	}
	with := slices.Clone(env)
	with = setVariable(with, "__tandem_nonce", nonce)
	switch name {
	case "bash":
		if !bashReadsENV(path, env) {
			return args, env, false
		}
		with = moveVariable(with, "ENV", "__tandem_env")
		with = setVariable(with, "ENV", filepath.Join(dir, "bash.sh"))
		return []string{args[0], "--posix"}, with, true
	case "zsh":
		with = moveVariable(with, "ZDOTDIR", "__tandem_zdotdir")
		with = setVariable(with, "ZDOTDIR", filepath.Join(dir, "zsh"))
		return []string{args[0]}, with, true
	case "fish":
		return []string{args[0], "--init-command", "source '" + filepath.Join(dir, "fish.fish") + "'"}, with, true
	}
	return args, env, false
}

// bashReadsENV reports whether bash can be started by way of POSIX mode and be none the worse.
func bashReadsENV(path string, env []string) bool {
	if runtime.GOOS == "darwin" && path == "/bin/bash" {
		return false // bash 3.2, built to read no ENV
	}
	return !slices.ContainsFunc(env, func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "POSIXLY_CORRECT":
			return true // it is in POSIX mode anyway, and reads no files of a login shell
		case "SHELLOPTS":
			return strings.Contains(":"+value+":", ":posix:")
		}
		// POSIX mode forgets exported functions whose names are no variable's.
		function, isFunction := strings.CutPrefix(name, "BASH_FUNC_")
		return isFunction && strings.ContainsFunc(strings.TrimSuffix(function, "%%"), func(r rune) bool { return !isWord(r) })
	})
}

func usableNonce(nonce string) bool {
	return len(nonce) >= 16 && !strings.ContainsFunc(nonce, func(r rune) bool { return r != '-' && !isWord(r) })
}

// usableDir reports whether dir means itself wherever a shell reads it: bash expands ENV, and fish parses a command.
func usableDir(dir string) bool {
	return filepath.IsAbs(dir) && !strings.ContainsAny(dir, "$`\\'\"\n")
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// setVariable sets a variable in a list of name=value.
func setVariable(env []string, name, value string) []string {
	return append(withoutVariable(env, name), name+"="+value)
}

// moveVariable gives a variable another name, so that a script can give it its own one back.
func moveVariable(env []string, from, to string) []string {
	env = withoutVariable(env, to)
	for i, entry := range env {
		if value, found := strings.CutPrefix(entry, from+"="); found {
			env[i] = to + "=" + value
		}
	}
	return env
}

func withoutVariable(env []string, name string) []string {
	return slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}
