package wire

import (
	"encoding/binary"
	"math/bits"
)

const hexDigits = "0123456789abcdef"

// AppendString appends text, which must be valid UTF-8, as a JSON string (RFC 8259 section 7). It escapes only what must
// be: quotes, backslashes and control characters.
func AppendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for {
		n := plain(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return append(dst, '"')
		}
		switch c := text[n]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		text = text[n+1:]
	}
}

// plain returns how many bytes at the start of text need no escape, looking at eight at a time.
func plain(text []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(text)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		found := ((w - ones*0x20) &^ w) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
		if found &= highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}
