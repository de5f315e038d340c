package vt

// vector is the state of a terminal but for its screen: all that brings a fresh xterm.js to where the program's output
// goes on. Cursor position and tab stops belong to the screen. The zero value is the state after a reset.
type vector struct {
	title string // window title: valid UTF-8 without controls, at most maxTitle bytes

	style   style
	link    string // parameters and URI of the open hyperlink, as OSC 8 has them; "" without one
	linkAlt bool   // it was opened on the alternate screen, with which xterm.js forgets where it leads
	modes   modeSet
	mouse   uint16  // the mouse protocol's mode: 9, 1000, 1002, 1003, or 0
	coding  uint16  // the mouse encoding's mode: 1006, 1016, or 0
	cursor  uint8   // DECSCUSR parameter: 0, or 1-8, odd when blinking; 7 and 8 have no shape of their own
	blink   uint8   // mode 12: 0 never touched, 'h' or 'l'
	sets    [4]byte // final bytes that designated G0-G3; 0 is ASCII
	gl      uint8   // which of them is in GL
	charset byte    // the set in use: that of GL, unless a saved cursor brought another

	main, alternate screenState
	alt             bool  // the alternate screen is on
	altStart        int64 // offset of the sequence that switched it on

	colors  [3]dynamicColor // OSC 10, 11, 12
	palette string          // OSC 4: four bytes for each changed color, index, red, green, blue
}

// screenState is what each of the two screens has of its own.
type screenState struct {
	region   region
	regionAt int64 // offset of the sequence that set it
	saved    style // of DECSC; without the shape and color of the underline
	charset  byte  // of DECSC
}

// region is a scroll region as DECSTBM gives it. Zero is all of the screen.
type region struct {
	top, bottom int32 // rows from 1; 0 is the first and the last one
}

// Title returns the window title that the program set last: valid UTF-8 without controls; "" for none.
func (v *vector) Title() string { return v.title }

// AltSince returns the offset where the alternate screen was switched on, or -1 while the main screen is shown.
func (v *vector) AltSince() int64 {
	if !v.alt {
		return -1
	}
	return v.altStart
}

// Resized takes in that the terminal got another size at an offset, which ended the scroll regions set before.
func (v *vector) Resized(at int64) {
	for _, screen := range []*screenState{&v.main, &v.alternate} {
		if screen.regionAt < at {
			screen.region, screen.regionAt = region{}, 0
		}
	}
}

// modeSet holds switches that differ from their state after a reset.
type modeSet uint32

const (
	modeInsert  modeSet = 1 << iota // IRM, ANSI mode 4
	modeNewline                     // LNM, ANSI mode 20
	modeCursorKeys
	modeReverseScreen
	modeOrigin
	modeNoWrap       // DECAWM off
	modeHiddenCursor // DECTCEM off
	modeReverseWrap
	modeKeypad
	modeFocus
	modeUTF8Mouse
	modeAlternateScroll
	modeURXVTMouse
	modePaste
	modeSync
	modeColorScheme
)

// focusMode makes a terminal report its focus, now and at every change.
const focusMode = 1004

// privateModes are the DEC private modes that are nothing but a switch.
var privateModes = []struct {
	number int32
	bit    modeSet
	on     bool // after a reset
}{
	{1, modeCursorKeys, false},
	{5, modeReverseScreen, false},
	{6, modeOrigin, false},
	{7, modeNoWrap, true},
	{25, modeHiddenCursor, true},
	{45, modeReverseWrap, false},
	{66, modeKeypad, false},
	{focusMode, modeFocus, false},
	{1005, modeUTF8Mouse, false},
	{1007, modeAlternateScroll, false},
	{1015, modeURXVTMouse, false},
	{2004, modePaste, false},
	{2026, modeSync, false},
	{2031, modeColorScheme, false},
}

// Modes that RIS and DECSTR leave alone in xterm.js: it keeps them as options or apart from the others.
const (
	keptByReset     = modeNewline | modeHiddenCursor
	keptBySoftReset = modeNewline
)

func (v *vector) screen() *screenState {
	if v.alt {
		return &v.alternate
	}
	return &v.main
}

func (v *vector) applyEscape(ident uint32) {
	switch ident {
	case '7':
		v.save()
	case '8':
		v.restore()
	case '=':
		v.modes |= modeKeypad
	case '>':
		v.modes &^= modeKeypad
	case 'c':
		v.reset()
	case 'n', '}':
		v.shift(2)
	case 'o', '|':
		v.shift(3)
	case '~':
		v.shift(1)
	case '%'<<8 | '@', '%'<<8 | 'G':
		v.gl = 0
		v.designate(0, 'B')
	default:
		if ident>>16 != 0 {
			return
		}
		switch ident >> 8 {
		case '(':
			v.designate(0, byte(ident))
		case ')', '-':
			v.designate(1, byte(ident))
		case '*', '.':
			v.designate(2, byte(ident))
		case '+':
			v.designate(3, byte(ident))
		}
	}
}

func (v *vector) applyCSI(ident uint32, ps *params, at int64) {
	switch ident {
	case 's':
		v.save()
	case 'u':
		v.restore()
	case '!'<<8 | 'p':
		v.softReset()
	case 'm':
		v.applySGR(ps)
	case 'h', 'l':
		for _, mode := range ps.values[:ps.n] {
			switch mode {
			case 4:
				v.setMode(modeInsert, ident == 'h')
			case 20:
				v.setMode(modeNewline, ident == 'h')
			}
		}
	case '?'<<8 | 'h':
		for _, mode := range ps.values[:ps.n] {
			v.setPrivate(mode, at)
		}
	case '?'<<8 | 'l':
		for _, mode := range ps.values[:ps.n] {
			v.resetPrivate(mode)
		}
	case 'r':
		v.setRegion(ps, at)
	case ' '<<8 | 'q':
		v.setCursor(ps.values[0])
	case '"'<<8 | 'q': // DECSCA
		switch ps.values[0] {
		case 1:
			v.style.flags |= protected
		case 0, 2:
			v.style.flags &^= protected
		}
	}
}

// setCursor takes in DECSCUSR. xterm.js takes numbers beyond 6 to keep the shape and to blink when odd.
func (v *vector) setCursor(p int32) {
	if p <= 6 {
		v.cursor = uint8(p)
		return
	}
	if v.cursor == 0 {
		v.cursor = 8
	}
	v.cursor = (v.cursor+1)/2*2 - uint8(p%2)
}

func (v *vector) setPrivate(mode int32, at int64) {
	switch mode {
	case 2:
		v.sets, v.charset = [4]byte{}, 0
	case 9, 1000, 1002, 1003:
		v.mouse = uint16(mode)
	case 1006, 1016:
		v.coding = uint16(mode)
	case 12:
		v.blink = 'h'
	case 1048:
		v.save()
	case 1049:
		v.save()
		v.enterAlternate(at)
	case 47, 1047:
		v.enterAlternate(at)
	default:
		v.setSwitch(mode, true)
	}
}

func (v *vector) resetPrivate(mode int32) {
	switch mode {
	case 9, 1000, 1002, 1003:
		v.mouse = 0
	case 1006, 1016:
		v.coding = 0
	case 12:
		v.blink = 'l'
	case 1048:
		v.restore()
	case 1049:
		v.leaveAlternate()
		v.restore()
	case 47, 1047:
		v.leaveAlternate()
	default:
		v.setSwitch(mode, false)
	}
}

func (v *vector) setSwitch(mode int32, on bool) {
	for i := range privateModes {
		if m := &privateModes[i]; m.number == mode {
			v.setMode(m.bit, on != m.on)
			return
		}
	}
}

func (v *vector) setMode(bit modeSet, on bool) {
	if on {
		v.modes |= bit
	} else {
		v.modes &^= bit
	}
}

func (v *vector) enterAlternate(at int64) {
	if !v.alt {
		v.alt, v.altStart = true, at
		if v.linkAlt {
			v.link, v.linkAlt = "", false
		}
	}
}

// leaveAlternate switches to the main screen. The other one loses its scroll region and keeps its saved cursor.
func (v *vector) leaveAlternate() {
	if v.alt {
		v.alt = false
		v.alternate.region, v.alternate.regionAt = region{}, 0
	}
}

// maxRows is more than any terminal has: a region that ends further down ends with the screen.
const maxRows = 1000

// setRegion sets the scroll region as DECSTBM does. What the last row is, only the terminal knows: it ignores a region
// that starts there or further down, which this cannot see.
func (v *vector) setRegion(ps *params, at int64) {
	r := region{top: ps.values[0]}
	if ps.n > 1 && ps.values[1] <= maxRows {
		r.bottom = ps.values[1]
	}
	if r.top >= maxRows || r.bottom != 0 && r.bottom <= max(r.top, 1) {
		return
	}
	screen := v.screen()
	screen.region, screen.regionAt = r, at
	if r == (region{}) {
		screen.regionAt = 0
	}
}

func (v *vector) save() {
	screen := v.screen()
	screen.saved, screen.charset = v.style.withoutUnderline(), v.charset
}

// restore brings back what was saved. The shape and color of the underline stay.
func (v *vector) restore() {
	screen := v.screen()
	saved := screen.saved
	saved.underline, saved.underlineColor = v.style.underline, v.style.underlineColor
	v.style, v.charset = saved, screen.charset
}

// shift puts G0-G3 into GL.
func (v *vector) shift(g uint8) {
	v.gl, v.charset = g, v.sets[g]
}

// designate loads the character set with this final byte into G0-G3. Unknown sets change nothing.
func (v *vector) designate(g int, final byte) {
	switch final {
	case 'B':
		final = 0
	case '0', 'A', '4', 'C', '5', 'R', 'Q', 'K', 'Y', 'E', '6', 'Z', 'H', '7', '=':
	default:
		return
	}
	v.sets[g] = final
	if int(v.gl) == g {
		v.charset = final
	}
}

// reset takes in RIS. Titles, colors and some modes outlive it in xterm.js.
func (v *vector) reset() {
	*v = vector{
		title:   v.title,
		modes:   v.modes & keptByReset,
		blink:   v.blink,
		colors:  v.colors,
		palette: v.palette,
	}
}

// softReset takes in DECSTR.
func (v *vector) softReset() {
	v.style, v.link, v.linkAlt = style{}, "", false
	v.modes &= keptBySoftReset
	v.cursor = 0
	v.sets, v.gl, v.charset = [4]byte{}, 0, 0
	*v.screen() = screenState{}
}

// Forget drops the texts that the program gave so far, for those who may not see them: the title, the directory and the
// open hyperlink.
func (v *vector) Forget() {
	v.title = ""
	if v.link != "" {
		v.link, v.linkAlt = "", false
		v.updateExtended()
	}
}
