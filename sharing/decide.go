package sharing

// party is what somebody is to a terminal: a column of the table.
type party uint8

const (
	person       party = iota
	holding            // a program whose client holds the terminal
	otherProgram       //
	sessionSide        // the program that acts for the session which holds the terminal
)

// holderKind is what holds a terminal.
type holderKind uint8

const (
	personHolds holderKind = iota
	programHolds
	sessionHolds
)

// act is something to be done at a terminal: a row of the table. Claims are decided by mayClaim.
type act uint8

const (
	reading act = iota
	typing
	resizing
	clearing
	renaming
	claiming
	disposing
	settingMode
	reporting // what happens in a terminal that runs at a client
)

// target is whom a claim is for, as seen by whoever makes it.
type target uint8

const (
	ownClient    target = iota // a client of the same identity
	ownSession                 // a session that does not hold the terminal
	sameSession                // the session that holds the terminal, for another tool call
	narrower                   // the session that holds the terminal, for no tool call any more
	personClient               // to a program: a client of the person
	otherClient                // to a program: a client of another program
)

// situation is everything that a decision depends on.
type situation struct {
	who    party
	paused bool // programs are
	reads  bool // what the token is for
	writes bool

	held holderKind
	mode Mode // as it applies to who
	made bool // by who
	free bool // what holds the terminal, a program's own, has gone for good

	remote bool // the terminal runs at a client
	owns   bool // which is who
}

// admits returns why somebody may do nothing of the kind here, whatever the table says.
func (s situation) admits(a act) error {
	switch {
	case s.who == person:
		return nil
	case s.paused:
		return errPaused
	case !s.reads:
		return errCannotRead
	case s.mode == Private:
		return ErrNotFound
	case !s.writes && a != reading:
		return errReadsOnly
	}
	return nil
}

// may returns nil or why not.
func (s situation) may(a act) error {
	if s.remote {
		return s.mayRemote(a)
	}
	if err := s.admits(a); err != nil || s.who == person && a != reporting {
		return err
	}
	switch a {
	case reporting:
		return errHere
	case reading:
		return nil
	case typing, resizing, clearing, renaming:
		return s.drives()
	case disposing:
		if err := s.drives(); err != nil {
			return err
		}
		if !s.made {
			return errNotMade
		}
		return nil
	default:
		return errPersonOnly
	}
}

// drives returns why a program does not drive the terminal.
func (s situation) drives() error {
	if s.who != otherProgram {
		return nil
	}
	switch s.held {
	case personHolds:
		return errPersonHolds
	case programHolds:
		return errProgramHolds
	default:
		return errSessionHolds
	}
}

// mayClaim returns nil, or why the terminal is not claimed so, which is errAsked if the person is to be asked.
func (s situation) mayClaim(to target) error {
	if err := s.admits(claiming); err != nil {
		return err
	}
	switch s.who {
	case person, holding:
		return nil
	case sessionSide:
		if to == ownSession || to == otherClient {
			return errHandBack
		}
		return nil
	}
	switch {
	case to != ownClient && to != ownSession:
		return errForOthers
	case s.held != personHolds && !s.free:
		return s.drives()
	}
	switch s.mode {
	case Share:
		return nil
	case Ask:
		return errAsked
	default:
		return errWatchOnly
	}
}

// guarded reports whether a claim has to wait while the person types or a password is asked for. One that gives
// something up never does.
func (s situation) guarded(to target) bool {
	return s.who != person && to != personClient && to != narrower
}

// takesBack reports whether typing takes the terminal back. At one that a session holds, people type along.
func (s situation) takesBack() bool { return s.who == person && s.held == programHolds }
