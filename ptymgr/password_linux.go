package ptymgr

import "golang.org/x/sys/unix"

// getTermios asks for the terminal's settings: on Linux the master of a pty has those of its other side.
const getTermios = unix.TCGETS
