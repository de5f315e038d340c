package ptymgr

import (
	"context"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

const (
	// gatherBytes of output are worth a frame at once; less may wait a moment for more.
	gatherBytes = 32 << 10

	// gatherTime is how long output may wait.
	gatherTime = time.Millisecond

	// typingTime is how long after input output counts as its echo, which never waits.
	typingTime = 20 * time.Millisecond
)

// restart puts the cursor at offset. log.mu is held, here and below.
func (v *Viewer) restart(offset int64) {
	v.pos, v.sent, v.acked = offset, offset, offset
}

// release lets go of what take returned: it was sent.
func (v *Viewer) release() {
	if v.pinned != nil {
		v.pinned.pins--
		v.pinned = nil
	}
	if v.sent != v.pos {
		v.sent = v.pos
		if !v.acking {
			if v.stalled {
				v.catchUp()
			}
			v.progress = time.Now()
			v.t.pacing.update(v.t.log.clean)
		}
	}
}

// available returns where the next chunk for the viewer ends, and whether it is worth waiting a moment for more.
func (v *Viewer) available() (end int64, gather bool) {
	l := v.t.log
	if v.pos >= l.clean {
		return v.pos, false
	}
	seg := l.at(v.pos)
	end = seg.end()
	if window := v.acked + highWater; v.acking && window < end {
		end = window
		if end > v.pos && seg.masks != nil {
			// Whoever comes back where a frame ended gets queries masked, and one that began unmasked must not go on so.
			end = seg.start + int64(seg.masks.before(int(end-seg.start)))
		}
		if end <= v.pos {
			return v.pos, false
		}
	}
	_, end = l.sizeAt(v.pos, end)
	_, end = v.unmasked(v.pos, end)
	if at, _ := v.t.commands.upcoming(&v.commands); at > v.pos {
		end = min(end, at)
	}
	if l.floor > v.pos {
		end = min(end, l.floor)
	}
	end = seg.start + int64(wholeCharacters(seg.data[:seg.n], int(v.pos-seg.start), int(end-seg.start)))
	gather = end == l.clean && end-v.pos < gatherBytes && !l.sealed && !v.gathered && v.t.sinceInput() > typingTime
	return end, gather
}

// wholeCharacters returns the last boundary of a UTF-8 character in p[from:] at or before to.
func wholeCharacters(p []byte, from, to int) int {
	if to == len(p) || utf8.RuneStart(p[to]) {
		return to
	}
	for i := to - 1; i >= max(from, to-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if _, n := utf8.DecodeRune(p[i:]); i+n > to {
				return i
			}
			break
		}
	}
	return to
}

// take pins and returns the log from the cursor to end, with queries masked unless the viewer answers them.
func (v *Viewer) take(end int64) []byte {
	seg := v.t.log.at(v.pos)
	from, to := int(v.pos-seg.start), int(end-seg.start)
	answers, _ := v.unmasked(v.pos, end)
	v.pos = end
	v.gathering, v.gathered = false, false
	v.gatherTimer.Stop()
	if !answers && seg.masks != nil && seg.masks.any(from, to) {
		v.scratch = append(v.scratch[:0], seg.data[from:to]...)
		seg.masks.apply(v.scratch, from)
		return v.scratch
	}
	seg.pins++
	v.pinned = seg
	return seg.data[from:to:to]
}

// park waits for the log to grow or for something else to happen. To gather is to wait for a chunk worth sending, for
// a moment at most.
func (v *Viewer) park(ctx context.Context, gather bool) error {
	l := v.t.log
	var timeout <-chan time.Time
	switch {
	case gather:
		v.wakeAt = v.pos + gatherBytes
		if !v.gathering {
			v.gathering = true
			v.gatherTimer.Reset(gatherTime)
		}
		timeout = v.gatherTimer.C
	case v.pos < l.clean: // paused, or the window is full: an ack will wake us
		v.wakeAt = math.MaxInt64
	default:
		v.wakeAt = v.pos + 1
	}
	v.parked = true
	l.parked = append(l.parked, v)
	l.mu.Unlock()
	var err error
	select {
	case <-v.wake:
	case <-timeout:
		gather = false
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.mu.Lock()
	l.unpark(v)
	if timeout != nil && (!gather || v.pos+gatherBytes <= l.clean) {
		v.gathering, v.gathered = false, true
		v.gatherTimer.Stop()
	}
	return err
}

// wake wakes the parked viewers that the log has grown enough for.
func (l *log) wake() {
	for i := len(l.parked) - 1; i >= 0; i-- {
		if v := l.parked[i]; l.clean >= v.wakeAt {
			l.wakeOne(v)
		}
	}
}

// wakeAll wakes every parked viewer, because there is something to tell.
func (l *log) wakeAll() {
	for i := len(l.parked) - 1; i >= 0; i-- {
		l.wakeOne(l.parked[i])
	}
}

func (l *log) wakeOne(v *Viewer) {
	if !v.parked {
		return
	}
	l.unpark(v)
	signal(v.wake)
}

func (l *log) unpark(v *Viewer) {
	if !v.parked {
		return
	}
	v.parked = false
	i := slices.Index(l.parked, v)
	l.parked[i] = l.parked[len(l.parked)-1]
	l.parked = l.parked[:len(l.parked)-1]
}
