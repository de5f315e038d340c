package wire

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// AppendString appends text, which must be valid UTF-8, as a JSON string. Only what JSON cannot do without is escaped. All
// output goes through here, so it looks at eight bytes at a time.
func AppendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for {
		n := plain(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return append(dst, '"')
		}
		dst = append(dst, escapes[escaped(text[n])]...)
		text = text[n+1:]
	}
}
