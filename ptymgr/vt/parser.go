package vt

import "unicode/utf8"

// Controls of ECMA-48 that the parser looks at. The 8-bit ones are meant as characters: in UTF-8 they are c1Lead and a
// second byte.
const (
	bel    = 0x07
	so     = 0x0E
	si     = 0x0F
	can    = 0x18
	sub    = 0x1A
	esc    = 0x1B
	c1Lead = 0xC2
	dcs    = 0x90
	sos    = 0x98
	decid  = 0x9A
	csi    = 0x9B
	st     = 0x9C
	osc    = 0x9D
	pm     = 0x9E
	apc    = 0x9F
)

// invalid stands for bytes that are no UTF-8, which xterm.js drops wherever they are.
const invalid rune = -1

// parserState is a state of the parser for VT500 terminals (https://vt100.net/emu/dec_ansi_parser) as xterm.js 6 has
// it: strings may hold any text, and a character outside ASCII ends every other sequence but an ignored one.
type parserState uint8

const (
	ground parserState = iota
	escape
	escapeIntermediate
	csiEntry
	csiParam
	csiIntermediate
	csiIgnore
	dcsEntry
	dcsParam
	dcsIntermediate
	dcsIgnore
	dcsString
	oscString
	ignoredString // APC, PM and SOS
	restart       // not a state: the character belongs to what comes next
)

func (state parserState) isString() bool { return state >= dcsEntry }

// executes reports whether C0 controls take effect in this state.
func (state parserState) executes() bool { return state >= escape && state <= csiIgnore }

// next returns the state after c. It is ground after the last character of a sequence, and restart if the sequence
// ended before c.
func (state parserState) next(c rune) parserState {
	switch {
	case c == invalid:
		return state
	case c == can || c == sub || c == st:
		return ground
	case c == esc || c >= 0x80 && c < 0xA0:
		return restart
	case c >= 0xA0:
		switch state {
		case csiIgnore, dcsIgnore, dcsString, oscString:
			return state
		}
		return ground
	}
	switch state {
	case dcsIgnore, dcsString, ignoredString:
		return state
	case oscString:
		if c == bel {
			return ground
		}
		return state
	}
	if c < 0x20 || c == 0x7F {
		return state
	}
	switch state {
	case escape:
		switch {
		case c < 0x30:
			return escapeIntermediate
		case c == 'P':
			return dcsEntry
		case c == '[':
			return csiEntry
		case c == ']':
			return oscString
		case c == 'X' || c == '^' || c == '_':
			return ignoredString
		}
		return ground
	case escapeIntermediate:
		if c < 0x30 {
			return escapeIntermediate
		}
		return ground
	case csiIgnore:
		if c < 0x40 {
			return csiIgnore
		}
		return ground
	case csiEntry, csiParam, csiIntermediate:
		switch {
		case c >= 0x40:
			return ground
		case c < 0x30:
			return csiIntermediate
		case state == csiIntermediate || state == csiParam && c >= '<':
			return csiIgnore
		}
		return csiParam
	default: // dcsEntry, dcsParam, dcsIntermediate
		switch {
		case c >= 0x40:
			return dcsString
		case c < 0x30:
			return dcsIntermediate
		case state == dcsIntermediate || state == dcsParam && c >= '<':
			return dcsIgnore
		}
		return dcsParam
	}
}

// opener returns the state after a C1 control.
func opener(c rune) parserState {
	switch c {
	case csi:
		return csiEntry
	case dcs:
		return dcsEntry
	case osc:
		return oscString
	case sos, pm, apc:
		return ignoredString
	}
	return ground
}

// sequence is one escape sequence or C1 control, as found by parseSequence.
type sequence struct {
	state    parserState // escape, csiEntry, dcsString or oscString when it asks for something, ground when it does not; or, when unfinished, the state it is in
	ident    uint32      // prefix, intermediates and final byte, in this order, the final byte lowest
	from, to int         // of the parameters or of the string
	control  rune        // the C1 control that it consists of, or 0
	osc      bool        // it is an OSC, however it ended
	shifted  bool        // a shift in or out took effect inside
	shift    uint8       // the last one: 1 after SO, 0 after SI
}

// parseSequence reads the sequence at the start of p, which is ESC or c1Lead, and returns its length, which is 0 when it
// does not end in p. ESC \ is part of the string that it ends.
func parseSequence(p []byte) (int, sequence) {
	var seq sequence
	var state parserState
	i := 1
	if p[0] == esc {
		state = escape
	} else {
		c, size := decode(p)
		if size == 0 {
			return 0, seq
		}
		i = size
		if c >= 0xA0 || c == invalid {
			return i, seq
		}
		if state = opener(c); state == ground {
			seq.control = c
			return i, seq
		}
		seq.from, seq.osc = i, state == oscString
	}
	for i < len(p) {
		c, size := rune(p[i]), 1
		if c >= utf8.RuneSelf {
			if c, size = decode(p[i:]); size == 0 {
				break
			}
		}
		next := state.next(c)
		switch {
		case next == state:
			switch {
			case c >= 0x20 && c < 0x30 && (state == escapeIntermediate || state == csiIntermediate || state == dcsIntermediate):
				seq.ident = seq.ident<<8 | uint32(c)
			case c == so && state.executes():
				seq.shifted, seq.shift = true, 1
			case c == si && state.executes():
				seq.shifted, seq.shift = true, 0
			}
			i += size
			continue
		case next == ground:
			seq.to = i
			i += size
			seq.end(state, c)
			return i, seq
		case next == restart:
			seq.to = i
			if c == esc && state.isString() {
				if i+1 == len(p) {
					seq.state = state
					return 0, seq
				}
				if p[i+1] == '\\' {
					i += 2
				}
				seq.end(state, st)
			}
			return i, seq
		case next == dcsString:
			seq.ident = seq.ident<<8 | uint32(c)
			seq.from = i + size
		case state == escape && next != escapeIntermediate:
			seq.from, seq.osc = i+size, next == oscString
		case next == escapeIntermediate, next == csiIntermediate, next == dcsIntermediate, c >= '<' && c <= '?':
			seq.ident = seq.ident<<8 | uint32(c)
		}
		state = next
		i += size
	}
	seq.state = state
	return 0, seq
}

// end notes what a sequence asks for that was in state when c ended it.
func (seq *sequence) end(state parserState, c rune) {
	switch state {
	case escape, escapeIntermediate:
		if c >= 0x30 && c < 0x7F {
			seq.state, seq.ident = escape, seq.ident<<8|uint32(c)
		}
	case csiEntry, csiParam, csiIntermediate:
		if c >= 0x40 && c < 0x7F {
			seq.state, seq.ident = csiEntry, seq.ident<<8|uint32(c)
		}
	case dcsString:
		if c == st {
			seq.state = dcsString
		}
	case oscString:
		if c == st || c == bel {
			seq.state = oscString
		}
	}
}

// decode returns the character at the start of p and its length, which is 0 if p ends inside it. Like xterm.js it
// takes a byte order mark for invalid.
func decode(p []byte) (rune, int) {
	if p[0] < utf8.RuneSelf {
		return rune(p[0]), 1
	}
	c, size := utf8.DecodeRune(p)
	switch {
	case c == '\uFEFF':
		return invalid, size
	case c != utf8.RuneError || size > 1:
		return c, size
	case utf8.FullRune(p):
		return invalid, 1
	}
	return 0, 0
}
