package login

import (
	"runtime/debug"
	"time"
)

// memoryRest is how long hashing must rest before its memory is returned: the next hash would only ask for it again.
const memoryRest = 100 * time.Millisecond

// memoryReturner gives the memory that hashing a password took, tens of MiB, back to the system soon afterwards, and
// outside the request. By itself the runtime would keep it for minutes.
type memoryReturner struct {
	hashed  chan struct{} // one slot
	closing chan struct{}
	ended   chan struct{}
}

func startMemoryReturner() *memoryReturner {
	m := &memoryReturner{make(chan struct{}, 1), make(chan struct{}), make(chan struct{})}
	go m.run()
	return m
}

// soon is to be called after a hash. It does not block.
func (m *memoryReturner) soon() {
	select {
	case m.hashed <- struct{}{}:
	default:
	}
}

// stop returns when the goroutine has ended.
func (m *memoryReturner) stop() {
	close(m.closing)
	<-m.ended
}

func (m *memoryReturner) run() {
	defer close(m.ended)
	var rested <-chan time.Time
	for {
		select {
		case <-m.hashed:
			rested = time.After(memoryRest)
		case <-rested:
			debug.FreeOSMemory()
		case <-m.closing:
			return
		}
	}
}
