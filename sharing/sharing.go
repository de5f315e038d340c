// Package sharing decides, for every door to the terminals, who may do what: the person, who owns them, and the programs
// that the person lets in. Doors reach terminals only through it.
package sharing
