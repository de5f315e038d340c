package ptymgr

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxFirstArgument is how much of a command line is read for its first argument, in bytes.
const maxFirstArgument = 4096

// foreground returns the name and pid of the process in the foreground of the terminal whose pty master is fd, and
// whether that is something other than the leader alone: a job of a shell, or what a leader without job control has
// started. Nothing is in the foreground of a terminal that has exited: "", 0, false.
func foreground(fd uintptr, leader int) (name string, pid int, busy bool) {
	group, err := unix.IoctlGetUint32(int(fd), unix.TIOCGPGRP)
	if err != nil || group == 0 {
		return "", 0, false
	}
	pid = foregroundProcess(int(group), leader)
	if pid == 0 {
		return "", 0, false
	}
	busy = int(group) != groupOf(leader) || hasChildIn(leader, int(group))
	return nameOf(pid), pid, busy
}

// foregroundProcess returns the process that stands for a group: the one that leads it, else the leader of the
// terminal if it belongs to it, else the oldest that is left. It returns 0 for an empty group.
func foregroundProcess(group, leader int) int {
	if s, err := readStat(group); err == nil && s.alive() {
		return group
	}
	if groupOf(leader) == group {
		return leader
	}
	var oldest process
	_, _ = eachProcess(func(s stat) {
		if s.group == group && s.alive() && (oldest.pid == 0 || s.start < oldest.start) {
			oldest = s.process
		}
	})
	return oldest.pid
}

// groupOf returns the process group of a living process, else 0.
func groupOf(pid int) int {
	if s, err := readStat(pid); err == nil && s.alive() {
		return s.group
	}
	return 0
}

// hasChildIn reports whether a living child of pid belongs to the group.
func hasChildIn(pid, group int) bool {
	list, err := os.ReadFile(procPath(pid, "task/"+strconv.Itoa(pid)+"/children"))
	if errors.Is(err, fs.ErrNotExist) { // the kernel was built without
		found := false
		_, _ = eachProcess(func(s stat) {
			found = found || s.parent == pid && s.group == group && s.alive()
		})
		return found
	}
	for field := range bytes.FieldsSeq(list) {
		child, err := strconv.Atoi(string(field))
		if err == nil && groupOf(child) == group {
			return true
		}
	}
	return false
}

// nameOf returns what the process calls itself, or "". It is the first argument rather than the kernel's name, which
// for a script is that of the file, cut to 15 bytes.
func nameOf(pid int) string {
	if f, err := os.Open(procPath(pid, "cmdline")); err == nil {
		line, _ := io.ReadAll(io.LimitReader(f, maxFirstArgument))
		f.Close()
		first, _, _ := bytes.Cut(line, []byte{0})
		if name := processName(string(first)); name != "" {
			return name
		}
	}
	comm, _ := os.ReadFile(procPath(pid, "comm"))
	return processName(strings.TrimSuffix(string(comm), "\n"))
}

// workingDir returns the directory the process is in, or "" if it cannot be known. A directory that was removed keeps
// its name.
func workingDir(pid int) string {
	dir, err := os.Readlink(procPath(pid, "cwd"))
	if err != nil || !strings.HasPrefix(dir, "/") { // "(unreachable)/..." is outside our root
		return ""
	}
	if removed, ok := strings.CutSuffix(dir, " (deleted)"); ok {
		if _, err := os.Stat(dir); err != nil {
			return removed
		}
	}
	return dir
}
