package ptymgr

import (
	"os"
	"os/exec"
)

// child is the process of a terminal and the pty it runs in. A terminal whose process runs elsewhere has none: see Feed.
type child struct {
	cmd  *exec.Cmd
	tree tree
	ptmx *os.File // non-blocking, so that Close ends Read and Write
}

// pid returns the process id, 0 for no child.
func (c *child) pid() int {
	if c == nil {
		return 0
	}
	return c.cmd.Process.Pid
}

// control runs f with the descriptor of the pty master, which stays open meanwhile. It returns ErrRemote for no child.
func (c *child) control(f func(fd uintptr)) error {
	if c == nil {
		return ErrRemote
	}
	conn, err := c.ptmx.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(f)
}
