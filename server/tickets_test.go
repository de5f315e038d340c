package server

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// clock is a time that tests move.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func someKeys(fill byte) (hash, block []byte) {
	return []byte(strings.Repeat(string(rune(fill)), keySize)), []byte(strings.Repeat(string(rune(fill+1)), keySize))
}

func newTestTickets(boot string, at *clock) *tickets {
	hash, block := someKeys('a')
	ts := newTickets(hash, block, boot)
	ts.now = at.Now
	return ts
}

func mustIssue(t *testing.T, ts *tickets) string {
	t.Helper()
	ticket, _, err := ts.issue("terminal", "login")
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func TestTicketIsForOneTerminalAndLoginAndWorksOnce(t *testing.T) {
	ts := newTestTickets("boot", &clock{time.Now()})
	ticket := mustIssue(t, ts)
	for _, try := range [][2]string{{"other", "login"}, {"terminal", "other"}, {"", "login"}, {"terminal", ""}, {"login", "terminal"}} {
		if err := ts.redeem(ticket, try[0], try[1]); !errors.Is(err, errTicket) {
			t.Errorf("for %q: %v", try, err)
		}
	}
	if err := ts.redeem(ticket, "terminal", "login"); err != nil {
		t.Fatalf("a good ticket, spared by the wrong tries: %v", err)
	}
	if err := ts.redeem(ticket, "terminal", "login"); !errors.Is(err, errTicket) {
		t.Fatalf("a second time: %v", err)
	}
}

func TestTicketExpires(t *testing.T) {
	at := &clock{time.Now()}
	ts := newTestTickets("boot", at)
	early, late := mustIssue(t, ts), mustIssue(t, ts)
	at.now = at.now.Add(ticketLife - time.Millisecond)
	if err := ts.redeem(early, "terminal", "login"); err != nil {
		t.Fatalf("just before the end: %v", err)
	}
	at.now = at.now.Add(time.Millisecond)
	for _, ticket := range []string{early, late} {
		if err := ts.redeem(ticket, "terminal", "login"); !errors.Is(err, errTicket) {
			t.Fatalf("after 60 s: %v", err)
		}
	}
}

func TestTicketOfAnotherStartOrKeyIsRefused(t *testing.T) {
	at := &clock{time.Now()}
	ticket := mustIssue(t, newTestTickets("boot", at))
	if err := newTestTickets("another", at).redeem(ticket, "terminal", "login"); !errors.Is(err, errTicket) {
		t.Errorf("after a restart: %v", err)
	}
	hash, block := someKeys('x')
	if err := newTickets(hash, block, "boot").redeem(ticket, "terminal", "login"); !errors.Is(err, errTicket) {
		t.Errorf("with other keys: %v", err)
	}
}

func TestTicketThatWasChangedIsRefused(t *testing.T) {
	ts := newTestTickets("boot", &clock{time.Now()})
	ticket := mustIssue(t, ts)
	// The last character of base64 before its padding may have bits that count for nothing.
	for i := range len(strings.TrimRight(ticket, "=")) - 1 {
		for _, c := range []byte{'A', 'z', '.'} {
			changed := []byte(ticket)
			if changed[i] == c {
				continue
			}
			changed[i] = c
			if err := ts.redeem(string(changed), "terminal", "login"); err == nil {
				t.Fatalf("with %q at %d: accepted", c, i)
			}
		}
	}
	for _, bad := range []string{"", "x", strings.Repeat("A", 10_000)} {
		if err := ts.redeem(bad, "terminal", "login"); !errors.Is(err, errTicket) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

func TestTicketWorksOnceUnderConcurrency(t *testing.T) {
	ts := newTestTickets("boot", &clock{time.Now()})
	ticket := mustIssue(t, ts)
	var good atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if ts.redeem(ticket, "terminal", "login") == nil {
				good.Add(1)
			}
		})
	}
	all.Wait()
	if good.Load() != 1 {
		t.Fatalf("accepted %d times", good.Load())
	}
}

func TestUsedTicketsAreForgottenOnceExpiredAndBounded(t *testing.T) {
	at := &clock{time.Now()}
	ts := newTestTickets("boot", at)
	for range 100 {
		if err := ts.redeem(mustIssue(t, ts), "terminal", "login"); err != nil {
			t.Fatal(err)
		}
	}
	at.now = at.now.Add(ticketLife)
	if err := ts.redeem(mustIssue(t, ts), "terminal", "login"); err != nil || len(ts.used) != 1 {
		t.Fatalf("%v; remembers %d, want 1", err, len(ts.used))
	}
	for i := range maxUsedTickets {
		ts.used[string(rune(i))] = at.now.Add(ticketLife)
	}
	if err := ts.redeem(mustIssue(t, ts), "terminal", "login"); err == nil || len(ts.used) > maxUsedTickets+1 {
		t.Fatalf("%v; remembers %d", err, len(ts.used))
	}
}

// A ticket from before a restart opens nothing, though the login and the keys last.
func TestTicketDoesNotOutliveTheServer(t *testing.T) {
	dir := t.TempDir()
	in := func(cfg *Config) { cfg.DataDir = dir }
	first := serve(t, in)
	c := first.person(t)
	id, _ := c.create(bareBash)
	ticket := c.ticket(id)
	first.stop()
	second := serve(t, func(cfg *Config) { in(cfg); cfg.Listen = first.cfg.Listen })
	c.server = second
	if a := c.do("GET", "api/session", nil); a.status != http.StatusOK {
		t.Fatalf("the login did not last: %v", a)
	}
	if conn, status := c.upgrade(url.Values{"session_id": {id}, "ticket": {ticket}}); conn != nil || status != http.StatusForbidden {
		t.Fatalf("status %d", status)
	}
	if a := c.do("POST", "api/terminals/"+id+"/tickets", nil); a.status != http.StatusNotFound {
		t.Fatalf("a ticket for a shell that ended with the server: %v", a)
	}
}
