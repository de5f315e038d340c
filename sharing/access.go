package sharing

// Access is who may see a terminal, and from where on. It is a value: whoever keeps what happened at a terminal keeps the
// Access of that time with it.
type Access struct {
	private bool
	floor   int64
}

// Sees reports whether clients of this identity may know of the terminal and read it.
func (a Access) Sees(i Identity) bool {
	return i.Kind == Person || i.Read && !a.private
}

// Floor returns the offset in the terminal's log before which clients of this identity are shown nothing.
func (a Access) Floor(i Identity) int64 {
	if i.Kind == Person {
		return 0
	}
	return a.floor
}

// access returns the terminal's Access now. mu is held.
func (t *Terminal) access() Access { return Access{t.mode == Private, t.floor} }
