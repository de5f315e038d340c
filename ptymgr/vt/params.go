package vt

import "math"

// maxParams is how many parameters, and sub-parameters in all, xterm.js keeps of a sequence.
const maxParams = 32

// params are the numeric parameters of a control sequence, and their sub-parameters, which follow colons.
type params struct {
	n      int
	values [maxParams]int32 // empty ones are 0
	subs   [maxParams]int32 // of all parameters, in order; empty ones are -1
	ends   [maxParams]uint8 // where the sub-parameters of each parameter end in subs
}

// parse reads the parameters from what is between the introducer and the final byte; other bytes in there are none of
// its business. ps is zero before.
func (ps *params) parse(body []byte) {
	ps.n = 1
	var subs uint8
	var full, subsFull, inSub bool
	for _, b := range body {
		switch {
		case b == ';':
			inSub = false
			if ps.n == maxParams {
				full = true
				continue
			}
			ps.ends[ps.n] = subs
			ps.n++
		case b == ':':
			inSub = true
			if full || subs == maxParams {
				subsFull = true
				continue
			}
			ps.subs[subs] = -1
			subs++
			ps.ends[ps.n-1] = subs
		case b < '0' || b > '9' || full || inSub && subsFull:
		case !inSub:
			addDigit(&ps.values[ps.n-1], b)
		case subs > 0:
			addDigit(&ps.subs[subs-1], b)
		}
	}
}

func addDigit(value *int32, digit byte) {
	*value = int32(min(int64(max(*value, 0))*10+int64(digit-'0'), math.MaxInt32))
}

// sub returns the sub-parameters of parameter i.
func (ps *params) sub(i int) []int32 {
	from := uint8(0)
	if i > 0 {
		from = ps.ends[i-1]
	}
	return ps.subs[from:ps.ends[i]]
}
