package ptymgr

import "unicode/utf8"

// Bounds returns the oldest offset of the log that may be shown, and the end of the log as everybody sees it.
func (t *Terminal) Bounds() (tail, head int64) {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return t.log.tail(), t.log.clean
}

// SaneOffset returns the first offset at or after target where it is sane to start showing the output, as a replay does:
// the start of a line if there is one near, and inside no sequence. It is always within Bounds.
func (t *Terminal) SaneOffset(target int64) int64 {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	target = max(target, l.tail())
	if target >= l.clean {
		return l.clean
	}
	_, offset := l.stateAt(target, l.floor)
	return min(offset, l.clean)
}

// CutEnd returns where the longest cut of the log ends that starts at from, ends at to or before, has at most so many
// bytes, but room for one character, and splits none. Where the log is not kept any more, or not written yet, there are
// no characters. from must be below to; the result is above from.
func (t *Terminal) CutEnd(from, to int64, most int) int64 {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return t.log.cutEnd(from, to, most)
}

func (l *log) cutEnd(from, to int64, most int) int64 {
	end := from + int64(max(most, utf8.UTFMax))
	if end >= to {
		return to
	}
	if from < l.segs[0].start || end >= l.clean {
		return end
	}
	seg := l.at(end)
	start := max(from, seg.start)
	return seg.start + int64(wholeCharacters(seg.data[:seg.n], int(start-seg.start), int(end-seg.start)))
}
