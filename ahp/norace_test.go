//go:build !race

package ahp

const raced = false
