package vt

import (
	"bytes"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the longest title kept, in bytes.
const maxTitle = 1024

// dynamicColor is a color that the program set: colorRGB and its value, or 0 for the theme's.
type dynamicColor = color

// clean returns the text of a string as xterm.js sees it, without C0 controls and bytes that are no UTF-8. It copies
// only when there are such.
func clean(p []byte) []byte {
	plain := true
	for _, b := range p {
		if b < 0x20 || b >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return p
	}
	text := make([]byte, 0, len(p))
	for i := 0; i < len(p); {
		c, size := decode(p[i:])
		if size == 0 {
			break
		}
		if c >= 0x20 {
			text = append(text, p[i:i+size]...)
		}
		i += size
	}
	return text
}

// oscNumber splits the text of an OSC into its number, which is -1 when it has none, and the rest. open says that more
// text could still change the number.
func oscNumber(text []byte) (number int, rest []byte, open bool) {
	digits, rest, found := bytes.Cut(text, []byte{';'})
	for _, b := range digits {
		if b < '0' || b > '9' {
			return -1, nil, false
		}
		number = min(number*10+int(b-'0'), 1<<20)
	}
	if len(digits) == 0 {
		number = -1
	}
	return number, rest, !found
}

func (v *vector) applyOSC(number int, text []byte) {
	switch number {
	case 0, 2:
		v.setTitle(text)
	case 4:
		v.setPalette(text)
	case 8:
		v.setLink(text)
	case 10, 11, 12:
		for spec := range bytes.SplitSeq(text, []byte{';'}) {
			if c := parseColor(string(spec)); c != 0 && number <= 12 {
				v.colors[number-10] = c
			}
			number++
		}
	case 104:
		v.resetPalette(text)
	case 110, 111, 112:
		v.colors[number-110] = 0
	}
}

func (v *vector) setTitle(text []byte) {
	if string(text) == v.title {
		return
	}
	v.title = cutText(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, string(text)), maxTitle)
}

// cutText returns at most the first n bytes of text, in whole characters.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.Clone(text[:n])
}

var hostname = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost" // then only that name is ours
	}
	return name
})

// localPath returns the path of a file URI on this host, or "".
func localPath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	if u.Host != "" && u.Host != "localhost" && u.Host != hostname() {
		return ""
	}
	return absolutePath(u.Path)
}

// setLink opens or closes a hyperlink. Without a URI but with parameters it means nothing.
func (v *vector) setLink(text []byte) {
	parameters, uri, found := bytes.Cut(text, []byte{';'})
	switch {
	case !found:
		return
	case len(uri) > 0:
		v.link, v.linkAlt = string(text), v.alt
	case len(bytes.TrimSpace(parameters)) > 0:
		return
	default:
		v.link, v.linkAlt = "", false
	}
	v.updateExtended()
}

// setPalette takes in pairs of index and color.
func (v *vector) setPalette(text []byte) {
	fields := strings.Split(string(text), ";")
	for ; len(fields) > 1; fields = fields[2:] {
		index, err := strconv.ParseUint(fields[0], 10, 8)
		if c := parseColor(fields[1]); err == nil && c != 0 {
			v.dropFromPalette(byte(index))
			v.palette += string([]byte{byte(index), byte(c >> 16), byte(c >> 8), byte(c)})
		}
	}
}

// resetPalette takes in a list of indexes; an empty one means all.
func (v *vector) resetPalette(text []byte) {
	if len(text) == 0 {
		v.palette = ""
	}
	for field := range strings.SplitSeq(string(text), ";") {
		if index, err := strconv.ParseUint(field, 10, 8); err == nil {
			v.dropFromPalette(byte(index))
		}
	}
}

func (v *vector) dropFromPalette(index byte) {
	for i := 0; i < len(v.palette); i += 4 {
		if v.palette[i] == index {
			v.palette = v.palette[:i] + v.palette[i+4:]
			return
		}
	}
}

// parseColor reads a color in the forms of XParseColor that xterm.js knows: rgb:R/G/B and #RGB, with one to four
// hexadecimal digits for each part. It returns 0 for anything else.
func parseColor(spec string) color {
	var parts [3]string
	scaled := false
	if digits, ok := strings.CutPrefix(spec, "#"); ok {
		n := len(digits) / 3
		if n < 1 || n > 4 || len(digits)%3 != 0 {
			return 0
		}
		parts = [3]string{digits[:n], digits[n : 2*n], digits[2*n:]}
	} else if len(spec) > 4 && strings.EqualFold(spec[:4], "rgb:") {
		fields := strings.Split(spec[4:], "/")
		if len(fields) != 3 {
			return 0
		}
		parts, scaled = [3]string(fields), true
	}
	var c color
	for _, part := range parts {
		value, err := strconv.ParseUint(part, 16, 16)
		n := len(part)
		if err != nil || n > 4 || n != len(parts[0]) {
			return 0
		}
		switch bits := 4 * n; {
		case scaled:
			limit := uint64(1)<<bits - 1
			value = (value*255 + limit/2) / limit
		case n == 1:
			value <<= 4
		default:
			value >>= bits - 8
		}
		c = c<<8 | color(value)
	}
	return colorRGB | c
}
