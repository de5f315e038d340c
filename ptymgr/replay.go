package ptymgr

import "tandem/ptymgr/vt"

// restartBytes is how far behind the head, in bytes, an overtaken viewer starts again: little enough that a slow one
// is not overtaken over and over.
const restartBytes = 256 << 10

// replay starts the viewer afresh at a sane place at or after target: it is told of the place by first, EventReady or
// EventResize, clears its screen, and is brought into the terminal's state there. log.mu is held.
func (v *Viewer) replay(first EventKind, target int64) {
	t, l := v.t, v.t.log
	state, offset := l.stateAt(max(target, v.floor), v.floor)
	v.restart(offset)
	v.commands = t.commands.at(offset, v.floor)
	size, since := l.sizeFrom(offset)
	state.Resized(since)
	if v.floor > 0 {
		state.Forget()
	}
	if first == EventReady || size != v.toldSize {
		v.queue = append(v.queue, Event{Kind: first, Offset: offset, Size: size, Writable: v.writable})
	}
	v.toldSize = size
	v.toldFloor = l.floor
	preamble := state.Preamble(size.Rows)
	v.queue = append(v.queue, Event{Kind: EventReset, Offset: offset, Replay: len(preamble) > 0})
	if len(preamble) > 0 {
		v.queue = append(v.queue,
			Event{Kind: EventOutput, Offset: offset, Data: preamble},
			Event{Kind: EventLive, Offset: offset})
	}
	if since := t.live.altSince; since >= 0 && since < offset {
		// What the alternate screen shows was drawn before the replay: let the program draw it again.
		t.nudge()
	}
}

// awaitFloor starts the viewer with an empty screen at its floor, which the log has yet to reach. A replay follows then,
// since the floor may be inside a sequence. log.mu is held.
func (v *Viewer) awaitFloor() {
	l := v.t.log
	v.early = true
	v.restart(v.floor)
	v.commands = commandCursor{next: v.t.commands.total()}
	v.toldSize = l.size()
	v.queue = append(v.queue,
		Event{Kind: EventReady, Offset: v.pos, Size: v.toldSize, Writable: v.writable},
		Event{Kind: EventReset, Offset: v.pos})
}

// stateAt returns a sane place for a replay, at or after target and before anything that is in the middle of a line or
// sequence if possible, and the terminal's state there. Of a floor that is the next place between two units. log.mu is
// held.
func (l *log) stateAt(target, floor int64) (vt.Scanner, int64) {
	seg := l.at(target)
	if target == l.floor || target == floor {
		return seg.state.NextBoundary(seg.data[:seg.n], seg.start, target)
	}
	return seg.state.SaneBoundary(seg.data[:seg.n], seg.start, target)
}

// freshStart returns the oldest offset from which a viewer can be sent everything without being overtaken at once:
// twice what may be in flight lies between it and the tail. log.mu is held.
func (t *Terminal) freshStart() int64 {
	const margin = 2*highWater/(segmentBytes-minRead) + 1
	l := t.log
	unused := l.max - len(l.segs)
	oldest := l.segs[min(max(margin-unused, 0), len(l.segs)-1)].start
	return max(oldest, l.floor)
}

// restartAt returns where an overtaken viewer starts again. log.mu is held.
func (t *Terminal) restartAt() int64 { return max(t.log.clean-restartBytes, t.log.tail()) }
