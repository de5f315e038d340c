package ptymgr

import "time"

const (
	// highWater is how far, in bytes, an acking viewer is sent past its last ack, and how far the pty is read ahead of
	// the leading pacer. See ADR 0004 for how it was chosen.
	highWater = 256 << 10

	// lowWater is how close to the leading pacer the pty is read again.
	lowWater = 128 << 10

	// stallAfter is how long a pacer may go without progress before it stops counting.
	stallAfter = 5 * time.Second
)

// pacing decides how far a pty may be read ahead of those who watch it. The leader is the pacer that got furthest: a
// slow viewer never holds up a faster one. Guarded by log.mu.
type pacing struct {
	viewers map[*Viewer]struct{}
	leader  *Viewer
	paused  bool
	off     bool          // for good: the process has exited
	resume  chan struct{} // one slot; wakes the paused reader
}

func newPacing() pacing {
	return pacing{viewers: map[*Viewer]struct{}{}, resume: make(chan struct{}, 1)}
}

// paces reports whether a viewer may hold the pty back at all.
func (v *Viewer) paces() bool { return v.visible && v.writable && !v.stalled }

// paced returns the offset up to which the pacer has taken the output. It is never behind the head at which the viewer
// attached or became the leader, so that a replay does not stop a build.
func (v *Viewer) paced() int64 {
	if v.acking {
		return max(v.acked, v.paceBase)
	}
	return max(v.sent, v.paceBase)
}

// update chooses the leader anew after anything that may change it: attach, detach, ack, send, visibility, stall.
func (p *pacing) update(clean int64) {
	var leader *Viewer
	acking := false
	for v := range p.viewers {
		acking = acking || v.paces() && v.acking
	}
	for v := range p.viewers {
		// Beside a viewer that acks, what was merely sent to others says nothing.
		if v.paces() && v.acking == acking && (leader == nil || v.paced() > leader.paced()) {
			leader = v
		}
	}
	if old := p.leader; leader != nil && leader != old && (old == nil || !p.counts(old, acking)) {
		leader.paceBase = max(leader.paceBase, clean)
		leader.progress = time.Now()
	}
	p.leader = leader
	if p.paused && !p.holds(clean) {
		signal(p.resume)
	}
}

// counts reports whether v is still one of the pacers.
func (p *pacing) counts(v *Viewer, acking bool) bool {
	_, attached := p.viewers[v]
	return attached && v.paces() && v.acking == acking
}

// holds reports whether the pty must not be read now that the log ends at clean.
func (p *pacing) holds(clean int64) bool {
	if p.off || p.leader == nil {
		return false
	}
	ahead := clean - p.leader.paced()
	if p.paused {
		return ahead > lowWater
	}
	return ahead >= highWater
}

// pace blocks the reader of the pty while the leader is too far behind. It returns the moment reading may go on.
func (t *Terminal) pace() {
	l, p := t.log, &t.pacing
	l.mu.Lock()
	defer l.mu.Unlock()
	if !p.holds(l.clean) {
		return
	}
	p.paused = true
	t.counters.pauses.Add(1)
	began := time.Now() // before that, a leader without progress was merely idle
	timer := time.NewTimer(stallAfter)
	defer timer.Stop()
	for p.holds(l.clean) {
		since := p.leader.progress
		if since.Before(began) {
			since = began
		}
		patience := time.Until(since.Add(stallAfter))
		if patience <= 0 {
			p.leader.stalled = true
			p.update(l.clean)
			continue
		}
		timer.Reset(patience)
		l.mu.Unlock()
		select {
		case <-p.resume:
		case <-timer.C:
		}
		l.mu.Lock()
	}
	p.paused = false
}
