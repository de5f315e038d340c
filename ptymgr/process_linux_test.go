package ptymgr

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// treeKillBound is the most that ending a tree may take: its three phases and a slow machine.
const treeKillBound = 4 * time.Second

// shellInPty is a process in a pty of its own, with the tree it leads.
type shellInPty struct {
	cmd    *exec.Cmd
	ptmx   *os.File
	tree   tree
	marker string // in the command line of what its script starts, and of nothing else
	output syncBuffer
}

var markers atomic.Int64

// startShell starts a command in a pty. $M in its environment is an argument for sleep that no other process has.
func startShell(t *testing.T, name string, args ...string) *shellInPty {
	t.Helper()
	s := &shellInPty{marker: fmt.Sprintf("98765.%d%03d", os.Getpid(), markers.Add(1))}
	id := "tree-" + s.marker
	env, err := environ(id, Spec{Dir: t.TempDir(), Env: map[string]string{"M": s.marker, "PS1": "$ "}}, "/bin/bash")
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(name, args...)
	s.cmd.Env = env
	if s.ptmx, err = startPty(s.cmd, defaultSize); err != nil {
		t.Fatal(err)
	}
	s.tree = tree{id: id, leader: newTree(id, s.cmd.Process.Pid).leader}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&s.output, s.ptmx) // ends with EIO
	}()
	t.Cleanup(func() {
		// Whatever the test found out, nothing stays.
		for _, p := range s.running() {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
		s.ptmx.Close()
		<-read
	})
	return s
}

// running returns the pids that have the marker in their command line: not by any of the tree's own ways.
func (s *shellInPty) running() []int {
	var pids []int
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, _ := os.ReadFile(path)
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil && bytes.Contains(line, []byte(s.marker)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// end kills the tree and reaps the leader as a terminal does, and returns how long it took.
func (s *shellInPty) end(t *testing.T) time.Duration {
	t.Helper()
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		_ = s.cmd.Wait()
	}()
	began := time.Now()
	if err := s.tree.kill(context.Background()); err != nil {
		t.Errorf("kill: %v", err)
	}
	took := time.Since(began)
	<-reaped
	return took
}

// expectNothing checks that nothing of the tree is left, and no zombie of ours.
func (s *shellInPty) expectNothing(t *testing.T) {
	t.Helper()
	if left := s.running(); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	_, err := eachProcess(func(p stat) {
		if p.alive() && hasVariable(p.pid, terminalVariable+"="+s.tree.id) {
			t.Errorf("process %d still carries the terminal's id", p.pid)
		}
		if p.state == 'Z' && p.pid == s.tree.leader.pid {
			t.Errorf("process %d is a zombie of ours", p.pid)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every script leaves processes in its own way, says "ready", and stays.
var escapes = []struct {
	name   string
	script string
	left   int  // processes with the marker before the kill
	hard   bool // whether it takes SIGKILL
}{
	{"foreground", `sleep $M`, 1, false},
	{"background job in a group of its own", `set -m; sleep $M & sleep $M &`, 2, false},
	{"pipeline in a group of its own", `set -m; sleep $M | sleep $M &`, 2, false},
	{"nohup", `nohup sleep $M >/dev/null 2>&1 &`, 1, false},
	{"disown", `set -m; sleep $M & disown`, 1, false},
	{"session of its own", `setsid sleep $M &`, 1, false},
	{"session of its own, without its parent", `(setsid sleep $M &)`, 1, false},
	{"daemon that forks twice", `perl -MPOSIX -e 'fork and exit; setsid; fork and exit; chdir "/"; exec "sleep", $ENV{M}'`, 1, false},
	{"without environment", `env -i sleep $M &`, 1, false},
	{"without environment, in a session of its own", `env -i setsid sleep $M &`, 1, false},
	{"stopped", `set -m; sleep $M & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!`, 1, false},
	{"ignores HUP", `trap "" HUP; sleep $M &`, 1, false},
	{"ignores HUP and TERM", `trap "" HUP TERM; (while :; do sleep $M; done) &`, 1, true},
	{"ignores everything in a session of its own", `trap "" HUP TERM INT; (setsid sleep $M &)`, 1, true},
	{"starts another for each that ends", `trap "" HUP; while :; do sleep $M; done & `, 1, false},
	{"many", `for i in {1..100}; do sleep $M & done`, 100, false},
}

func TestKillEndsTheWholeTree(t *testing.T) {
	for _, escape := range escapes {
		t.Run(escape.name, func(t *testing.T) {
			t.Parallel()
			script := escape.script + "\necho ready; read"
			if escape.name == "foreground" {
				script = "echo ready; " + escape.script + "; :"
			}
			s := startShell(t, "/bin/bash", "-c", script)
			s.output.await(t, "ready")
			eventually(t, "the processes of the script", func() bool { return len(s.running()) == escape.left })
			took := s.end(t)
			s.expectNothing(t)
			if took > treeKillBound {
				t.Errorf("took %v", took)
			}
			if all := killPhases[0].time + killPhases[1].time + killPhases[2].time; !escape.hard && took >= all {
				t.Errorf("took %v, all the time there is, though all were ended by SIGHUP or SIGTERM", took)
			}
		})
	}
}

func TestKillEndsAnInteractiveShellAndItsJobs(t *testing.T) {
	for _, shell := range [][]string{{"bash", "--norc", "-i"}, {"zsh", "-f", "-i"}, {"fish", "--no-config", "-i"}} {
		t.Run(shell[0], func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skip(err)
			}
			t.Parallel()
			s := startShell(t, shell[0], shell[1:]...)
			if _, err := io.WriteString(s.ptmx, "sleep $M &\nsetsid sleep $M &\nsleep $M\n"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the jobs", func() bool { return len(s.running()) == 3 })
			s.end(t)
			s.expectNothing(t)
		})
	}
}

// Each process of a chain lives for a moment, and its parent is gone. They end by themselves after some seconds, lest
// a failing test leave them.
func TestKillCatchesWhatForksAllTheTime(t *testing.T) {
	const chain = `$end = time + 8; $SIG{HUP} = $SIG{TERM} = "IGNORE"; exit if fork; setsid if $ENV{SETSID}; ` +
		`while (time < $end) { exit if fork }`
	for name, script := range map[string]string{
		"loop":                          `trap "" HUP TERM; end=$((SECONDS + 8)); (while ((SECONDS < end)); do sleep 0.01 & wait $!; done) &`,
		"chain":                         `perl -MPOSIX -e '` + chain + `' &`,
		"chain in a session of its own": `SETSID=1 perl -MPOSIX -e '` + chain + `' &`,
	} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, "/bin/bash", "-c", script+"\necho ready; read")
			s.output.await(t, "ready")
			if took := s.end(t); took > treeKillBound {
				t.Errorf("took %v", took)
			}
			for range 10 { // one look can miss what runs away from pid to pid
				s.expectNothing(t)
			}
		})
	}
}

func TestKillAfterTheLeaderHasEnded(t *testing.T) {
	s := startShell(t, "/bin/bash", "-c", `set -m
trap "" HUP
sleep $M &
nohup sleep $M >/dev/null 2>&1 &
env -i sleep $M &
(setsid sleep $M &)
echo ready; read`)
	s.output.await(t, "ready")
	eventually(t, "the jobs", func() bool { return len(s.running()) == 4 })
	if _, err := io.WriteString(s.ptmx, "\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	s.tree.leaderEnded()
	if left := len(s.running()); left != 4 {
		t.Fatalf("%d jobs outlived the shell, not 4: this test proves nothing", left)
	}
	if err := s.tree.kill(context.Background()); err != nil {
		t.Error(err)
	}
	s.expectNothing(t)
	if err := s.tree.kill(context.Background()); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestKillInAHurryWhenTheContextIsDone(t *testing.T) {
	s := startShell(t, "/bin/bash", "-c", `trap "" HUP TERM; echo ready; while :; do sleep $M; done`)
	s.output.await(t, "ready")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	go s.cmd.Wait()
	began := time.Now()
	if err := s.tree.kill(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took >= killPhases[0].time+killPhases[1].time {
		t.Errorf("took %v, as if there were time to ask", took)
	}
	s.expectNothing(t)
}

func TestSignalsOnlyTheProcessThatWasSeen(t *testing.T) {
	s := startShell(t, "/bin/sleep", "1000")
	leader := s.tree.leader
	if leader.start == 0 {
		t.Fatal("no start time")
	}
	alive := func() bool { st, err := readStat(leader.pid); return err == nil && st.alive() }

	process{leader.pid, leader.start - 1}.signal(syscall.SIGKILL)
	process{leader.pid, leader.start + 1}.signal(syscall.SIGKILL)

	// Trees whose leader had the pid earlier, and began a session of the same number.
	early := tree{id: "another", leader: process{leader.pid, leader.start - 1000}}
	early.ended.Store(leader.start - 500)
	for _, other := range []*tree{&early, {id: "another", leader: process{leader.pid, leader.start + 1000}}} {
		f, err := other.find()
		if err != nil || len(f.members) > 0 {
			t.Errorf("found %v, %v in a tree that is long gone", f.members, err)
		}
		if err := other.kill(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if !alive() {
		t.Fatal("the process was signalled by a name that is not its own")
	}
	leader.signal(syscall.SIGKILL)
	eventually(t, "the death of the process", func() bool { return !alive() }) // a zombie is dead
}

// A server in a terminal of another server carries that terminal's id, and so might one whose person set it by hand.
func TestKillSparesTheServerAndItsAncestors(t *testing.T) {
	const id = "the-servers-own"
	if os.Getenv(terminalVariable) != id {
		outer := exec.Command("/bin/sh", "-c", `"$0" -test.run='^TestKillSparesTheServerAndItsAncestors$' -test.v; echo still here`, os.Args[0])
		outer.Env = append(os.Environ(), terminalVariable+"="+id)
		out, err := outer.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") || !strings.Contains(string(out), "still here") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	child := exec.Command("sleep", "1000") // in the server's own process group, carrying the id
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan error, 1)
	go func() { reaped <- child.Wait() }()
	stranger := tree{id: id, leader: process{pid: child.Process.Pid}}
	if err := stranger.kill(context.Background()); err != nil {
		t.Error(err)
	}
	<-reaped
}

func TestParseStat(t *testing.T) {
	const rest = " S 17 4242 4200 34816 4242 4194304 97 0 0 0 1 2 0 0 20 0 3 0 8812345 8388608 221 18446744073709551615 1"
	want := stat{process: process{4242, 8812345}, state: 'S', parent: 17, group: 4242, session: 4200, threads: 3}
	for _, name := range []string{"bash", "", "a b", ") S 1 1 1 (", "((", "))", "tmux: server", "x)\n1 (y"} {
		got, err := parseStat([]byte("4242 (" + name + ")" + rest))
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v", name, got, err)
		}
	}
	for _, line := range []string{"", "4242", "4242 (bash)", "4242 (bash) S 1 2", ") (", "x (bash)" + rest, "4242 bash" + rest} {
		if got, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q: got %+v and no error", line, got)
		}
	}
}

func TestFindsAProcessWithAHostileName(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	hostile := filepath.Join(t.TempDir(), "a) S 1 (b")
	if err := os.WriteFile(hostile, program, 0o700); err != nil {
		t.Fatal(err)
	}
	s := startShell(t, "/bin/bash", "-c", `set -m; "$0" $M & echo ready; read`, hostile)
	s.output.await(t, "ready")
	eventually(t, "the process", func() bool { return len(s.running()) == 1 })
	s.end(t)
	s.expectNothing(t)
}

// FuzzParseStat proves that no name, which a process chooses, changes what is read after it.
func FuzzParseStat(f *testing.F) {
	f.Add([]byte("bash"))
	f.Add([]byte(") R 1 (x"))
	f.Fuzz(func(t *testing.T, name []byte) {
		_, _ = parseStat(name)
		line := fmt.Appendf(nil, "7 (%s) Z 6 5 4 0 0 0 0 0 0 0 0 0 0 0 0 0 2 0 99 0 0", name)
		want := stat{process: process{7, 99}, state: 'Z', parent: 6, group: 5, session: 4, threads: 2}
		if got, err := parseStat(line); err != nil || got != want {
			t.Fatalf("%q: got %+v, %v", line, got, err)
		}
	})
}

// BenchmarkFind is one look at the process table of this machine.
func BenchmarkFind(b *testing.B) {
	tree := newTree("none", os.Getpid())
	for b.Loop() {
		if _, err := tree.find(); err != nil {
			b.Fatal(err)
		}
	}
}
