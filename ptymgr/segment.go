package ptymgr

import (
	"sync"

	"tandem/ptymgr/vt"
)

const (
	// segmentBytes is the most one segment holds. A whole segment fits one WebSocket frame with a 4-byte header
	// (RFC 6455 section 5.2: payloads above 65,535 bytes need a header of 10).
	segmentBytes = 1<<16 - 1

	// minRead is the least free space that a pty read is given: the kernel hands out at most about 4 KiB at a time.
	minRead = 4 << 10
)

// block is the memory of one segment. It holds no pointers, so the collector never looks inside.
type block [segmentBytes]byte

var blocks = sync.Pool{New: func() any { return new(block) }}

// segment is a run of output that starts and ends at a clean boundary: never inside a character or, but for over-long
// ones, inside an escape sequence. So a chunk for a viewer never spans two segments.
//
// Bytes before n are immutable until the segment is recycled, which pins prevent. Bytes from n to fill belong to the
// appender. The fields but fill are guarded by log.mu; the appender, who alone writes start, n, state and data, may
// read those without it.
type segment struct {
	start int64      // offset of data[0]
	n     int        // bytes that viewers may take
	fill  int        // bytes read from the pty: n and what is held back; appender only
	state vt.Scanner // at start
	pins  int        // senders that read data outside the lock
	masks *masks     // the queries among the first n bytes; nil while there are none
	hides *bitmap    // what else among them is no text; nil while there is nothing
	data  *block
}

func (s *segment) end() int64 { return s.start + int64(s.n) }

// free returns the part of the segment that is not filled yet. Appender only.
func (s *segment) free() []byte { return s.data[s.fill:] }
