package ptymgr

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// killPhases are how a tree is asked, told and made to end, in that order, each with the time it has. The first
// gives shells time to save their history.
var killPhases = []struct {
	signal syscall.Signal
	time   time.Duration
}{
	{syscall.SIGHUP, 300 * time.Millisecond},
	{syscall.SIGTERM, 700 * time.Millisecond},
	{syscall.SIGKILL, 2 * time.Second},
}

// The pause between two looks at what is left of a tree doubles from the first to the second.
const (
	minKillPause = 2 * time.Millisecond
	maxKillPause = 32 * time.Millisecond
)

// emptyLooks is how often nothing may be found of a tree, while processes come and go too fast to see them all, until
// it counts as ended.
const emptyLooks = 4

// process names one process for good: a pid alone may come to mean another.
type process struct {
	pid   int
	start uint64 // clock ticks after boot
}

// kill ends every process of the tree: SIGHUP, then SIGTERM, then SIGKILL to what is left or new. It returns as soon
// as nothing is left, at most about three seconds later; when ctx is done it goes on with SIGKILL at once. Whoever
// started the leader has to reap it. The error says what could not be ended. It may be called more than once.
func (t *tree) kill(ctx context.Context) error {
	var left []process
	empty := 0
	for i, phase := range killPhases {
		last := i == len(killPhases)-1
		if ctx.Err() != nil && !last {
			continue
		}
		deadline := time.Now().Add(phase.time)
		told := map[process]bool{}
		for pause := minKillPause; ; pause = min(2*pause, maxKillPause) {
			found, err := t.find()
			if err != nil {
				return fmt.Errorf("looking for the processes of terminal %s: %w", t.id, err)
			}
			if last {
				found.killGroups()
			}
			left = found.members
			if len(left) > 0 {
				empty = 0
			} else if empty++; found.settled || empty == emptyLooks {
				return nil
			}
			for _, p := range left {
				if last || !told[p] {
					told[p] = true
					p.signal(phase.signal)
				}
			}
			if !time.Now().Before(deadline) {
				break
			}
			done := ctx.Done()
			if last {
				done = nil
			}
			select {
			case <-time.After(pause):
				continue
			case <-done:
			}
			break
		}
	}
	pids := make([]string, len(left))
	for i, p := range left {
		pids[i] = strconv.Itoa(p.pid)
	}
	return fmt.Errorf("processes of terminal %s that survive SIGKILL, or belong to another user: end %s by hand",
		t.id, strings.Join(pids, ", "))
}
