// Package ptymgr runs shells in pseudo-terminals. Each terminal is one append-only log of output bytes with absolute
// offsets; every viewer is a cursor on that log. The package knows no HTTP and no JSON protocol.
package ptymgr
