// Package vt follows what a program prints the way xterm.js 6 reads it: the state of the terminal but for its screen,
// and the queries that a terminal would answer. It keeps no screen and writes nothing.
package vt

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// maxHold is the longest escape sequence that is waited for, in bytes. A longer one is let go piece by piece, or
// overwritten if a terminal could answer it.
const maxHold = 4096

// Scanner follows one terminal's output and knows the state in which xterm.js 6 would be. The zero value is a terminal
// that was just reset. It is a plain value: a copy goes on by itself.
type Scanner struct {
	vector
	long        parserState // of an over-long sequence that the last scan ended in; ground otherwise
	blank       bool        // that sequence is being overwritten
	integration bool        // that sequence is one of shell integration
}

// Findings are what a scan came across, valid until the next one.
type Findings struct {
	Queries []Query // in ascending order

	// Hidden are what programs that read the output as text have no use for, beside queries: the sequences of shell
	// integration, and over-long ones that were overwritten, piece by piece. In ascending order, apart from each other.
	Hidden []Span

	// Marks are what the complete sequences of shell integration say, in ascending order. Over-long ones say nothing.
	Marks []Mark
}

// Scan takes in output from p, whose first byte has offset off in the log, and returns how much of it was taken: whole
// characters and whole escape sequences. The rest is an unfinished sequence of at most maxHold bytes or an unfinished
// character; the caller passes it again with more bytes after it.
//
// Of a sequence longer than maxHold that a terminal could answer, scan overwrites every byte in p: the first with CAN,
// the others with NUL. A nil found says that p was scanned before: then queries are of no interest and p is only read.
func (s *Scanner) Scan(p []byte, off int64, found *Findings) int {
	if found != nil {
		found.Queries, found.Hidden, found.Marks = found.Queries[:0], found.Hidden[:0], found.Marks[:0]
	} else if s.blank {
		s.long, s.blank = ground, false // what is left of it in p is NUL by now
	}
	i := 0
	if s.long != ground {
		if i = s.skip(p, 0, found); s.long != ground {
			return i
		}
	}
	next := landmarks{-1, -1, -1, -1, -1}
	for {
		at := next.after(p, i)
		if at == len(p) {
			return len(p) - incompleteTail(p[i:])
		}
		switch c := p[at]; {
		case c == so:
			s.shift(1)
			i = at + 1
		case c == si:
			s.shift(0)
			i = at + 1
		case c == c1Lead && at+1 < len(p) && p[at+1] >= 0xA0:
			i = at + 1 // a letter or sign
		default:
			n := s.commonCSI(p[at:])
			if n == 0 {
				n = s.sequence(p, at, off, found)
			}
			if n == 0 {
				return at
			}
			i = at + n
			if s.long != ground {
				if i = s.skip(p, i, found); s.long != ground {
					return i
				}
			}
		}
	}
}

// sequence takes in what starts at p[at] with ESC or with the first byte of a two-byte character, and returns its
// length, or 0 if it is unfinished. Of an over-long sequence it takes the first maxHold bytes or a few less.
func (s *Scanner) sequence(p []byte, at int, off int64, found *Findings) int {
	window := p[at:min(len(p), at+maxHold+1)]
	n, seq := parseSequence(window)
	if n > 0 {
		if seq.shifted {
			s.shift(seq.shift)
		}
		if kind := s.perform(&seq, window[seq.from:seq.to], off+int64(at)); kind != QueryNone && found != nil {
			found.Queries = append(found.Queries, Query{at, at + n, kind})
		}
		if body := window[seq.from:seq.to]; found != nil && seq.osc && integrates(body) {
			found.hide(at, at+n)
			if seq.state == oscString && seq.to < n { // else it was given up, or what came next ended it
				number, text, _ := oscNumber(clean(body))
				found.mark(at, at+n, number, text)
			}
		}
		return n
	}
	if len(window) <= maxHold {
		return 0
	}
	window = window[:maxHold]
	window = window[:maxHold-incompleteTail(window)]
	_, seq = parseSequence(window)
	s.long = seq.state
	if found != nil && seq.answerable(window) {
		s.blank = true
		clear(window)
		window[0] = can
	} else {
		s.integration = seq.osc && integrates(window[seq.from:])
	}
	if found != nil && (s.blank || s.integration) {
		found.hide(at, at+len(window))
	}
	return len(window)
}

// perform changes the state as a complete sequence with these parameters or this string says, which starts at offset
// at, and tells what kind of query it is.
func (s *Scanner) perform(seq *sequence, body []byte, at int64) QueryKind {
	switch seq.state {
	case escape:
		s.applyEscape(seq.ident)
		return queryEscape(seq.ident)
	case csiEntry:
		var ps params
		ps.parse(body)
		s.applyCSI(seq.ident, &ps, at)
		return queryCSI(seq.ident, &ps)
	case dcsString:
		return queryDCS(seq.ident)
	case oscString:
		number, text, _ := oscNumber(clean(body))
		s.applyOSC(number, text)
		return queryOSC(number, text)
	}
	if seq.control == decid {
		return QueryOther
	}
	return QueryNone
}

// skip takes in what belongs to an over-long sequence from p[i] on and returns where that ends. It leaves s.long at ground
// when the sequence has ended.
func (s *Scanner) skip(p []byte, i int, found *Findings) int {
	from, hidden := i, s.blank || s.integration
	for i < len(p) {
		c, size := decode(p[i:])
		if size == 0 {
			break
		}
		if c == esc && hidden && s.long.isString() {
			if i+1 == len(p) {
				break
			}
			if p[i+1] == '\\' {
				c, size = st, 2
			}
		}
		next := s.long.next(c)
		if next == restart {
			s.long = ground
			break
		}
		if s.blank {
			clear(p[i : i+size])
		}
		i += size
		s.long = next
		if next == ground {
			break
		}
	}
	if s.long == ground {
		s.blank, s.integration = false, false
	}
	if hidden && found != nil {
		found.hide(from, i)
	}
	return i
}

// landmarks are the places of the next bytes that are more than text. Each is looked for again only once it was passed.
type landmarks struct {
	esc, c2, so, si int
	rare            int // the first of the last three
}

// after returns the first landmark of p from i on, or len(p).
func (m *landmarks) after(p []byte, i int) int {
	if m.esc < i {
		m.esc = nextEscape(p, i)
	}
	if m.rare < i {
		m.lookForRare(p, i)
	}
	return min(m.esc, m.rare)
}

func (m *landmarks) lookForRare(p []byte, i int) {
	if m.c2 < i {
		m.c2 = indexFrom(p, i, c1Lead)
	}
	if m.so < i {
		m.so = indexFrom(p, i, so)
	}
	if m.si < i {
		m.si = indexFrom(p, i, si)
	}
	m.rare = min(m.c2, m.so, m.si)
}

// nextEscape is indexFrom for ESC, which in colored text is rarely more than a few words of eight bytes away: there a
// call of bytes.IndexByte would cost more than the search.
func nextEscape(p []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for range 4 {
		if len(p)-i < 8 {
			break
		}
		word := binary.LittleEndian.Uint64(p[i:]) ^ ones*esc
		if zeros := (word - ones) &^ word & highs; zeros != 0 {
			return i + bits.TrailingZeros64(zeros)/8
		}
		i += 8
	}
	return indexFrom(p, i, esc)
}

func indexFrom(p []byte, i int, b byte) int {
	if n := bytes.IndexByte(p[i:], b); n >= 0 {
		return i + n
	}
	return len(p)
}

// incompleteTail returns how many bytes at the end of p, at most 3, are the start of a character.
func incompleteTail(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		b := p[len(p)-n]
		switch {
		case b < utf8.RuneSelf:
			return 0
		case b >= 0xC0:
			if utf8.FullRune(p[len(p)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}
