package ptymgr

import (
	"bytes"
	"sort"
	"sync"

	"tandem/ptymgr/vt"
)

const (
	// DefaultLogBytes is how much output a terminal keeps when Config.LogBytes is zero.
	DefaultLogBytes = 4 << 20

	// MinLogBytes is the least output a log may keep: several times what is in flight to a viewer.
	MinLogBytes = 1 << 20

	maxSizeMarks = 1024
)

// log is a terminal's output: an append-only sequence of bytes with absolute offsets, of which the newest part is kept
// in a ring of segments. One goroutine appends (space, commit, seal); cursors read.
//
// The end of the log as everybody else sees it is clean: what follows is an unfinished character or escape sequence,
// which is held back until the rest of it arrives, so that no viewer is ever sent half a query.
type log struct {
	mu     sync.Mutex // guards what follows, but for the appender's own; never held across I/O
	segs   []*segment // oldest first, at least one
	max    int        // segments kept
	clean  int64      // offset where the next byte for viewers will be
	read   int64      // end of what was read from the pty: clean and what is held back
	sealed bool       // no more output will come
	floor  int64      // nothing before this offset is shown to anybody
	sizes  []sizeMark // ascending offsets; sizes[0] is the size at the tail
	parked []*Viewer  // viewers to be woken when the log grows
	spare  *bitmap    // all zeros, for the next segment that hides something; nil for none

	// The appender's own.
	scan  vt.Scanner
	found vt.Findings
}

// sizeMark records that the terminal has a size from an offset on.
type sizeMark struct {
	offset int64
	size   Size
}

func newLog(bytes int, size Size) *log {
	l := &log{max: bytes / segmentBytes, sizes: []sizeMark{{0, size}}}
	l.segs = append(make([]*segment, 0, l.max+1), &segment{data: blocks.Get().(*block)})
	return l
}

// space returns room for the next read, at least minRead bytes. Appender only.
func (l *log) space() []byte {
	seg := l.segs[len(l.segs)-1]
	if segmentBytes-seg.fill < minRead {
		seg = l.rotate(seg)
	}
	return seg.free()
}

// rotate starts a new segment with what the old one holds back.
func (l *log) rotate(old *segment) *segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	seg := l.recycle()
	seg.start, seg.state = old.end(), l.scan
	seg.n, seg.fill = 0, copy(seg.data[:], old.data[old.n:old.fill])
	old.fill = old.n
	l.segs = append(l.segs, seg)
	return seg
}

// recycle returns a segment to fill: the oldest when the ring is full and nobody is sending it, else a fresh one. A
// pinned segment leaves the ring and dies with its last reader.
func (l *log) recycle() *segment {
	if len(l.segs) < l.max {
		return &segment{data: blocks.Get().(*block)}
	}
	seg := l.segs[0]
	l.segs = append(l.segs[:0], l.segs[1:]...)
	l.forgetSizes(l.segs[0].start)
	if seg.pins > 0 {
		return &segment{data: blocks.Get().(*block)}
	}
	seg.masks = nil
	if seg.hides != nil {
		l.spare, seg.hides = seg.hides, nil
		clear(l.spare[:])
	}
	return seg
}

// scanned takes in the n bytes that were read into space. It holds no lock: nobody else sees those bytes yet.
// Appender only; publish makes them visible.
func (l *log) scanned(n int) (used int) {
	seg := l.segs[len(l.segs)-1]
	seg.fill += n
	return l.scan.Scan(seg.data[seg.n:seg.fill], seg.end(), &l.found)
}

// publish lets viewers have the first used bytes of what was scanned. mu is held.
func (l *log) publish(used int) {
	seg := l.segs[len(l.segs)-1]
	for _, q := range l.found.Queries {
		if seg.masks == nil {
			seg.masks = new(masks)
		}
		seg.masks.mark(seg.n+q.From, seg.n+q.To)
	}
	for _, span := range l.found.Hidden {
		l.hide(seg, seg.n+span.From, seg.n+span.To)
	}
	seg.n += used
	l.clean += int64(used)
	l.read = seg.start + int64(seg.fill)
	l.wake()
}

// hide records that data[from:to] of a segment is no text for programs. mu is held.
func (l *log) hide(seg *segment, from, to int) {
	if seg.hides == nil {
		if seg.hides, l.spare = l.spare, nil; seg.hides == nil {
			seg.hides = new(bitmap)
		}
	}
	seg.hides.set(from, to)
}

// seal ends the log: what was held back is let go, and no more will come. mu is held.
func (l *log) seal() {
	seg := l.segs[len(l.segs)-1]
	if l.scan.HidesRest(seg.data[seg.n:seg.fill]) {
		l.hide(seg, seg.n, seg.fill)
	}
	l.clean += int64(seg.fill - seg.n)
	seg.n = seg.fill
	l.sealed = true
	l.wakeAll()
}

// tail returns the oldest offset that is kept and may be shown. mu is held.
func (l *log) tail() int64 { return max(l.segs[0].start, l.floor) }

// at returns the segment of an offset from tail to clean. mu is held.
func (l *log) at(offset int64) *segment { return l.segs[l.index(offset)] }

// index returns where in segs that segment is.
func (l *log) index(offset int64) int {
	return sort.Search(len(l.segs), func(i int) bool { return l.segs[i].start > offset }) - 1
}

// resize records a size from the present end of the log on. mu is held.
func (l *log) resize(size Size) {
	if last := &l.sizes[len(l.sizes)-1]; last.offset == l.clean {
		last.size = size
	} else {
		l.sizes = append(l.sizes, sizeMark{l.clean, size})
	}
	if len(l.sizes) > maxSizeMarks {
		l.sizes = append(l.sizes[:0], l.sizes[1:]...)
	}
	l.wakeAll()
}

// forgetSizes drops the marks that ended before offset.
func (l *log) forgetSizes(offset int64) {
	i := 0
	for i+1 < len(l.sizes) && l.sizes[i+1].offset <= offset {
		i++
	}
	l.sizes = append(l.sizes[:0], l.sizes[i:]...)
}

// sizeAt returns the size at an offset and the next offset at which it changes, or end. mu is held.
func (l *log) sizeAt(offset, end int64) (Size, int64) {
	i := l.sizeMark(offset)
	if i+1 < len(l.sizes) {
		end = min(end, l.sizes[i+1].offset)
	}
	return l.sizes[i].size, end
}

// sizeFrom returns the size at an offset and since when it has been that. mu is held.
func (l *log) sizeFrom(offset int64) (Size, int64) {
	mark := l.sizes[l.sizeMark(offset)]
	return mark.size, mark.offset
}

// sizeMark returns the index of the mark that holds at offset.
func (l *log) sizeMark(offset int64) int {
	i := sort.Search(len(l.sizes), func(i int) bool { return l.sizes[i].offset > offset })
	return max(i-1, 0)
}

// size returns the terminal's size now. mu is held.
func (l *log) size() Size { return l.sizes[len(l.sizes)-1].size }

// clear moves the floor to the start of the current line, so that a prompt survives, or to where the alternate screen
// was entered. mu is held.
func (l *log) clear(altSince int64) {
	end := l.clean
	if altSince >= 0 {
		end = max(altSince, l.segs[0].start)
	}
	l.floor = max(l.floor, l.lineStart(end))
	l.wakeAll()
}

// lineStart returns the start of the line that offset is in, or offset when that is longer than a segment. mu is held.
func (l *log) lineStart(offset int64) int64 {
	last := l.index(offset)
	for i := last; i >= max(last-1, 0); i-- {
		seg := l.segs[i]
		line := bytes.LastIndexByte(seg.data[:min(offset-seg.start, int64(seg.n))], '\n')
		if line >= 0 || seg.start == 0 {
			return seg.start + int64(line+1)
		}
	}
	return offset
}

// free gives the memory back once nobody can read any more. mu is held.
func (l *log) free() {
	for _, seg := range l.segs {
		if seg.pins == 0 {
			blocks.Put(seg.data)
		}
	}
	l.segs = []*segment{{start: l.clean, data: new(block)}}
}
