package ahp

import (
	"sort"
	"time"

	"tandem/ahp/wire"
)

const (
	// maxEvents is how many events of a terminal are kept for replays and for slow subscribers.
	maxEvents = 2048

	// maxLists is how many are kept on the channels whose every event is their whole state.
	maxLists = 64
)

// event is one numbered thing that happened on a channel. It is immutable.
type event struct {
	seq    int64
	action wire.Action // in the neutral form; nil for a cut
	origin *wire.Origin
	reject string // why the action was refused; such events are their sender's alone

	from, to int64     // a cut: this range of the terminal's log
	at       time.Time // when a cut's first byte came

	list []listed // the root list after the event; action is nil
}

// isCut reports whether the event is output.
func (e *event) isCut() bool { return e.action == nil && e.list == nil }

// journal holds a channel's events in the order of their numbers, the newest of them. It holds no output, only where
// in the log that is. Guarded by Host.mu.
type journal struct {
	max     int // events
	events  []event
	dropped int64 // the highest number that is no longer kept; at first that of the channel's creation
	base    event // which has that number
	urgent  int64 // the highest number of an event that is not output
}

func (j *journal) append(e event) {
	if len(j.events) >= j.max {
		j.drop(j.max / 4) // some at a time, so that the rest is seldom moved
	}
	j.events = append(j.events, e)
	if !e.isCut() {
		j.urgent = e.seq
	}
}

// drop forgets the oldest n events.
func (j *journal) drop(n int) {
	if n > 0 {
		j.base = j.events[n-1]
		j.dropped = j.base.seq
		j.events = append(j.events[:0], j.events[n:]...)
	}
}

// after returns the events with numbers above seq, and whether there were others that are no longer kept.
func (j *journal) after(seq int64) (events []event, complete bool) {
	i := sort.Search(len(j.events), func(i int) bool { return j.events[i].seq > seq })
	return j.events[i:], seq >= j.dropped
}

// upTo returns the last event with a number up to seq, which must not be below dropped. It is the zero event if nothing
// had happened by then.
func (j *journal) upTo(seq int64) event {
	later, _ := j.after(seq)
	if i := len(j.events) - len(later) - 1; i >= 0 {
		return j.events[i]
	}
	return j.base
}
