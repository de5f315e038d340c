package share

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"tandem/ahp/wire"
	"tandem/ptymgr/vt"
)

const (
	// parcelBytes is how much output is put into one action at most, in bytes.
	parcelBytes = 16 << 10

	// maxFlight is how much may be on its way to the host without being confirmed, in bytes.
	maxFlight = 256 << 10

	// maxWaiting is how much output is kept until the host has confirmed it, in bytes. Beyond it the oldest is dropped.
	maxWaiting = 8 << 20

	// crowded is how much output may wait before more of it should come slower, in bytes.
	crowded = maxWaiting / 2

	// maxRestart is how much output a new terminal is given of what the one before had, in bytes.
	maxRestart = 256 << 10
)

// parcel is an action for the host.
type parcel struct {
	seq    int64 // the client's number for it; 0 until it is first sent
	text   []byte
	lost   int         // bytes that were dropped, which text is missing for
	action wire.Action // nil for output
}

// toAction returns what is sent. Of dropped output that is a note, after CAN, which ends a sequence that was cut.
func (p *parcel) toAction() wire.Action {
	switch {
	case p.action != nil:
		return p.action
	case p.lost > 0:
		return wire.TerminalOutput{Data: fmt.Sprintf("\x18\x1b[m\r\n[tandem: %s of output are missing here]\r\n", bytesText(p.lost))}
	default:
		return wire.TerminalOutput{Data: string(p.text)}
	}
}

// outbox keeps what the host is to be told until it has confirmed it, in order, and the newest of what it has confirmed,
// for a host that has lost it. Its methods are safe for concurrent use.
//
// A parcel keeps its number, however often it is sent: the host carries out each number once.
type outbox struct {
	wake chan struct{} // one slot: there may be something to send

	mu      sync.Mutex // guards what follows
	parcels []parcel   // not confirmed, oldest first
	next    int        // index of the first that was not sent on this connection
	flight  int        // bytes of parcels[:next]
	waiting int        // bytes of parcels[next:]
	last    int64      // the last number given
	lost    int64      // bytes that were dropped for good
	rows    int
	closed  bool
	empty   chan struct{} // closed when all is confirmed; nil if nobody waits

	kept []byte     // confirmed output, without its beginning
	base int64      // offset of kept[0] in the output that the terminal was given
	past vt.Scanner // the state at base
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// write adds output, which is valid UTF-8, and keeps a copy. It reports whether more than enough waits.
func (o *outbox) write(text []byte) (isCrowded bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(text) == 0 {
		return false
	}
	o.append(text)
	for o.flight+o.waiting > maxWaiting && o.drop() {
	}
	poke(o.wake)
	return o.flight+o.waiting > crowded
}

// append adds output in parcels, which end between characters. mu is held.
func (o *outbox) append(text []byte) {
	o.waiting += len(text)
	for len(text) > 0 {
		last := len(o.parcels) - 1
		if last < o.next || o.parcels[last].seq != 0 || o.parcels[last].action != nil || o.parcels[last].lost > 0 ||
			len(o.parcels[last].text) >= parcelBytes-4 {
			o.parcels = append(o.parcels, parcel{})
			last++
		}
		p := &o.parcels[last]
		n := cut(text, parcelBytes-len(p.text))
		p.text = append(p.text, text[:n]...)
		text = text[n:]
	}
}

// cut returns the length of the longest beginning of text of at most most bytes, 4 or more, that splits no character.
func cut(text []byte, most int) int {
	if len(text) <= most {
		return len(text)
	}
	return most - incomplete(text[:most])
}

// drop drops the oldest output that is not on its way, and reports whether there was any. mu is held.
func (o *outbox) drop() bool {
	i := o.next
	for ; i < len(o.parcels); i++ {
		if p := &o.parcels[i]; p.action == nil && p.lost == 0 {
			break
		}
	}
	if i == len(o.parcels) {
		return false
	}
	// What takes its place has its number: if the host did get the parcel, it takes the note for it.
	p := &o.parcels[i]
	o.waiting -= len(p.text)
	o.lost += int64(len(p.text))
	p.lost, p.text = len(p.text), nil
	if i > o.next && o.parcels[i-1].lost > 0 {
		p.lost += o.parcels[i-1].lost
		o.parcels = slices.Delete(o.parcels, i-1, i)
	}
	return true
}

// act adds an action. Of sizes that were not sent yet only the newest counts.
func (o *outbox) act(a wire.Action) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if size, ok := a.(wire.TerminalResized); ok {
		o.rows = size.Rows
		if last := len(o.parcels) - 1; last >= o.next && o.parcels[last].seq == 0 {
			if _, ok := o.parcels[last].action.(wire.TerminalResized); ok {
				o.parcels[last].action = a
				return
			}
		}
	}
	o.parcels = append(o.parcels, parcel{action: a})
	poke(o.wake)
}

// take returns the next action to send and its number. It reports false if there is none, or too much is on its way.
func (o *outbox) take() (seq int64, a wire.Action, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next == len(o.parcels) || o.flight > maxFlight {
		return 0, nil, false
	}
	p := &o.parcels[o.next]
	o.next++
	o.flight += len(p.text)
	o.waiting -= len(p.text)
	if p.seq == 0 {
		o.last++
		p.seq = o.last
	}
	return p.seq, p.toAction(), true
}

// confirm forgets what was sent up to a number: the host has it.
func (o *outbox) confirm(seq int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for ; n < o.next && o.parcels[n].seq <= seq; n++ {
		p := &o.parcels[n]
		o.flight -= len(p.text)
		if p.action == nil {
			o.keep(p.toAction().(wire.TerminalOutput).Data)
		}
	}
	o.parcels = slices.Delete(o.parcels, 0, n)
	o.next -= n
	o.settle()
	poke(o.wake)
}

// keep adds to the newest output that the host has. mu is held.
func (o *outbox) keep(text string) {
	o.kept = append(o.kept, text...)
	if len(o.kept) > 2*maxRestart {
		n := o.past.Scan(o.kept[:len(o.kept)-maxRestart], o.base, nil)
		o.kept = append(o.kept[:0], o.kept[n:]...)
		o.base += int64(n)
	}
}

// rewind has everything sent again that was not confirmed: the connection is another, the terminal is not.
func (o *outbox) rewind() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting += o.flight
	o.next, o.flight = 0, 0
	poke(o.wake)
}

// restart prepares for a new terminal, which is made with its present size: it is given the newest output of the one
// before, what brings it into the state that it had there, and everything that was not confirmed.
func (o *outbox) restart() {
	o.mu.Lock()
	defer o.mu.Unlock()
	unconfirmed := o.parcels
	budget := maxRestart - o.flight - o.waiting
	state, from := o.past.SaneBoundary(o.kept, o.base, o.base+int64(max(len(o.kept)-max(budget, 0), 0)))
	var again []byte
	if from > 0 {
		again = state.Preamble(o.rows)
	}
	again = append(again, o.kept[from-o.base:]...)
	o.parcels, o.next, o.flight, o.waiting = nil, 0, 0, 0
	o.kept, o.base, o.past = nil, 0, vt.Scanner{}
	o.append(again)
	for _, p := range unconfirmed {
		if _, ok := p.action.(wire.TerminalResized); ok {
			continue
		}
		p.seq = 0
		o.waiting += len(p.text)
		o.parcels = append(o.parcels, p)
	}
	poke(o.wake)
}

// close drops everything, now and later: nobody is to be told any more.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.parcels, o.next, o.flight, o.waiting, o.kept = nil, 0, 0, 0, nil
	o.settle()
}

// unconfirmed returns how many actions the host has not confirmed, and how many bytes of output are among them.
func (o *outbox) unconfirmed() (actions, bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.parcels), o.flight + o.waiting
}

// drained blocks until everything is confirmed or dropped, or ctx ends.
func (o *outbox) drained(ctx context.Context) {
	o.mu.Lock()
	empty := make(chan struct{})
	o.empty = empty
	o.settle()
	o.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}

// settle ends drained when there is nothing left. mu is held.
func (o *outbox) settle() {
	if o.empty != nil && len(o.parcels) == 0 {
		close(o.empty)
		o.empty = nil
	}
}

// dropped returns how many bytes of output were dropped.
func (o *outbox) dropped() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// bytesText is a number of bytes as people read it.
func bytesText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// poke fills a slot.
func poke(slot chan<- struct{}) {
	select {
	case slot <- struct{}{}:
	default:
	}
}
