package wire

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
)

// AppendString appends text, which must be valid UTF-8, as a JSON string. Only what JSON cannot do without is escaped.
func AppendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for {
		n := plain(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return append(dst, '"')
		}
		dst = append(dst, escapes[text[n]]...)
		text = text[n+1:]
	}
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

// plain returns how many bytes come before the first that must be escaped. All output goes through here, so it looks at
// eight bytes at a time.
func plain(text []byte) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		if found := special(binary.LittleEndian.Uint64(text[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(text); i++ {
		if escapes[text[i]] != "" {
			return i
		}
	}
	return i
}

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
