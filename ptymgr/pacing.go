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

// paces reports whether a viewer may hold the pty back. It has to have caught up first, with the head at which it
// attached, came back, or was left by the leader: a replay does not stop a build.
func (v *Viewer) paces() bool {
	return v.visible && v.writable && !v.program && !v.paused && !v.stalled && v.taken() >= v.paceFrom
}

// taken returns the offset up to which the viewer has taken the output, as far as it lets us know.
func (v *Viewer) taken() int64 {
	if v.acking {
		return v.acked
	}
	return v.sent
}

// catchUp makes the viewer pace only once it has taken everything there is now.
func (v *Viewer) catchUp() {
	v.stalled = false
	v.paceFrom = v.t.log.clean
}

// update chooses the leader anew after anything that may change it: attach, detach, ack, send, visibility, stall.
func (p *pacing) update(clean int64) {
	old := p.leader
	if _, attached := p.viewers[old]; old != nil && !(attached && old.paces()) {
		for v := range p.viewers {
			v.paceFrom = clean
		}
	}
	p.leader = nil
	for v := range p.viewers {
		if p.counts(v) && (p.leader == nil || v.taken() > p.leader.taken()) {
			p.leader = v
		}
	}
	if p.leader != old && p.leader != nil {
		p.leader.progress = time.Now()
	}
	if p.paused && !p.holds(clean) {
		signal(p.resume)
	}
}

// counts reports whether v is one of the pacers. Beside one that acks, what was merely sent to others says nothing.
func (p *pacing) counts(v *Viewer) bool { return v.paces() && (v.acking || !p.acks()) }

// acks reports whether any pacer acks.
func (p *pacing) acks() bool {
	for v := range p.viewers {
		if v.acking && v.paces() {
			return true
		}
	}
	return false
}

// holds reports whether the pty must not be read now that the log ends at clean.
func (p *pacing) holds(clean int64) bool {
	if p.off || p.leader == nil {
		return false
	}
	ahead := clean - p.leader.taken()
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
