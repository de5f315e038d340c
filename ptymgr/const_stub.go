package ptymgr

// DefaultLogBytes is how much output a terminal keeps when Config.LogBytes is zero.
const DefaultLogBytes = 4 << 20
