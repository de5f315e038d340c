package sharing

import (
	"context"
	"time"

	"tandem/ptymgr"
)

// DefaultRemoteGrace is how long a remote terminal outlives its owner's connections when Config.RemoteGrace is zero.
const DefaultRemoteGrace = 30 * time.Second

// InvalidClaimError reports a claim that no terminal of the kind can have, whoever asks.
type InvalidClaimError struct{ Reason string }

func (e *InvalidClaimError) Error() string { return e.Reason }

// CreateRemote makes a terminal whose process runs at one of the maker's own clients: its owner, the one that claim names,
// or for nil the maker itself. The owner alone says what happens in it, with Output, Resize, Clear and Exited; everybody
// else watches by the terminal's mode, people too, and the claim never changes hands. When the owner has been away for
// Config.RemoteGrace, the terminal ends with ptymgr.LostCode and is removed. It returns an *InvalidClaimError for a
// session's claim, and the errors of ptymgr.Manager.CreateRemote.
func (m *Manager) CreateRemote(by By, spec ptymgr.RemoteSpec, claim *Claim) (*Terminal, error) {
	if claim != nil && claim.Session != nil {
		return nil, &InvalidClaimError{"a terminal that runs at a client takes that client's claim: a session has no process"}
	}
	first, err := m.firstHolder(by.Client, claim)
	if err != nil {
		return nil, err
	}
	feed, err := m.ptys.CreateRemote(spec)
	if err != nil {
		return nil, err
	}
	return m.open(by, &Terminal{pty: feed.Terminal(), feed: feed}, first), nil
}

// Remote reports whether the terminal's process runs at a client. It never changes, and takes no lock.
func (t *Terminal) Remote() bool { return t.feed != nil }

// Output appends what the process of a remote terminal printed. Only the owner may. It returns ptymgr.ErrExited after the
// end.
func (t *Terminal) Output(by By, p []byte) error {
	if err := t.mayReport(by.Client); err != nil {
		return err
	}
	_, err := t.feed.Write(p)
	return err
}

// Exited says how the process of a remote terminal ended, with nil for ptymgr.LostCode. Only the owner may. It returns
// ptymgr.ErrExited if it had ended before.
func (t *Terminal) Exited(by By, code *int) error {
	if err := t.mayReport(by.Client); err != nil {
		return err
	}
	exit := ptymgr.Exit{Code: ptymgr.LostCode}
	if code != nil {
		exit.Code = *code
	}
	return t.feed.End(exit)
}

// mayReport returns why the client may not say what happens in the terminal, or nil.
func (t *Terminal) mayReport(c *Client) error {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	return t.may(c, reporting)
}

// owns reports whether the remote terminal runs at this client. mu is held.
func (t *Terminal) owns(c *Client) bool {
	return t.Remote() && c.acts(t.holder) && (c.id == "" || c.id == t.holder.claim.Client)
}

// mayRemote is may for a remote terminal. What happens at its owner's goes on while programs are paused: refused, it would
// be missing from what people see.
func (s situation) mayRemote(a act) error {
	told := a == reporting || a == resizing || a == clearing
	if told && s.owns {
		s.paused = false
	}
	if err := s.admits(a); err != nil {
		return err
	}
	isPerson := s.who == person
	switch {
	case a == reading, told && s.owns:
		return nil
	case told, a == typing:
		return errElsewhere
	case a == claiming:
		return errStays
	case a == renaming && !isPerson && !s.owns:
		return errElsewhere
	case a == disposing && !isPerson && !s.made:
		return errNotMade
	case a == settingMode && !isPerson:
		return errPersonOnly
	}
	return nil
}

// livesElsewhere reports whether the terminal is a remote one that has not ended.
func (t *Terminal) livesElsewhere() bool { return t.Remote() && t.alive() }

// endOrphans ends the remote terminals whose owner has been away for too long, and returns them: they are to be removed
// without the lock. mu is held.
func (m *Manager) endOrphans() []*Terminal {
	var orphans []*Terminal
	for _, t := range m.terminals {
		if t.livesElsewhere() && m.awayFor(t.attendance(), m.cfg.RemoteGrace) {
			t.end()
			orphans = append(orphans, t)
		}
	}
	return orphans
}

// remove removes terminals that have ended.
func (m *Manager) remove(terminals []*Terminal) {
	for _, t := range terminals {
		_ = m.ptys.Dispose(context.Background(), t.ID()) // it has no processes, and may be gone already
	}
}

// end ends a remote terminal of which nobody says how it ended, unless it has ended.
func (t *Terminal) end() { _ = t.feed.End(ptymgr.Exit{Code: ptymgr.LostCode}) }
