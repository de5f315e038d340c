//go:build !linux

package ptymgr

import "golang.org/x/sys/unix"

// foreground returns the pid of the process that leads the foreground of the terminal whose pty master is fd, and
// whether that is another than the leader. Its name is not known here.
func foreground(fd uintptr, leader int) (name string, pid int, busy bool) {
	group, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
	if err != nil || group <= 0 {
		return "", 0, false
	}
	return "", group, group != leader
}

// workingDir would return the directory the process is in; it is not known here.
func workingDir(int) string { return "" }
