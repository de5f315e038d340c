package share

import (
	"bytes"
	"unicode/utf8"
)

// decoder makes text of what a program prints: valid UTF-8, with U+FFFD for every byte that is not. A character that is
// not complete yet waits for the rest of it.
type decoder struct {
	rest []byte // shorter than a character
}

// text returns the text of p and of what waited. It may share memory with p.
func (d *decoder) text(p []byte) []byte {
	if len(d.rest) > 0 {
		p = append(d.rest, p...)
		d.rest = nil
	}
	if n := incomplete(p); n > 0 {
		d.rest = bytes.Clone(p[len(p)-n:])
		p = p[:len(p)-n]
	}
	return valid(p)
}

// end returns the text of what waits and will not be completed.
func (d *decoder) end() []byte {
	rest := d.rest
	d.rest = nil
	return valid(rest)
}

// incomplete returns how many bytes at the end of p are a character's beginning.
func incomplete(p []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(p)); n++ {
		if c := p[len(p)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(p[len(p)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

func valid(p []byte) []byte {
	if utf8.Valid(p) {
		return p
	}
	text := make([]byte, 0, len(p)+len(p)/2)
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		text = utf8.AppendRune(text, r)
		p = p[n:]
	}
	return text
}
