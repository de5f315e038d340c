package sharing

import (
	"context"
	"sync/atomic"

	"tandem/ptymgr"
)

// Viewer is a ptymgr.Viewer by the rules of sharing: what a client reads, and may do, of one terminal. Next belongs to
// one goroutine; the other methods are safe for concurrent use.
type Viewer struct {
	t      *Terminal
	client *Client
	inner  *ptymgr.Viewer
	watch  *watch
	ended  atomic.Bool // the terminal does not exist for the client any more
}

// Attach adds a viewer that continues from offset since, or from the start of what it may be shown, as
// ptymgr.AttachOptions says. The client counts as watching meanwhile. The caller must Close it.
func (t *Terminal) Attach(c *Client, since int64) (*Viewer, error) {
	m := t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := t.may(c, reading); err != nil {
		return nil, err
	}
	program := !c.isPerson()
	v := &Viewer{t: t, client: c, watch: t.watch(c)}
	v.inner = t.pty.Attach(ptymgr.AttachOptions{
		Since: since, Floor: t.access().Floor(c.identity), Writable: t.writable(c), Program: program,
	})
	if program {
		t.viewers[v] = struct{}{}
	}
	m.changed()
	return v, nil
}

// writable reports whether a client's viewer is one that may type. mu is held.
func (t *Terminal) writable(c *Client) bool {
	s := t.situation(c)
	s.paused = false // which stops the viewer, and is not for long
	return s.may(typing) == nil
}

// Next is ptymgr.Viewer.Next. When the terminal becomes private, a program's viewer ends as if it was disposed of.
func (v *Viewer) Next(ctx context.Context) (ptymgr.Event, error) {
	ev, err := v.inner.Next(ctx)
	if err != nil && v.ended.Load() {
		err = ptymgr.ErrDisposed
	}
	return ev, err
}

// Input is Terminal.Input by this viewer.
func (v *Viewer) Input(p []byte) error {
	if v.t.typesFreely(v.client, p) {
		return v.inner.Input(p)
	}
	return v.t.drive(v.client, p, v.inner.Input)
}

// Answer passes on what the viewer's terminal emulator replies by itself to a query. It is no typing: it takes no claim
// back and holds up nobody.
func (v *Viewer) Answer(p []byte) error {
	if v.client.isPerson() && !v.t.Remote() {
		return v.inner.Answer(p)
	}
	m := v.t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := v.t.may(v.client, typing); err != nil {
		return err
	}
	return v.inner.Answer(p)
}

// Ack is ptymgr.Viewer.Ack.
func (v *Viewer) Ack(offset int64) error { return v.inner.Ack(offset) }

// Resize says what size the viewer has room for. A program's counts while it drives the terminal and no browser shows it,
// and nobody's does where the terminal runs at a client.
func (v *Viewer) Resize(size ptymgr.Size) error {
	m := v.t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := v.t.may(v.client, reading); err != nil {
		return err
	}
	return v.inner.Resize(size)
}

// SetVisible is ptymgr.Viewer.SetVisible.
func (v *Viewer) SetVisible(visible bool) { v.inner.SetVisible(visible) }

// Clear is Terminal.Clear by this viewer.
func (v *Viewer) Clear() error { return v.t.Clear(By{Client: v.client}) }

// Close detaches the viewer and ends a blocked Next. It may be called more than once.
func (v *Viewer) Close() {
	v.inner.Close()
	m := v.t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(v.t.viewers, v)
	v.t.unwatch(v.watch)
}

// end ends the viewer as a disposal would. mu is held.
func (v *Viewer) end() {
	v.ended.Store(true)
	v.inner.Close()
}
