package ptymgr

import (
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// ErrOvertaken reports that the log does not have this output any more.
var ErrOvertaken = errors.New("the log does not have this output any more")

// textPiece is how much output is made into text at once, in bytes.
const textPiece = 16 << 10

// Text appends the output in [from, to) as text for programs. Queries and the sequences of shell integration (OSC 633,
// OSC 133, OSC 7) are left out, and each byte that is no UTF-8 becomes U+FFFD. The text depends on nothing but the range,
// and texts of neighbouring ranges that split no character, as CutEnd makes them, are the text of both together. It
// returns dst as it was, and ErrOvertaken, when a part of the range is not kept any more. It allocates nothing but room
// in dst.
func (t *Terminal) Text(dst []byte, from, to int64) ([]byte, error) {
	l := t.log
	before := len(dst)
	var gone removal
	l.mu.Lock()
	defer l.mu.Unlock()
	if to > l.clean {
		return dst, fmt.Errorf("no text up to offset %d: the log ends at %d", to, l.clean)
	}
	for from < to {
		if from < l.segs[0].start {
			return dst[:before], ErrOvertaken
		}
		seg := l.at(from)
		end := min(l.cutEnd(from, to, textPiece), seg.end())
		first, last := int(from-seg.start), int(end-seg.start)
		marked := seg.removed(&gone, first, last)
		seg.pins++
		l.mu.Unlock()
		if marked {
			dst = gone.appendKept(dst, seg.data[:], first, last)
		} else {
			dst = appendText(dst, seg.data[first:last])
		}
		l.mu.Lock()
		seg.pins--
		from = end
	}
	return dst, nil
}

// removal has a bit for each byte of a piece that is no text, after the bits of what comes before it in the same word of
// the segment.
type removal [textPiece/64 + 1]uint64

// removed puts into gone what of data[from:to], at most textPiece bytes, is no text, and reports whether there may be
// such. The last word is still written to by the appender, hence a copy. log.mu is held.
func (s *segment) removed(gone *removal, from, to int) bool {
	if s.masks == nil && s.hides == nil {
		return false
	}
	for i, w := 0, from/64; w <= (to-1)/64; i, w = i+1, w+1 {
		gone[i] = 0
		if s.masks != nil {
			gone[i] = s.masks.first[w] | s.masks.rest[w]
		}
		if s.hides != nil {
			gone[i] |= s.hides[w]
		}
	}
	return true
}

// appendKept appends the text of data[from:to] but for what is gone.
func (gone *removal) appendKept(dst, data []byte, from, to int) []byte {
	base := from / 64 * 64
	for from < to {
		from = base + gone.next(from-base, to-base, ^uint64(0))
		end := base + gone.next(from-base, to-base, 0)
		dst = appendText(dst, data[from:end])
		from = end
	}
	return dst
}

// next returns the first place from i on whose bit is not like those of word, all ones or all zeros, or to.
func (gone *removal) next(i, to int, word uint64) int {
	for i < to {
		if others := (gone[i/64] ^ word) >> (i % 64); others != 0 {
			return min(i+bits.TrailingZeros64(others), to)
		}
		i = (i/64 + 1) * 64
	}
	return to
}

// appendText appends p with each byte that is no UTF-8 replaced.
func appendText(dst, p []byte) []byte {
	if utf8.Valid(p) {
		return append(dst, p...)
	}
	done := 0
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(append(dst, p[done:i]...), "\uFFFD"...)
			done = i + 1
		}
		i += n
	}
	return append(dst, p[done:]...)
}
