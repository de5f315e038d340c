package ptymgr

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// loginShell returns the path of the shell that the server's user would get on a console: $SHELL, else the one in
// the user database, else one that every system has.
func loginShell() string {
	candidates := []string{os.Getenv("SHELL")}
	if passwd, err := os.Open("/etc/passwd"); err == nil {
		candidates = append(candidates, passwdShell(passwd, os.Getuid()))
		passwd.Close()
	}
	for _, shell := range append(candidates, "/bin/bash") {
		if usableShell(shell) {
			return shell
		}
	}
	return "/bin/sh"
}

// passwdShell returns the shell of uid in a passwd(5) file, or "".
func passwdShell(passwd io.Reader, uid int) string {
	lines := bufio.NewScanner(passwd)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) == 7 && fields[2] == strconv.Itoa(uid) {
			return fields[6]
		}
	}
	return ""
}

// usableShell reports whether path is a program that gives a prompt. Service accounts have one that only refuses.
func usableShell(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	switch filepath.Base(path) {
	case "nologin", "false", "true", "sync":
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
