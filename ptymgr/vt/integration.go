package vt

import "bytes"

// Span is a range of the bytes that were scanned.
type Span struct{ From, To int }

// hide notes that [from, to) is for terminals alone.
func (f *Findings) hide(from, to int) {
	if i := len(f.Hidden) - 1; i >= 0 && f.Hidden[i].To == from {
		f.Hidden[i].To = to
	} else if from < to {
		f.Hidden = append(f.Hidden, Span{from, to})
	}
}

// integrates reports whether an OSC with this body is one by which shells tell of prompts, commands and directories:
// 633 (VS Code), 133 (FinalTerm) or 7 (the working directory). Its number counts even if nothing follows it.
func integrates(body []byte) bool {
	head, _, _ := bytes.Cut(body, []byte{';'}) // no byte of another character: clean would not change where it is
	switch number, _, _ := oscNumber(clean(head)); number {
	case 7, 133, 633:
		return true
	}
	return false
}

// HidesRest reports whether rest, which Scan left and which nothing will follow, would have been among Findings.Hidden
// once it was complete.
func (s *Scanner) HidesRest(rest []byte) bool {
	if len(rest) == 0 {
		return false
	}
	if s.long != ground {
		return s.blank || s.integration
	}
	if rest[0] != esc && rest[0] != c1Lead {
		return false
	}
	n, seq := parseSequence(rest)
	return n == 0 && seq.osc && integrates(rest[seq.from:])
}
