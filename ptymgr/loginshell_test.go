package ptymgr

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoginShellIsTheUsersOwn(t *testing.T) {
	mine := filepath.Join(t.TempDir(), "mysh")
	if err := os.WriteFile(mine, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHELL", mine)
	if got := loginShell(); got != mine {
		t.Errorf("got %s, want $SHELL", got)
	}
	if err := os.Chmod(mine, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, useless := range []string{"", "bash", mine, filepath.Dir(mine), "/usr/sbin/nologin", "/bin/false", "/no/such/shell"} {
		t.Setenv("SHELL", useless)
		if got := loginShell(); got == useless || !usableShell(got) {
			t.Errorf("SHELL=%q: got %q", useless, got)
		}
	}
}

func TestPasswdShell(t *testing.T) {
	const passwd = `root:x:0:0:root:/root:/bin/bash
# a comment, and a line that is cut short
broken:x:1000
ann:x:1000:1000:Ann,,,:/home/ann:/usr/bin/fish
two:x:1000:1000::/home/two:/bin/zsh
none:x:1001:1001::/:
`
	for uid, want := range map[int]string{0: "/bin/bash", 1000: "/usr/bin/fish", 1001: "", 4: ""} {
		if got := passwdShell(strings.NewReader(passwd), uid); got != want {
			t.Errorf("uid %d: got %q, want %q", uid, got, want)
		}
	}
}
