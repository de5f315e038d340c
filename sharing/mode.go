package sharing

import "fmt"

// Mode is what the person lets programs do at a terminal.
type Mode uint8

// The modes, each of which allows more than the one before.
const (
	Private Mode = iota // for programs the terminal does not exist
	Watch               // programs see and read it
	Ask                 // and may claim it when the person, who is asked each time, consents
	Share               // and may claim it
)

var modeNames = [...]string{Private: "private", Watch: "watch", Ask: "ask", Share: "share"}

func (m Mode) String() string { return modeNames[m] }

// ParseMode returns the mode of this name.
func ParseMode(name string) (Mode, error) {
	for mode, known := range modeNames {
		if known == name {
			return Mode(mode), nil
		}
	}
	return 0, fmt.Errorf("%.32q is not a mode: the modes are private, watch, ask and share", name)
}

// SetMode sets what programs may do at the terminal; only the person may. When the terminal becomes private, it ends for
// programs, and comes back to the person if one of them holds it; a program at which it runs keeps it. When it ceases to be, programs are shown only what is
// printed from then on.
func (t *Terminal) SetMode(by By, mode Mode) error {
	c, m := by.Client, t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := t.may(c, settingMode); err != nil {
		return err
	}
	was := t.access()
	if t.mode == Private && mode != Private {
		t.floor = t.pty.Printed()
	}
	t.mode, t.modeSet = mode, true
	t.forgetAnswers()
	if mode == Private {
		t.endForPrograms()
	}
	if t.access() != was {
		m.observer.AccessChanged(t, t.access())
	}
	if mode == Private && t.holder.identity.Kind == Program && !t.Remote() {
		t.give(c.holder())
		t.announce(By{})
		return nil
	}
	m.changed()
	return nil
}

// modeFor returns the mode as it applies to a client, trusted if its program need not ask. Until the person decides
// otherwise, the programs of one token share what they make. mu is held.
func (t *Terminal) modeFor(c *Client, trusted bool) Mode {
	key := c.identity.Key()
	switch {
	case t.Remote() && c.acts(t.holder):
		return Share // it runs there: there is nothing to hide
	case !t.modeSet && t.maker.identity.Kind == Program && t.maker.identity.Key() == key:
		return Share
	case t.mode == Ask && (trusted || t.allowed[key]):
		return Share
	default:
		return t.mode
	}
}
