package ptymgr

import "sync"

const (
	// maxInput is how much may wait for the pty, in bytes.
	maxInput = 8 << 20

	// maxAnswers is how much may wait for the pty when the server itself answers a query, in bytes. Output can ask
	// without end; what is typed must still find room.
	maxAnswers = 4 << 10
)

// keepInput is the largest buffer that is kept for the next input, in bytes.
const keepInput = 64 << 10

// inputQueue holds what was typed until the pty takes it, whole messages in order. Those who type never wait for the
// process to read: push never blocks.
type inputQueue struct {
	mu      sync.Mutex    // guards what follows
	pending []byte        // queued, not yet taken by the writer
	writing int           // bytes that the writer has taken and not yet written
	closed  error         // why nothing is taken; nil while it is
	ready   chan struct{} // one slot; wakes the writer
}

func newInputQueue() inputQueue { return inputQueue{ready: make(chan struct{}, 1)} }

// closedInput returns a queue that was closed for this reason from the start.
func closedInput(reason error) inputQueue { return inputQueue{closed: reason} }

// push queues a copy of p, whole or not at all, unless more than most bytes would wait then.
func (q *inputQueue) push(p []byte, most int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed != nil {
		return q.closed
	}
	if len(q.pending)+q.writing+len(p) > most {
		return ErrInputFull
	}
	q.pending = append(q.pending, p...)
	signal(q.ready)
	return nil
}

// close refuses further input for this reason, drops what is queued, and ends drain.
func (q *inputQueue) close(reason error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = reason
	q.pending = nil
	signal(q.ready)
}

// swap returns what is queued and takes buf for what comes next. It blocks until there is something, and returns nil
// once the queue is closed.
func (q *inputQueue) swap(buf []byte) []byte {
	if cap(buf) > keepInput {
		buf = nil
	}
	for {
		q.mu.Lock()
		q.writing = 0
		if q.closed != nil {
			q.mu.Unlock()
			return nil
		}
		if len(q.pending) > 0 {
			full := q.pending
			q.pending = buf[:0]
			q.writing = len(full)
			q.mu.Unlock()
			return full
		}
		q.mu.Unlock()
		<-q.ready
	}
}
