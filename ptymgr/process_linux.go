package ptymgr

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// tree is every process that was started in a terminal, however far it has gone: those of the session that the leader
// began, all descendants, and whatever carries the terminal's id in its environment.
type tree struct {
	id     string
	leader process
	ended  atomic.Uint64 // when the leader had ended, in clock ticks after boot; 0 before
}

// newTree returns the tree of a process that was just started as the leader of a new session with
// TANDEM_TERMINAL=id, and is not reaped yet.
func newTree(id string, leader int) tree {
	s, _ := readStat(leader)
	return tree{id: id, leader: process{pid: leader, start: s.start}}
}

// leaderEnded tells the tree that its leader was just reaped. From then on the leader's pid may come to be that of
// another process, which may begin a session of the same number.
func (t *tree) leaderEnded() {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) == nil {
		t.ended.Store(uint64(now.Nano() / (1e9 / ticksPerSecond)))
	}
}

// ticksPerSecond is USER_HZ, the unit of times in /proc: 100 on every architecture that Go knows.
const ticksPerSecond = 100

// found is what one look at the process table showed of a tree.
type found struct {
	members []process
	groups  map[int]process // groups that belong to the tree as a whole, each with a member
}

// find looks for the living processes of the tree. The server and its ancestors are never among them.
func (t *tree) find() (found, error) {
	table, err := readProcesses()
	if err != nil {
		return found{}, err
	}
	protected := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !protected[pid]; pid = table[pid].parent {
		protected[pid] = true
	}
	protected[1] = true

	inTree := map[int]bool{}
	children := map[int][]int{}
	var grow []int
	add := func(pid int) {
		if !protected[pid] && !inTree[pid] {
			inTree[pid] = true
			grow = append(grow, pid)
		}
	}
	for pid, s := range table {
		children[s.parent] = append(children[s.parent], pid)
		if t.owns(s, table) {
			add(pid)
		}
	}
	for len(grow) > 0 {
		pid := grow[len(grow)-1]
		grow = grow[:len(grow)-1]
		for _, child := range children[pid] {
			add(child)
		}
	}

	f := found{groups: map[int]process{}}
	foreign := map[int]bool{} // groups
	for pid, s := range table {
		switch {
		case !inTree[pid]:
			foreign[s.group] = true
		case s.alive():
			f.members = append(f.members, s.process)
			f.groups[s.group] = s.process
		}
	}
	for group := range foreign {
		delete(f.groups, group)
	}
	slices.SortFunc(f.members, func(a, b process) int { return cmp.Compare(a.pid, b.pid) })
	return f, nil
}

// owns reports whether the process belongs to the tree by itself, whatever its parent is.
func (t *tree) owns(s stat, table map[int]stat) bool {
	if s.process == t.leader {
		return true
	}
	if s.start < t.leader.start {
		return false // it is older than the terminal
	}
	// A session's number is not given away while the session has processes, so this is the leader's session if it
	// began while the leader was there.
	if s.session == t.leader.pid && (table[t.leader.pid].start == t.leader.start || s.start <= t.ended.Load()) {
		return true
	}
	return hasVariable(s.pid, terminalVariable+"="+t.id)
}

// hasVariable reports whether the process was started with this entry in its environment. Those of others, which
// may not be read, were not.
func hasVariable(pid int, entry string) bool {
	environ, err := os.ReadFile(procPath(pid, "environ"))
	if err != nil {
		return false
	}
	for e := range bytes.SplitSeq(environ, []byte{0}) {
		if string(e) == entry {
			return true
		}
	}
	return false
}

// killGroups sends SIGKILL to the groups that are wholly the tree's. A process cannot fork its way out of that, as it
// can while it is looked for by pid.
func (f found) killGroups() {
	for group, member := range f.groups {
		if s, err := readStat(member.pid); err == nil && s.process == member && s.group == group && group > 1 {
			_ = syscall.Kill(-group, syscall.SIGKILL) // what it did not reach is found again
		}
	}
}

// signal sends sig to the process, and wakes it if it is stopped. It does nothing if the pid means another by now.
func (p process) signal(sig syscall.Signal) {
	handle, err := os.FindProcess(p.pid) // holds a pidfd where the kernel has them
	if err != nil {
		return
	}
	defer handle.Release()
	if s, err := readStat(p.pid); err != nil || s.process != p {
		return
	}
	if handle.Signal(sig) == nil && sig != syscall.SIGKILL {
		_ = handle.Signal(syscall.SIGCONT)
	}
}

// stat is what /proc/PID/stat says of a process: proc_pid_stat(5).
type stat struct {
	process
	state   byte
	parent  int
	group   int
	session int
	threads int
}

// alive reports whether anything of the process runs. A zombie does when only its first thread has ended.
func (s stat) alive() bool {
	return s.state != 'X' && (s.state != 'Z' || s.threads > 1)
}

// readProcesses returns the process table by pid. Processes that begin meanwhile are in it, unless they end meanwhile.
func readProcesses() (map[int]stat, error) {
	table := map[int]stat{}
	// A process may fork and end between the listing and the reading, so list again until there is nothing new: what
	// runs away from pid to pid is caught in one of the short later rounds.
	for range 16 {
		names, err := readDirNames("/proc")
		if err != nil {
			return nil, err
		}
		fresh := false
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err != nil {
				continue
			}
			if _, known := table[pid]; known {
				continue
			}
			fresh = true
			if s, err := readStat(pid); err == nil {
				table[pid] = s
			}
		}
		if !fresh {
			break
		}
	}
	return table, nil
}

func readDirNames(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func procPath(pid int, file string) string { return "/proc/" + strconv.Itoa(pid) + "/" + file }

func readStat(pid int) (stat, error) {
	line, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(line)
}

// parseStat reads a line of /proc/PID/stat. The second field is the name in parentheses, which may hold spaces and
// parentheses itself, so the fields are counted from the last one.
func parseStat(line []byte) (stat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return stat{}, errors.New("no name in process status")
	}
	fields := bytes.Fields(line[end+1:]) // fields[0] is the third, the state
	if len(fields) < 20 || len(fields[0]) != 1 {
		return stat{}, errors.New("fields missing in process status")
	}
	var firstErr error
	number := func(field []byte) int {
		n, err := strconv.Atoi(string(field))
		firstErr = cmp.Or(firstErr, err)
		return n
	}
	s := stat{
		state: fields[0][0], parent: number(fields[1]), group: number(fields[2]), session: number(fields[3]),
		threads: number(fields[17]),
	}
	s.pid = number(bytes.TrimSpace(line[:open]))
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	s.start = start
	return s, cmp.Or(firstErr, err)
}
