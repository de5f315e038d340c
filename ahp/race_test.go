//go:build race

package ahp

// raced says that the race detector is on, which makes what is computed byte by byte many times slower.
const raced = true
