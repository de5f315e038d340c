package vt

// color is a color of SGR: its kind in the highest byte, then an index or red, green and blue. Zero is the default.
type color uint32

const (
	colorBasic   color = 1 << 24 // 0-15
	colorIndexed color = 2 << 24 // 0-255
	colorRGB     color = 3 << 24
	colorKind    color = 3 << 24
)

// style is what SGR and DECSCA set.
type style struct {
	fg, bg         color
	underlineColor color
	flags          styleFlags
	underline      uint8 // shape: 0 none or plain, 1-5 as the sub-parameter of SGR 4
}

type styleFlags uint16

const (
	bold styleFlags = 1 << iota
	dim
	italic
	underlined
	blinking
	inverse
	hidden
	struck
	overlined
	protected
	extended // the shape of the underline counts; xterm.js saves this with the cursor, and the shape not
)

// withoutUnderline returns the part of the style that the terminal saves with the cursor.
func (s style) withoutUnderline() style {
	s.underline, s.underlineColor = 0, 0
	return s
}

// shape returns the underline that is seen, 0-5.
func (s style) shape() uint8 {
	switch {
	case s.flags&underlined == 0:
		return 0
	case s.flags&extended == 0:
		return 1
	}
	return s.underline
}

// applyValues takes in SGR parameters that have no sub-parameters.
func (v *vector) applyValues(values []int32) {
	for i := 0; i < len(values); i++ {
		switch p := values[i]; p {
		case 38, 48, 58:
			if i+2 < len(values) && values[i+1] == 5 {
				v.style.setColor(p, colorIndexed|color(values[i+2]&0xFF))
				i += 2
			} else if i+4 < len(values) && values[i+1] == 2 {
				v.style.setColor(p, rgb(values[i+2], values[i+3], values[i+4]))
				i += 4
			} else {
				var ps params
				ps.n = copy(ps.values[:], values)
				i += v.style.extendedColor(&ps, i)
			}
		default:
			v.applyAttribute(p)
		}
	}
}

// applySGR takes in any SGR.
func (v *vector) applySGR(ps *params) {
	for i := 0; i < ps.n; i++ {
		switch p := ps.values[i]; p {
		case 38, 48, 58:
			i += v.style.extendedColor(ps, i)
		case 4:
			shape := int32(1)
			if subs := ps.sub(i); len(subs) > 0 {
				shape = subs[0]
			}
			v.setUnderline(shape)
		default:
			v.applyAttribute(p)
		}
	}
}

func (v *vector) applyAttribute(p int32) {
	s := &v.style
	switch p {
	case 0:
		s.fg, s.bg, s.flags = 0, 0, 0
		s.underline, s.underlineColor = 0, 0
		v.updateExtended()
	case 1:
		s.flags |= bold
	case 2:
		s.flags |= dim
	case 3:
		s.flags |= italic
	case 4:
		v.setUnderline(1)
	case 5:
		s.flags |= blinking
	case 7:
		s.flags |= inverse
	case 8:
		s.flags |= hidden
	case 9:
		s.flags |= struck
	case 21:
		v.setUnderline(2)
	case 22:
		s.flags &^= bold | dim
	case 23:
		s.flags &^= italic
	case 24:
		v.setUnderline(0)
	case 25:
		s.flags &^= blinking
	case 27:
		s.flags &^= inverse
	case 28:
		s.flags &^= hidden
	case 29:
		s.flags &^= struck
	case 30, 31, 32, 33, 34, 35, 36, 37:
		s.fg = colorBasic | color(p-30)
	case 39:
		s.fg = 0
	case 40, 41, 42, 43, 44, 45, 46, 47:
		s.bg = colorBasic | color(p-40)
	case 49:
		s.bg = 0
	case 53:
		s.flags |= overlined
	case 55:
		s.flags &^= overlined
	case 59:
		s.underlineColor = underlineReset
		v.updateExtended()
	case 90, 91, 92, 93, 94, 95, 96, 97:
		s.fg = colorBasic | color(p-90+8)
	case 100, 101, 102, 103, 104, 105, 106, 107:
		s.bg = colorBasic | color(p-100+8)
	}
}

// underlineReset is what xterm.js 6 makes of SGR 59: white, not the color of the text as after SGR 0.
const underlineReset = colorRGB | 0xFFFFFF

func (v *vector) setUnderline(shape int32) {
	if shape < 0 || shape > 5 {
		shape = 1
	}
	v.style.underline = uint8(shape)
	if shape == 0 {
		v.style.flags &^= underlined
	} else {
		v.style.flags |= underlined
	}
	v.updateExtended()
}

// updateExtended notes whether there is more to the style than colors and flags, after a change that xterm.js does this
// at.
func (v *vector) updateExtended() {
	if v.style.underline != 0 || v.link != "" {
		v.style.flags |= extended
	} else {
		v.style.flags &^= extended
	}
}

// extendedColor takes in the color that starts at parameter i with 38, 48 or 58, in any mixture of semicolons and colons
// that xterm.js takes, and returns how many further parameters belong to it.
func (s *style) extendedColor(ps *params, i int) int {
	// The target, the kind, the color space, which is left out but in the form with colons, and three values.
	var slots [6]int32
	n, used := 0, 0
	put := func(value int32) {
		if n < len(slots) {
			slots[n] = max(value, 0)
			n++
		}
	}
	more := -1 // further parameters
	for i+used < ps.n && n < len(slots) {
		put(ps.values[i+used])
		used++
		if subs := ps.sub(i + used - 1); len(subs) > 0 {
			for _, value := range subs {
				if n == 2 && slots[1] == 5 {
					n = 3
				}
				put(value)
			}
			more = used - 1
			break
		}
		if slots[1] == 5 && n == 4 || slots[1] == 2 && n == 6 {
			more = used - 1
			break
		}
		if n == 2 && slots[1] != 0 {
			n = 3
		}
	}
	if more < 0 {
		more = used
	}
	switch slots[1] {
	case 5:
		s.setColor(slots[0], colorIndexed|color(slots[3]&0xFF))
	case 2:
		s.setColor(slots[0], rgb(slots[3], slots[4], slots[5]))
	}
	return more
}

func (s *style) setColor(target int32, c color) {
	switch target {
	case 38:
		s.fg = c
	case 48:
		s.bg = c
	case 58:
		s.underlineColor = c
	}
}

func rgb(r, g, b int32) color {
	return colorRGB | color(r&0xFF)<<16 | color(g&0xFF)<<8 | color(b&0xFF)
}
