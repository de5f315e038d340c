package vt

import (
	"fmt"
	"strconv"
)

// preamble returns output that brings a terminal of this rows, which was just reset, into the state v. The screen is
// empty afterwards and the cursor at home. There is no query in it, and so no focus mode either: a terminal reports its
// focus at once, to a program that may be gone by now.
//
// What xterm.js keeps through a reset (colors, the visible cursor, newline mode) is said even when it is as usual,
// because the terminal may have shown something else before.
func (v *vector) preamble(rows int) []byte {
	b := make([]byte, 0, 256)
	b = append(b, "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\"...)
	for i := 0; i < len(v.palette); i += 4 {
		b = fmt.Appendf(b, "\x1b]4;%d;rgb:%02x/%02x/%02x\x1b\\", v.palette[i], v.palette[i+1], v.palette[i+2], v.palette[i+3])
	}
	for i, c := range v.colors {
		if c != 0 {
			b = fmt.Appendf(b, "\x1b]%d;rgb:%02x/%02x/%02x\x1b\\", 10+i, byte(c>>16), byte(c>>8), byte(c))
		}
	}
	b = v.main.preamble(b, rows)
	if !v.linkAlt {
		b = v.appendLink(b)
	}
	if v.alt || v.linkAlt || v.alternate != (screenState{}) {
		b = append(b, "\x1b[?1047h\x1b[H\x1b[2J"...)
		b = v.alternate.preamble(b, rows)
		if v.linkAlt {
			b = v.appendLink(b)
		}
		if !v.alt {
			b = append(b, "\x1b[?1047l"...)
		}
	}
	b = v.preambleSets(b)
	b = v.preambleModes(b)
	b = v.preambleStyle(b)
	if v.title != "" {
		b = fmt.Appendf(b, "\x1b]2;%s\x1b\\", v.title)
	}
	if v.modes&modeSync != 0 {
		b = append(b, "\x1b[?2026h"...) // last: nothing is drawn from here on
	}
	return b
}

// preamble appends the saved cursor, but for its position, and the scroll region. The style and character sets are the
// usual ones before and after.
func (screen *screenState) preamble(b []byte, rows int) []byte {
	if screen.saved != (style{}) || screen.charset != 0 {
		b = appendDesignation(b, 0, screen.charset)
		saved := screen.saved
		saved.underline = 1 // any shape will do, if it is underlined at all
		b = saved.append(b)
		b = append(b, "\x1b7\x1b[m\x1b(B"...)
	}
	if r := screen.region; r != (region{}) {
		b = fmt.Appendf(b, "\x1b[%d;%dr", max(r.top, 1), min(r.bottom, int32(rows)))
	}
	return b
}

func (v *vector) preambleSets(b []byte) []byte {
	for g, set := range v.sets {
		if set != 0 {
			b = appendDesignation(b, g, set)
		}
	}
	switch v.gl {
	case 1:
		b = append(b, so)
	case 2:
		b = append(b, "\x1bn"...)
	case 3:
		b = append(b, "\x1bo"...)
	}
	if v.charset != v.sets[v.gl] && v.charset == v.screen().charset {
		b = append(b, "\x1b8"...)
	}
	return b
}

func (v *vector) preambleModes(b []byte) []byte {
	for _, m := range privateModes {
		changed := v.modes&m.bit != 0
		if (changed || m.bit&keptByReset != 0) && m.bit&(modeSync|modeFocus) == 0 {
			b = append(b, "\x1b[?"...)
			b = strconv.AppendInt(b, int64(m.number), 10)
			b = append(b, switchFinal(changed != m.on))
		}
	}
	for _, mode := range []uint16{v.mouse, v.coding} {
		if mode != 0 {
			b = fmt.Appendf(b, "\x1b[?%dh", mode)
		}
	}
	if v.blink != 0 {
		b = append(b, "\x1b[?12"...)
		b = append(b, v.blink)
	}
	if v.modes&modeInsert != 0 {
		b = append(b, "\x1b[4h"...)
	}
	b = append(b, "\x1b[20"...)
	b = append(b, switchFinal(v.modes&modeNewline != 0))
	if v.cursor != 0 {
		b = fmt.Appendf(b, "\x1b[%d q", v.cursor)
	}
	return b
}

func (v *vector) appendLink(b []byte) []byte {
	if v.link == "" {
		return b
	}
	return fmt.Appendf(b, "\x1b]8;%s\x1b\\", v.link)
}

func (v *vector) preambleStyle(b []byte) []byte {
	// A restored character set may have brought the saved style with it.
	if s := v.style; s != (style{}) || v.screen().saved != (style{}) {
		if v.link != "" {
			s.underline = max(s.underline, 1) // a link lends its own shape to an underline without one
		}
		b = s.append(b)
	}
	return b
}

func switchFinal(on bool) byte {
	if on {
		return 'h'
	}
	return 'l'
}

func appendDesignation(b []byte, g int, set byte) []byte {
	if set == 0 {
		set = 'B'
	}
	return append(b, esc, "()*+"[g], set)
}

// append appends what sets this style, whatever it was before.
func (s style) append(b []byte) []byte {
	b = append(b, "\x1b[0"...)
	for _, f := range []struct {
		flag styleFlags
		code string
	}{{bold, ";1"}, {dim, ";2"}, {italic, ";3"}, {blinking, ";5"}, {inverse, ";7"}, {hidden, ";8"}, {struck, ";9"}, {overlined, ";53"}} {
		if s.flags&f.flag != 0 {
			b = append(b, f.code...)
		}
	}
	if shape := s.shape(); shape > 0 {
		b = fmt.Appendf(b, ";4:%d", shape)
	}
	b = s.fg.append(b, 30)
	b = s.bg.append(b, 40)
	switch {
	case s.flags&(underlined|extended) == underlined: // then the underline has the color of the text
	case s.underlineColor == underlineReset:
		b = append(b, ";59"...)
	default:
		b = s.underlineColor.append(b, 50)
	}
	b = append(b, 'm')
	if s.flags&protected != 0 {
		b = append(b, "\x1b[1\"q"...)
	}
	return b
}

// append appends the parameters for a color, where base is 30 for the text, 40 for the background and 50 for the underline.
func (c color) append(b []byte, base int) []byte {
	switch c & colorKind {
	case colorBasic:
		if index := int(c & 0xFF); index < 8 {
			return fmt.Appendf(b, ";%d", base+index)
		}
		return fmt.Appendf(b, ";%d", base+60+int(c&0xFF)-8)
	case colorIndexed:
		return fmt.Appendf(b, ";%d;5;%d", base+8, c&0xFF)
	case colorRGB:
		return fmt.Appendf(b, ";%d;2;%d;%d;%d", base+8, c>>16&0xFF, c>>8&0xFF, c&0xFF)
	}
	return b
}
