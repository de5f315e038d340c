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
	members []process    // alive
	groups  map[int]bool // those in which nobody else lives
	settled bool         // whether nothing began and ended meanwhile, so that members is all there is
}

// find looks for the living processes of the tree. The server and its ancestors are never among them.
func (t *tree) find() (found, error) {
	table := map[int]stat{}
	carries := map[int]bool{} // the terminal's id
	settled, err := eachProcess(func(s stat) {
		table[s.pid] = s
		// What is older than the terminal does not carry its id, and need not be asked.
		if s.start >= t.leader.start && hasVariable(s.pid, terminalVariable+"="+t.id) {
			carries[s.pid] = true
		}
	})
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
		if s.process == t.leader || carries[pid] || t.inSession(s, table) {
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

	f := found{groups: map[int]bool{}, settled: settled}
	for pid, s := range table {
		if inTree[pid] && s.alive() {
			f.members = append(f.members, s.process)
			f.groups[s.group] = true
		}
	}
	for pid, s := range table {
		if !inTree[pid] && s.alive() || protected[pid] {
			delete(f.groups, s.group)
		}
	}
	slices.SortFunc(f.members, func(a, b process) int { return cmp.Compare(a.pid, b.pid) })
	return f, nil
}

// inSession reports whether the process belongs to the session that the leader began. A session's number is not given
// away while the session has processes, so it is that session if the process began while the leader was there.
func (t *tree) inSession(s stat, table map[int]stat) bool {
	return s.session == t.leader.pid && s.start >= t.leader.start &&
		(table[t.leader.pid].process == t.leader || s.start <= t.ended.Load())
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

// killGroups sends SIGKILL to the groups that are the tree's alone. A process cannot fork its way out of that, as it
// can while it is looked for by pid. Pids are given out in turn, so that of a group seen just now is not another's yet.
func (f found) killGroups() {
	for group := range f.groups {
		if group > 1 {
			_ = syscall.Kill(-group, syscall.SIGKILL) // what it does not reach is found again
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

// eachProcess calls visit once for every process, as soon as it is read. It reports whether that was everything:
// whether no process began and ended too fast to be read.
func eachProcess(visit func(stat)) (settled bool, err error) {
	seen := map[string]bool{}
	// List again until there is nothing new, newest first: what runs away from pid to pid is caught in one of the
	// short later rounds.
	for range 16 {
		names, err := readDirNames("/proc")
		if err != nil {
			return false, err
		}
		settled = true
		for _, name := range slices.Backward(names) {
			pid, err := strconv.Atoi(name)
			if err != nil || seen[name] {
				continue
			}
			seen[name] = true
			settled = false
			if s, err := readStat(pid); err == nil {
				visit(s)
			}
		}
		if settled {
			break
		}
	}
	return settled, nil
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
