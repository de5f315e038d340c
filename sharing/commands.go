package sharing

import "tandem/ptymgr"

// Commands returns the commands that the terminal's shell ran, oldest first, as far as the client may read them: their
// lines are output too.
func (t *Terminal) Commands(c *Client) ([]ptymgr.Command, error) {
	floor, err := t.readableFrom(c)
	if err != nil {
		return nil, err
	}
	all := t.pty.Commands()
	shown := all[:0]
	for _, command := range all {
		if command.Start >= floor {
			shown = append(shown, command)
		}
	}
	return shown, nil
}

// CommandOutput returns what a command has printed so far and was not cleared, as text for programs. It returns ErrNotFound for a command
// that is not among Commands, and ptymgr.ErrOvertaken if the log does not have all of it any more.
func (t *Terminal) CommandOutput(c *Client, id string) ([]byte, error) {
	floor, err := t.readableFrom(c)
	if err != nil {
		return nil, err
	}
	command, ok := t.pty.Command(id)
	if !ok || command.Start < floor {
		return nil, ErrNotFound
	}
	if command.End >= 0 {
		return t.pty.Text(nil, command.Start, command.End)
	}
	tail, head := t.pty.Bounds() // it may have been cleared up to the tail
	return t.pty.Text(nil, max(command.Start, tail), head)
}

// readableFrom returns the offset in the log from which on the client may read it.
func (t *Terminal) readableFrom(c *Client) (int64, error) {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if err := t.may(c, reading); err != nil {
		return 0, err
	}
	return t.access().Floor(c.identity), nil
}
