package ptymgr

import "math/bits"

// can aborts an escape sequence, as every terminal reads it.
const can = 0x18

// masks marks the queries of one segment, byte by byte. A masked query is as long as the original, so offsets stay
// true: CAN for its first byte, and NUL, which terminals ignore, for the rest.
type masks struct{ first, rest bitmap }

// bitmap has a bit for each byte of a segment.
type bitmap [segmentBytes/64 + 1]uint64

func (b *bitmap) set(from, to int) {
	for w := from / 64; w*64 < to; w++ {
		b[w] |= span(w, from, to)
	}
}

// mark records a query at data[from:to].
func (m *masks) mark(from, to int) {
	m.first.set(from, from+1)
	m.rest.set(from+1, to)
}

// before returns the start of the query that data[at] is inside of, or at.
func (m *masks) before(at int) int {
	for m.rest[at/64]&(1<<(at%64)) != 0 {
		at--
	}
	return at
}

// any reports whether a query touches data[from:to].
func (m *masks) any(from, to int) bool {
	for w := from / 64; w <= (to-1)/64; w++ {
		if (m.first[w]|m.rest[w])&span(w, from, to) != 0 {
			return true
		}
	}
	return false
}

// apply masks p, a copy of the data at [from, from+len(p)).
func (m *masks) apply(p []byte, from int) {
	to := from + len(p)
	for w := from / 64; w <= (to-1)/64; w++ {
		within := span(w, from, to)
		overwrite(p, m.first[w]&within, w*64-from, can)
		overwrite(p, m.rest[w]&within, w*64-from, 0)
	}
}

// span returns the bits of word w that lie in [from, to).
func span(w, from, to int) uint64 {
	word := ^uint64(0)
	if from > w*64 {
		word <<= from - w*64
	}
	if over := w*64 + 64 - to; over > 0 {
		word &= ^uint64(0) >> over
	}
	return word
}

func overwrite(p []byte, word uint64, base int, b byte) {
	for ; word != 0; word &= word - 1 {
		p[base+bits.TrailingZeros64(word)] = b
	}
}
