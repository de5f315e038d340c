package vt

// maxCommon is the length up to which a sequence may count as a common one, in bytes.
const maxCommon = 64

// commonCSI takes in an escape sequence at the start of p if it is complete and of the kind that makes up most of real
// output: numbers and a final byte which selects graphics or only moves, draws or erases. It returns its length, else 0.
// For those it does what sequence does, several times faster.
func (v *vector) commonCSI(p []byte) int {
	if len(p) < 3 || p[0] != esc || p[1] != '[' {
		return 0
	}
	var values [16]int32
	n, value := 0, int32(0)
	for i, b := range p[2:min(len(p), maxCommon)] {
		if digit := b - '0'; digit <= 9 {
			if value = value*10 + int32(digit); value > 0xFFFF {
				return 0
			}
			continue
		}
		if n == len(values) {
			return 0
		}
		values[n] = value
		n++
		switch b {
		case ';':
			value = 0
		case 'm':
			if n == 1 {
				v.applyAttribute(value)
			} else {
				v.applyValues(values[:n])
			}
			return i + 3
		case '@', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'P', 'S', 'T', 'X', 'Z', 'd', 'f':
			return i + 3
		default:
			return 0
		}
	}
	return 0
}
