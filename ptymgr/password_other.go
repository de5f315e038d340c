//go:build !linux

package ptymgr

import "golang.org/x/sys/unix"

// getTermios asks for the terminal's settings.
const getTermios = unix.TIOCGETA
