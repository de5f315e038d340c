package wire

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

const (
	wordBytes    = 8
	longestForm  = len(`\u0000`)
	blockOfBytes = 256 // how much text dst is made ready for at a time, whatever it contains
)

// AppendString appends text, which must be valid UTF-8, as a JSON string. Only what JSON cannot do without is escaped. All
// output goes through here, so it looks at eight bytes at a time and copies them in the same step, which may write into
// dst's capacity beyond what is returned.
func AppendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for len(text) > 0 {
		n := min(len(text), blockOfBytes)
		dst = appendBlock(slices.Grow(dst, n*longestForm+wordBytes), text[:n])
		text = text[n:]
	}
	return append(dst, '"')
}

// appendBlock appends text to dst, which has room for it and for one word more.
func appendBlock(dst, text []byte) []byte {
	at := len(dst)
	dst = dst[:cap(dst)]
	for len(text) >= wordBytes {
		word := binary.LittleEndian.Uint64(text)
		binary.LittleEndian.PutUint64(dst[at:], word)
		found := special(word)
		if found == 0 {
			at += wordBytes
			text = text[wordBytes:]
			continue
		}
		n := bits.TrailingZeros64(found) / 8
		at += n
		at += copy(dst[at:], escapes[text[n]])
		text = text[n+1:]
	}
	for _, b := range text {
		if form := escapes[b]; form != "" {
			at += copy(dst[at:], form)
		} else {
			dst[at] = b
			at++
		}
	}
	return dst[:at]
}

// appendText appends any string. What is not UTF-8 in it becomes U+FFFD.
func appendText(dst []byte, s string) []byte {
	return AppendString(dst, []byte(strings.ToValidUTF8(s, "\uFFFD")))
}

// escapes has, for each byte that cannot stand in a JSON string (RFC 8259, section 7), what stands for it.
var escapes = func() (table [256]string) {
	for b := range byte(' ') {
		table[b] = fmt.Sprintf(`\u%04x`, b)
	}
	for b, short := range map[byte]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`} {
		table[b] = short
	}
	return table
}()

// special returns a word whose lowest bit that is set is in the first of eight bytes that must be escaped: a control
// character, a quotation mark or a backslash. Without one it is 0. Subtracting from a byte that is too small borrows from
// its high bit, which the byte itself must not have had; a borrow disturbs only the bytes above.
func special(word uint64) uint64 {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	quote := word ^ ones*'"'
	backslash := word ^ ones*'\\'
	return ((word-ones*' ')&^word | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs
}
