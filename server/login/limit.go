package login

import (
	"fmt"
	"sync"
	"time"
)

// TooManyError says that too many attempts failed. The attempt it answers was not looked at.
type TooManyError struct {
	RetryAfter time.Duration // how long to wait, always positive
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("too many failed attempts to log in: wait %v", e.RetryAfter.Round(time.Second))
}

// penalty is how failures turn into waiting: free failures cost nothing, the next 1 s, each further one twice as long
// up to longest. They are forgotten once forget has passed without another.
type penalty struct {
	free    int
	longest time.Duration
	forget  time.Duration
}

// One source is slowed soon and for long. All sources together are slowed late and for moments only, since that also
// meets people who did nothing wrong; it is what stops guessing from a great many addresses.
var (
	sourcePenalty = penalty{free: 5, longest: 15 * time.Minute, forget: time.Hour}
	globalPenalty = penalty{free: 50, longest: 20 * time.Second, forget: 15 * time.Minute}
)

// maxSources bounds the memory of a limiter; beyond it the source that failed longest ago is forgotten.
const maxSources = 4096

// limiter counts the failures of each source and of all together. The zero value without now is not usable.
type limiter struct {
	now func() time.Time

	mu      sync.Mutex // guards what follows
	sources map[string]failures
	all     failures
}

// failures are the failed attempts that are not forgotten yet.
type failures struct {
	count int
	last  time.Time
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, sources: make(map[string]failures)}
}

// allow returns nil if source may try now, else a *TooManyError.
func (l *limiter) allow(source string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	wait := max(l.sources[source].wait(sourcePenalty, now), l.all.wait(globalPenalty, now))
	if wait > 0 {
		return &TooManyError{RetryAfter: wait}
	}
	return nil
}

// failed counts a failed attempt of source.
func (l *limiter) failed(source string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.all = l.all.add(globalPenalty, now)
	known, ok := l.sources[source]
	if !ok && len(l.sources) >= maxSources {
		l.forgetOldest()
	}
	l.sources[source] = known.add(sourcePenalty, now)
}

// succeeded forgets the failures of source. Those of all sources stay: one person's success says nothing about the
// others.
func (l *limiter) succeeded(source string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sources, source)
}

// forgetOldest makes room for one source. l.mu is held.
func (l *limiter) forgetOldest() {
	var oldest string
	var at time.Time
	for source, f := range l.sources {
		if at.IsZero() || f.last.Before(at) {
			oldest, at = source, f.last
		}
	}
	delete(l.sources, oldest)
}

func (f failures) add(p penalty, now time.Time) failures {
	if now.Sub(f.last) >= p.forget {
		f.count = 0
	}
	return failures{count: f.count + 1, last: now}
}

func (f failures) wait(p penalty, now time.Time) time.Duration {
	beyond := f.count - p.free
	if beyond < 0 {
		return 0
	}
	wait := p.longest
	if beyond < 20 { // a shift by more would overflow
		wait = min(wait, time.Second<<beyond)
	}
	return f.last.Add(wait).Sub(now)
}
