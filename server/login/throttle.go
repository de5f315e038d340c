package login

import (
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"
)

// Failed logins allowed from one address and from all together: so many at once, and one more after each interval.
const (
	addressBurst    = 5
	addressInterval = 30 * time.Second
	globalBurst     = 50
	globalInterval  = 3 * time.Second
)

// maxAddresses bounds the memory of failures; further addresses share the global allowance alone.
const maxAddresses = 4096

// ThrottledError says that too many logins failed, and when the next may be tried.
type ThrottledError struct{ After time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("too many failed logins: try again in %d seconds", e.Seconds())
}

// Seconds returns After in whole seconds, at least 1, as Retry-After wants it (RFC 9110 section 10.2.3).
func (e *ThrottledError) Seconds() int { return max(1, int(math.Ceil(e.After.Seconds()))) }

// throttle limits failed logins, by source address and over all. It is safe for concurrent use.
type throttle struct {
	now func() time.Time

	mu        sync.Mutex // guards what follows
	global    allowance
	addresses map[string]*allowance
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{
		now:       now,
		global:    allowance{burst: globalBurst, interval: globalInterval},
		addresses: make(map[string]*allowance),
	}
}

// check returns a *ThrottledError while the address, or all together, have failed too often.
func (t *throttle) check(address string) error {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	wait := t.global.wait(now)
	if a := t.addresses[network(address)]; a != nil {
		wait = max(wait, a.wait(now))
	}
	if wait > 0 {
		return &ThrottledError{wait}
	}
	return nil
}

// failed counts a failure against the address.
func (t *throttle) failed(address string) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.global.take(now)
	key := network(address)
	a := t.addresses[key]
	if a == nil {
		if len(t.addresses) >= maxAddresses {
			t.prune(now)
		}
		if len(t.addresses) >= maxAddresses {
			return
		}
		a = &allowance{burst: addressBurst, interval: addressInterval}
		t.addresses[key] = a
	}
	a.take(now)
}

// prune forgets addresses whose failures no longer count.
func (t *throttle) prune(now time.Time) {
	for key, a := range t.addresses {
		if !a.whole.After(now) {
			delete(t.addresses, key)
		}
	}
}

// network returns what counts as one address: an IPv6 customer has a whole /64.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}

// allowance is a bucket of burst tokens that gets one back each interval, kept as the time when it is whole again
// (the generic cell rate algorithm).
type allowance struct {
	burst    int
	interval time.Duration
	whole    time.Time
}

// wait returns how long until there is a token.
func (a *allowance) wait(now time.Time) time.Duration {
	return max(0, a.whole.Sub(now)-time.Duration(a.burst-1)*a.interval)
}

// take takes a token, even one that is not there: failures that were under way together all count.
func (a *allowance) take(now time.Time) {
	if a.whole.Before(now) {
		a.whole = now
	}
	a.whole = a.whole.Add(a.interval)
}
