package sharing

// Access is who may see a terminal, and from where on. It is a value: whoever keeps what happened at a terminal keeps the
// Access of that time with it.
type Access struct {
	private bool
	floor   int64
	owner   string // key of the program at which the terminal runs, from which nothing of it is hidden; "" for none
}

// Sees reports whether clients of this identity may know of the terminal and read it.
func (a Access) Sees(i Identity) bool {
	return i.Kind == Person || i.Read && (!a.private || a.runsAt(i))
}

// Floor returns the offset in the terminal's log before which clients of this identity are shown nothing.
func (a Access) Floor(i Identity) int64 {
	if i.Kind == Person || a.runsAt(i) {
		return 0
	}
	return a.floor
}

func (a Access) runsAt(i Identity) bool { return a.owner != "" && a.owner == i.Key() }

// access returns the terminal's Access now. mu is held.
func (t *Terminal) access() Access {
	a := Access{private: t.mode == Private, floor: t.floor}
	if t.Remote() {
		a.owner = t.holder.identity.Key()
	}
	return a
}
