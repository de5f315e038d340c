package ptymgr

import "golang.org/x/sys/unix"

// AsksPassword reports whether the program reads lines that are not to be seen, as one that asks for a password does: its
// terminal is in canonical mode with the echo off. A shell's line editor has both off, so it does not count. It is false
// after the exit and for a remote terminal.
func (t *Terminal) AsksPassword() bool {
	asks := false
	_ = t.child.control(func(fd uintptr) { // fails for a closed pty or none, where nobody asks
		termios, err := unix.IoctlGetTermios(int(fd), getTermios)
		asks = err == nil && termios.Lflag&unix.ICANON != 0 && termios.Lflag&unix.ECHO == 0
	})
	return asks
}
