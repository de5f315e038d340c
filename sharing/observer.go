package sharing

// Observer is told of every change, in the order in which they were decided. Its methods are called one at a time, with
// the Manager's lock held: they must not block, and may call nothing of the Manager's or its Terminals' but Terminal.ID
// and Terminal.Pty.
type Observer interface {
	// Created tells of a terminal, before the caller of Manager.Create has it.
	Created(t *Terminal, claim Claim, a Access, by By)
	// Claimed tells who holds the terminal now. It is called for every claim that is accepted, of one that changes
	// nothing too. by is zero for what the host does by itself: consent, take-back, the end of a grace.
	Claimed(t *Terminal, claim Claim, by By)
	// AccessChanged tells who may see the terminal from now on.
	AccessChanged(t *Terminal, a Access)
	// Removing tells that the terminal is about to be removed, for whatever reason. One that runs at a client has ended by
	// then, so that its exit can still be told.
	Removing(t *Terminal)
	// Removed tells that the terminal is gone. Nothing more is told of it.
	Removed(t *Terminal)
	// SharingChanged gives the state after anything that changed it.
	SharingChanged(o Overview)
	// PausedChanged tells whether programs are paused.
	PausedChanged(paused bool)
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Created(*Terminal, Claim, Access, By) {}
func (nobody) Claimed(*Terminal, Claim, By)         {}
func (nobody) AccessChanged(*Terminal, Access)      {}
func (nobody) Removing(*Terminal)                   {}
func (nobody) Removed(*Terminal)                    {}
func (nobody) SharingChanged(Overview)              {}
func (nobody) PausedChanged(bool)                   {}

// Observe makes o the one that is told of changes. It must be called before there are terminals.
func (m *Manager) Observe(o Observer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observer = o
}

// changed tells the observer of the state. mu is held.
func (m *Manager) changed() { m.observer.SharingChanged(m.overview()) }
