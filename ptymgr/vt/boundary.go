package vt

import "bytes"

// newlineReach is how far a replay's start may be moved to begin with a line, in bytes.
const newlineReach = 4 << 10

// NextBoundary returns the first offset from target on that is between two units, and the state there. p[0] has offset
// off, where the state is s, which stays as it is. If p ends before there is one, that is the end of p.
func (s *Scanner) NextBoundary(p []byte, off, target int64) (Scanner, int64) {
	at := *s
	wanted := min(max(int(target-off), 0), len(p))
	pos := at.Scan(p[:wanted], off, nil)
	for end := wanted; pos < wanted && end < len(p); {
		end++
		pos += at.Scan(p[pos:end], off+int64(pos), nil)
	}
	if pos < wanted {
		pos = len(p)
	}
	return at, off + int64(pos)
}

// SaneBoundary returns where a replay may start: the first offset from target on that follows a newline and is inside
// no sequence; if there is none within newlineReach, any between two units. s is the state at off, the offset of p[0],
// and stays as it is; the result is the state at the offset returned. Only if p ends before such an offset, the state is
// inside an over-long string, which the preamble takes care of.
func (s *Scanner) SaneBoundary(p []byte, off, target int64) (Scanner, int64) {
	at := *s
	wanted := min(max(int(target-off), 0), len(p))
	pos := at.Scan(p[:wanted], off, nil)
	fallback, fallbackPos := at, pos
	haveFallback := pos == wanted && at.long == ground
	if haveFallback && (off+int64(pos) == 0 || pos > 0 && p[pos-1] == '\n') {
		return at, off + int64(pos)
	}
	for end := wanted; end < len(p) && !(haveFallback && end-wanted > newlineReach); {
		if n := bytes.IndexByte(p[end:], '\n'); n >= 0 {
			end += n + 1
		} else {
			end = len(p)
		}
		pos += at.Scan(p[pos:end], off+int64(pos), nil)
		if pos < wanted || at.long != ground {
			continue
		}
		if pos == end && p[end-1] == '\n' && end-wanted <= newlineReach {
			return at, off + int64(end)
		}
		if !haveFallback {
			fallback, fallbackPos, haveFallback = at, pos, true
		}
	}
	if !haveFallback {
		return at, off + int64(pos)
	}
	return fallback, off + int64(fallbackPos)
}

// Preamble returns bytes that bring a fresh xterm.js with this many rows into the state of the terminal, but for what is
// on its screen. It contains no query. A string that the scanner is inside of is opened again, so that its rest is not
// taken for text; whatever it was, the terminal ignores it.
func (s *Scanner) Preamble(rows int) []byte {
	b := s.vector.preamble(rows)
	switch s.long {
	case oscString:
		b = append(b, "\x1b]-"...)
	case dcsIgnore, dcsString:
		b = append(b, "\x1bPz"...)
	case ignoredString:
		b = append(b, "\x1b_"...)
	}
	return b
}
