package sharing

import "errors"

// Refusal is an error whose reason whoever asked may know: a plain sentence that says what to do, if anything.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// ErrNotFound reports that there is no such thing, or that whoever asks may not know of it.
var ErrNotFound = errors.New("not found")

// PausedReason is the reason that programs are given for everything while they are paused.
const PausedReason = "programs are paused by the person"

// AskedReason is the reason of a claim that waits for the person's consent. If it is given, the terminal is claimed for
// whoever asked.
const AskedReason = "asked the person"

var (
	errPaused     = &Refusal{PausedReason}
	errAsked      = &Refusal{AskedReason}
	errCannotRead = &Refusal{"this token may not read terminals, which everything else takes: it lacks the scope terminals:read"}
	errReadsOnly  = &Refusal{"this token may only read terminals: it lacks the scope terminals:write"}
	errPersonOnly = &Refusal{"only the person decides that"}

	errPersonHolds  = &Refusal{"the person holds this terminal: claim it first"}
	errProgramHolds = &Refusal{"another program holds this terminal"}
	errSessionHolds = &Refusal{"a session holds this terminal"}
	errNotMade      = &Refusal{"only the person can dispose of a terminal that this program did not make"}
	errWatchOnly    = &Refusal{"the person lets programs only watch this terminal"}
	errForOthers    = &Refusal{"a program can claim a terminal only for its own clients and sessions"}
	errHandBack     = &Refusal{"a session can keep the terminal, or hand it back to the person or to its program's own clients"}

	errTyping   = &Refusal{"the person is typing: try again in a moment"}
	errPassword = &Refusal{"the terminal asks for a password: try again when it is done"}
	errSaidNo   = &Refusal{"the person said no: do not ask again for a minute"}
	errCrowded  = &Refusal{"too many programs wait for the person's answer: try again later"}
	errShown    = &Refusal{"a browser shows this terminal, and decides its size"}

	errNoClient    = &Refusal{"no such client is connected: a terminal can be given only to one that is"}
	errCannotDrive = &Refusal{"that client's token may only read terminals"}
	errElsewhere   = &Refusal{"this terminal runs at a client, where it is typed in, resized and cleared: others can only watch it"}
	errStays       = &Refusal{"this terminal runs at a client, and stays that client's"}
	errHere        = &Refusal{"this terminal runs on the server, which says itself what happens in it"}
	errPrivate     = &Refusal{"this terminal is private: let programs see it first"}
	errTooMany     = &Refusal{"too many connections: close some first"}
)
