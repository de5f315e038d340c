package ptymgr

import (
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// environInPty returns what env prints in a real terminal.
func environInPty(t *testing.T, spec Spec) map[string]string {
	t.Helper()
	env, err := environ("the-id", spec, "/bin/zsh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/usr/bin/env")
	cmd.Env = env
	var out syncBuffer
	ptmx, err := startPty(cmd, defaultSize)
	if err != nil {
		t.Fatal(err)
	}
	defer ptmx.Close()
	_, _ = io.Copy(&out, ptmx) // ends with EIO
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(out.String()) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok {
			got[name] = value
		}
	}
	return got
}

func TestNothingOfTheServersOwnReachesATerminal(t *testing.T) {
	secrets := map[string]string{
		"TANDEM_PASSWORD": "hunter2", "TANDEM_DATA": "/srv/tandem", "TANDEM_": "x", "TANDEM_TERMINAL": "outer",
		"TMUX": "/tmp/tmux-0/default,1,0", "TMUX_PANE": "%1", "STY": "1.pts", "WINDOWID": "7", "COLUMNS": "200", "LINES": "50",
		"TERMCAP": "x", "TERM_PROGRAM_VERSION": "3.2", "TERM_SESSION_ID": "w0", "VTE_VERSION": "6800", "KITTY_WINDOW_ID": "1",
		"WEZTERM_PANE": "0", "INVOCATION_ID": "abc", "JOURNAL_STREAM": "8:1", "NOTIFY_SOCKET": "/run/n", "LISTEN_FDS": "1",
		"LISTEN_PID": "1", "OLDPWD": "/old", "CREDENTIALS_DIRECTORY": "/run/credentials/tandem.service",
		"MAKEFLAGS": "-j --jobserver-auth=3,4", "MAKELEVEL": "1",
	}
	for name, value := range secrets {
		t.Setenv(name, value)
	}
	t.Setenv("TERM", "dumb")
	t.Setenv("TMUX_TMPDIR", "/tmp/mine") // a person's setting, not a place
	t.Setenv("TANDEMONIUM", "kept")
	got := environInPty(t, Spec{Dir: "/tmp"})

	for name, value := range secrets {
		if v, ok := got[name]; ok && v == value {
			t.Errorf("%s=%s reached the terminal", name, v)
		}
	}
	for name, want := range map[string]string{
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "tandem", "TANDEM_TERMINAL": "the-id",
		"SHELL": "/bin/zsh", "PWD": "/tmp", "TMUX_TMPDIR": "/tmp/mine", "TANDEMONIUM": "kept", "PATH": os.Getenv("PATH"),
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	for name := range got {
		if strings.HasPrefix(name, ownPrefix) && name != terminalVariable {
			t.Errorf("%s reached the terminal", name)
		}
	}
}

func TestMissingIdentityIsFilledIn(t *testing.T) {
	for _, name := range []string{"HOME", "USER", "LOGNAME"} {
		t.Setenv(name, "")
	}
	got := environInPty(t, Spec{Dir: "/"})
	if got["HOME"] == "" || got["USER"] == "" || got["LOGNAME"] != got["USER"] {
		t.Errorf("HOME=%s USER=%s LOGNAME=%s", got["HOME"], got["USER"], got["LOGNAME"])
	}
	t.Setenv("HOME", "/elsewhere")
	if got := environInPty(t, Spec{Dir: "/"}); got["HOME"] != "/elsewhere" {
		t.Errorf("HOME=%s, which was given", got["HOME"])
	}
}

func TestSpecEnvWinsButForTheId(t *testing.T) {
	got := environInPty(t, Spec{Dir: "/", Env: map[string]string{"TERM": "vt100", "EMPTY": "", "LC_ALL": "C", "X": "a=b"}})
	for name, want := range map[string]string{"TERM": "vt100", "EMPTY": "", "LC_ALL": "C", "X": "a=b", "TANDEM_TERMINAL": "the-id"} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %q, want %q", name, v, want)
		}
	}
}

func TestSpecEnvIsChecked(t *testing.T) {
	for name, value := range map[string]string{
		"": "x", "A=B": "x", "=": "x", "A\x00": "x", "A": "x\x00TANDEM_TERMINAL=other", "TANDEM_TERMINAL": "other", "TANDEM_X": "",
	} {
		_, err := environ("id", Spec{Env: map[string]string{name: value}}, "/bin/sh")
		var specErr *SpecError
		if !errors.As(err, &specErr) || specErr.Field != "env" {
			t.Errorf("%q=%q: %v", name, value, err)
		}
	}
}

func TestCharactersAreUTF8(t *testing.T) {
	utf8 := utf8Locale()
	for _, c := range []struct{ before, after variables }{
		{variables{}, variables{"LANG": utf8}},
		{variables{"LANG": "C"}, variables{"LANG": utf8}},
		{variables{"LANG": "POSIX", "LC_CTYPE": ""}, variables{"LANG": utf8}},
		{variables{"LANG": "de_DE.UTF-8"}, variables{"LANG": "de_DE.UTF-8"}},
		{variables{"LANG": "de_DE.utf8@euro"}, variables{"LANG": "de_DE.utf8@euro"}},
		{variables{"LC_CTYPE": "UTF-8"}, variables{"LC_CTYPE": "UTF-8"}},
		{variables{"LANG": "C", "LC_ALL": "en_GB.UTF-8"}, variables{"LANG": "C", "LC_ALL": "en_GB.UTF-8"}},
		{variables{"LANG": "de_DE.ISO-8859-1"}, variables{"LANG": "de_DE.ISO-8859-1", "LC_CTYPE": utf8}},
		{variables{"LANG": "de_DE.UTF-8", "LC_CTYPE": "C"}, variables{"LANG": "de_DE.UTF-8"}},
		{variables{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, variables{"LANG": utf8}},
		{variables{"LC_ALL": "fr_FR"}, variables{"LANG": "fr_FR", "LC_CTYPE": utf8}},
	} {
		got := maps.Clone(c.before)
		got.useUTF8()
		if !maps.Equal(got, c.after) {
			t.Errorf("%v became %v, want %v", c.before, got, c.after)
		}
	}
}
