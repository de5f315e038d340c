package sharing

import (
	"crypto/rand"
	"fmt"
	"slices"
	"time"
)

const (
	// maxRequests is how many requests wait for the person at a time.
	maxRequests = 32

	// noLasts is how long a program that was told no is not asked for again.
	noLasts = time.Minute
)

// Answer is what the person says to a program that asks for a terminal.
type Answer uint8

// The answers.
const (
	No     Answer = iota // and do not ask for a minute
	Once                 // claim it now
	Tab                  // and from now on without asking, until the terminal's mode is set
	Always               // and all others in mode ask as well
)

var answerNames = [...]string{No: "no", Once: "once", Tab: "tab", Always: "always"}

func (a Answer) String() string { return answerNames[a] }

// ParseAnswer returns the answer of this name.
func ParseAnswer(name string) (Answer, error) {
	for answer, known := range answerNames {
		if known == name {
			return Answer(answer), nil
		}
	}
	return 0, fmt.Errorf("%.32q is not an answer: the answers are once, tab, always and no", name)
}

// request is a program's claim that waits for the person. Guarded by Manager.mu.
type request struct {
	id       string
	terminal *Terminal
	asker    string // the client's name
	next     holder
	created  time.Time
}

// ask puts a claim before the person and returns what the program is told. There is one request per program and terminal
// at most. mu is held.
func (t *Terminal) ask(c *Client, next holder) error {
	m, key := t.m, c.identity.Key()
	if m.cfg.now().Before(t.refused[key]) {
		return errSaidNo
	}
	if t.typingNow() {
		return errTyping
	}
	for _, r := range m.requests {
		if r.terminal != t || r.next.identity.Key() != key {
			continue
		}
		if earlier := m.clients.all[r.asker]; r.asker == c.name || earlier == nil || earlier.joined == 0 {
			r.asker, r.next = c.name, next
			m.changed()
		}
		return errAsked
	}
	if len(m.requests) >= maxRequests {
		return errCrowded
	}
	m.requests = append(m.requests, &request{rand.Text(), t, c.name, next, m.cfg.now()})
	m.changed()
	return errAsked
}

// Answer answers a program's request; only the person may. It returns ErrNotFound for one that is gone, and a *Refusal,
// with the request kept, while the terminal asks for a password. Always calls Config.Trust, which may block.
func (m *Manager) Answer(by By, id string, answer Answer) error {
	if !by.Client.isPerson() {
		return errPersonOnly
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.answerable(id, answer)
	if err != nil {
		return err
	}
	program := r.next.identity
	if answer == Always && m.cfg.Trust != nil {
		m.mu.Unlock()
		err := m.cfg.Trust(program.ID)
		m.mu.Lock()
		if err != nil {
			return fmt.Errorf("trusting %s: %w", program.Name, err)
		}
		if r, err = m.answerable(id, answer); err != nil {
			return err
		}
	}
	t := r.terminal
	m.cfg.Logger.Info("answered a program that asks for a terminal", "terminal", t.ID(), "program", program.Name, "answer", answer.String())
	switch answer {
	case No:
		t.refused[program.Key()] = m.cfg.now().Add(noLasts)
		m.withdraw(func(other *request) bool { return other == r })
		m.changed()
		return nil
	case Tab:
		t.allowed[program.Key()] = true
	}
	t.give(r.next)
	t.announce(By{})
	return nil
}

// answerable returns the request with this id, unless the answer has to wait. mu is held.
func (m *Manager) answerable(id string, answer Answer) (*request, error) {
	i := slices.IndexFunc(m.requests, func(r *request) bool { return r.id == id })
	if i < 0 {
		return nil, ErrNotFound
	}
	if r := m.requests[i]; answer == No || !r.terminal.pty.AsksPassword() {
		return r, nil
	}
	return nil, errPassword
}

// withdraw drops requests. mu is held; the caller must tell of the change.
func (m *Manager) withdraw(which func(*request) bool) {
	m.requests = slices.DeleteFunc(m.requests, which)
}

// forgetAnswers forgets what the person told programs that asked for the terminal, and those that ask now. mu is held.
func (t *Terminal) forgetAnswers() {
	clear(t.allowed)
	clear(t.refused)
	t.m.withdraw(func(r *request) bool { return r.terminal == t })
}
