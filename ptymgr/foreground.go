package ptymgr

import (
	"path/filepath"
	"strings"
	"unicode"
)

// maxProcessName bounds the name of a process as shown in lists, in characters.
const maxProcessName = 64

// processName turns the first argument of a program into a name to show: "-bash" and "/bin/bash" are "bash". Programs
// may write what they like there, so the result is printable, and "" if nothing remains.
func processName(arg string) string {
	// Servers show their state there: "nginx: master process".
	if before, _, ok := strings.Cut(arg, ": "); ok && before != "" {
		arg = before
	}
	arg = strings.TrimPrefix(arg, "-") // a login shell
	name := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(arg, "")))
	base := filepath.Base(string(name))
	if base == "." || base == "/" {
		return ""
	}
	if name = []rune(base); len(name) > maxProcessName {
		name = name[:maxProcessName]
	}
	return string(name)
}
