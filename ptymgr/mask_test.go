package ptymgr

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Masking any part of a segment gives that part of the masked segment.
func TestMasksApplyToAnyPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 400
		m := new(masks)
		want := bytes.Repeat([]byte{'x'}, n)
		for at := 0; at < n-10; {
			at += rapid.IntRange(0, 90).Draw(t, "gap")
			end := min(at+rapid.IntRange(1, 150).Draw(t, "length"), n)
			if at >= end {
				break
			}
			m.mark(at, end)
			want[at] = can
			clear(want[at+1 : end])
			at = end
		}
		from := rapid.IntRange(0, n-1).Draw(t, "from")
		to := rapid.IntRange(from+1, n).Draw(t, "to")
		got := bytes.Repeat([]byte{'x'}, to-from)
		if any := m.any(from, to); any != !bytes.Equal(got, want[from:to]) {
			t.Fatalf("any(%d, %d) = %v", from, to, any)
		}
		m.apply(got, from)
		if !bytes.Equal(got, want[from:to]) {
			t.Fatalf("apply to [%d, %d):\n got %q\nwant %q", from, to, got, want[from:to])
		}
	})
}
