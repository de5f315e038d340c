//go:build !linux

package ptymgr

import (
	"errors"
	"syscall"
)

// tree is the process group of a terminal's leader. Jobs in groups of their own end by the hangup of the pty.
type tree struct {
	id     string
	leader int
}

// newTree returns the tree of a process that was just started as the leader of a new session.
func newTree(id string, leader int) tree { return tree{id, leader} }

// leaderEnded tells the tree that its leader was just reaped.
func (t *tree) leaderEnded() {}

// found is what is left of a tree: its group, as a process of negative pid, which is how kill(2) names groups.
type found struct {
	members []process
	settled bool // always
}

func (t *tree) find() (found, error) {
	if err := syscall.Kill(-t.leader, 0); errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return found{settled: true}, nil // macOS says EPERM of a group of zombies
	}
	return found{[]process{{pid: -t.leader}}, true}, nil
}

func (f found) killGroups() {}

func (p process) signal(sig syscall.Signal) {
	_ = syscall.Kill(p.pid, sig)
	_ = syscall.Kill(p.pid, syscall.SIGCONT)
}
