//go:build !linux

package ahp

// boundUnsent does nothing where it is not known how.
func boundUnsent(int) {}
