package login

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func waitOf(t *testing.T, err error) time.Duration {
	t.Helper()
	var tooMany *TooManyError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &tooMany) || tooMany.RetryAfter <= 0:
		t.Fatalf("unexpected: %v", err)
	}
	return tooMany.RetryAfter
}

func TestWaitingGrowsAndIsForgotten(t *testing.T) {
	clock := newClock()
	l := newLimiter(clock.Now)
	want := time.Second
	for i := range 100 {
		wait := waitOf(t, l.allow("a"))
		clock.pass(wait)
		if err := l.allow("a"); err != nil {
			t.Fatalf("after the wait of failure %d: %v", i, err)
		}
		if i < sourcePenalty.free {
			if wait != 0 {
				t.Fatalf("failure %d costs %v", i, wait)
			}
		} else {
			if wait != want {
				t.Fatalf("failure %d costs %v, want %v", i, wait, want)
			}
			want = min(2*want, sourcePenalty.longest)
		}
		l.failed("a")
	}
	clock.pass(sourcePenalty.forget)
	l.failed("a")
	if err := l.allow("a"); err != nil {
		t.Errorf("nothing was forgotten: %v", err)
	}
}

func TestAllSourcesTogetherAreLimited(t *testing.T) {
	clock := newClock()
	l := newLimiter(clock.Now)
	for i := range globalPenalty.free {
		if err := l.allow("new"); err != nil {
			t.Fatalf("after %d: %v", i, err)
		}
		l.failed(fmt.Sprint("source ", i))
	}
	if wait := waitOf(t, l.allow("new")); wait != time.Second {
		t.Errorf("the wait is %v", wait)
	}
	for i := range 100 {
		l.failed(fmt.Sprint("other ", i))
	}
	if wait := waitOf(t, l.allow("new")); wait != globalPenalty.longest {
		t.Errorf("the wait is %v", wait)
	}
	l.succeeded("other 1")
	if l.allow("new") == nil {
		t.Error("one success forgave all")
	}
}

func TestLimiterIsBounded(t *testing.T) {
	clock := newClock()
	l := newLimiter(clock.Now)
	for i := range maxSources + 10 {
		clock.pass(time.Millisecond)
		l.failed(fmt.Sprint(i))
	}
	if len(l.sources) != maxSources {
		t.Errorf("%d sources are kept", len(l.sources))
	}
	if _, ok := l.sources["0"]; ok {
		t.Error("not the oldest was forgotten")
	}
	if _, ok := l.sources[fmt.Sprint(maxSources+9)]; !ok {
		t.Error("the newest was forgotten")
	}
}

func TestAddresses(t *testing.T) {
	for _, test := range []struct{ address, source, shown string }{
		{"192.0.2.1", "192.0.2.1", "192.0.2.1"},
		{"192.0.2.1:4242", "192.0.2.1", "192.0.2.1"},
		{"::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"},
		{"[2001:db8:1:2:3:4:5:6]:4242", "2001:db8:1:2::/64", "2001:db8:1:2:3:4:5:6"},
		{"2001:db8:1:2::9", "2001:db8:1:2::/64", "2001:db8:1:2::9"},
		{"fe80::1%eth0", "fe80::/64", "fe80::1"},
		{"", "unknown", ""},
		{"a name from a header", "unknown", ""},
	} {
		if got := sourceOf(test.address); got != test.source {
			t.Errorf("the source of %q is %q", test.address, got)
		}
		if got := addressOf(test.address); got != test.shown {
			t.Errorf("%q is shown as %q", test.address, got)
		}
	}
}
