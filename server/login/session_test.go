package login

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

func TestLoginSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	before := c.begin(s, "192.0.2.1:4242")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after := c.find(open(t, dir, Options{}))
	if after == nil {
		t.Fatal("the login is gone")
	}
	if after.ID != before.ID || after.Device != "Firefox on Linux" || after.Address != "192.0.2.1" ||
		!after.Created.Equal(before.Created) || !after.LastSeen.Equal(before.LastSeen) {
		t.Errorf("the login was %+v and is %+v", before, after)
	}
	if ended(after) {
		t.Error("its Done is closed")
	}
}

func TestEndIsFinal(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mine, other := &client{t: t}, &client{t: t}
	a, b := mine.begin(s, ""), other.begin(s, "")
	found := mine.find(s)
	if err := s.End(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	if !ended(a) || !ended(found) {
		t.Error("Done is open after the end")
	}
	if ended(b) {
		t.Error("another login ended with it")
	}
	if err := s.End(t.Context(), a.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("the second End: %v", err)
	}
	if mine.find(s) != nil {
		t.Error("the cookie still works")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Options{})
	if mine.find(s) != nil {
		t.Error("the cookie works again after a restart")
	}
	if other.find(s) == nil {
		t.Error("the other login is gone after a restart")
	}
}

func TestLogout(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	c := &client{t: t}
	l := c.begin(s, "")
	old := *c
	c.logout(s)
	if c.cookie != nil {
		t.Error("the cookie stayed")
	}
	if !ended(l) || old.find(s) != nil {
		t.Error("the login goes on")
	}
	old.logout(s) // again, as a second tab does
	if old.cookie != nil {
		t.Error("the second logout left the cookie")
	}
}

func TestBeginRefusesAFixedCookie(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	const planted = "cGxhbnRlZCBieSBzb21lYm9keSBlbHNlIGVudGlyZWx5ISE"
	c := &client{t: t, cookie: &http.Cookie{Name: "tandem", Value: planted}}
	c.begin(s, "")
	if c.cookie.Value == planted {
		t.Error("the planted cookie was kept")
	}
	if (&client{t: t, cookie: &http.Cookie{Name: "tandem", Value: planted}}).find(s) != nil {
		t.Error("the planted cookie is logged in")
	}
}

func TestBeginAgainKeepsTheLoginAndItsSockets(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	c := &client{t: t}
	first := c.begin(s, "")
	old := *c
	second := c.begin(s, "")
	if first.ID != second.ID || ended(first) {
		t.Error("the login ended")
	}
	if old.find(s) != nil {
		t.Error("the old cookie still works")
	}
	if list, _ := s.List(t.Context()); len(list) != 1 {
		t.Errorf("there are %d logins", len(list))
	}
	if err := s.End(t.Context(), first.ID); err != nil || !ended(first) || !ended(second) || c.find(s) != nil {
		t.Errorf("End: %v, and something goes on", err)
	}
}

func TestTamperedCookie(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	c := &client{t: t}
	c.begin(s, "")
	value := c.cookie.Value
	for _, bad := range []string{
		"", " ", value[1:], value + "A", value[:len(value)-1] + "~", "'; DROP TABLE sessions; --", "\x00\xff",
	} {
		if (&client{t: t, cookie: &http.Cookie{Name: "tandem", Value: bad}}).find(s) != nil {
			t.Errorf("%q is logged in", bad)
		}
	}
	for i := range value {
		bad := []byte(value)
		bad[i] ^= 1
		if (&client{t: t, cookie: &http.Cookie{Name: "tandem", Value: string(bad)}}).find(s) != nil {
			t.Errorf("changed at %d it is logged in", i)
		}
	}
	if c.find(s) == nil {
		t.Error("the true one is not")
	}
}

func TestListNewestUseFirst(t *testing.T) {
	clock := newClock()
	s := open(t, t.TempDir(), Options{Now: clock.Now})
	var clients []*client
	for range 3 {
		c := &client{t: t}
		c.begin(s, "")
		clients = append(clients, c)
		clock.pass(time.Hour)
	}
	current := clients[0].find(s) // now the newest
	var order []Login
	s.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		order, _ = s.List(r.Context())
	}), unavailable).ServeHTTP(httptest.NewRecorder(), clients[0].request())
	if len(order) != 3 || order[0].ID != current.ID || !order[0].LastSeen.Equal(clock.Now()) ||
		!order[1].Created.After(order[2].Created) {
		t.Errorf("the list is %+v", order)
	}
	if !order[0].Current || order[1].Current || order[2].Current {
		t.Error("not the first alone is current")
	}
}

func TestLastSeenIsStoredOnceAMinute(t *testing.T) {
	clock := newClock()
	dir := t.TempDir()
	s, err := Open(dir, Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	begun := c.begin(s, "")
	clock.pass(time.Minute - time.Second)
	if l := c.find(s); !l.LastSeen.Equal(begun.LastSeen) {
		t.Error("it was refreshed too early")
	}
	clock.pass(time.Second)
	if l := c.find(s); !l.LastSeen.Equal(clock.Now()) {
		t.Error("it was not refreshed")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if l := c.find(open(t, dir, Options{Now: clock.Now})); !l.LastSeen.Equal(clock.Now()) {
		t.Error("it was not stored")
	}
}

func TestLoginExpires(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.sessions.Lifetime = 300 * time.Millisecond
	c := &client{t: t}
	l := c.begin(s, "")
	select {
	case <-l.Done():
	case <-time.After(deadline):
		t.Fatal("Done stays open")
	}
	if c.find(s) != nil {
		t.Error("the cookie still works")
	}
	if list, _ := s.List(t.Context()); len(list) != 0 {
		t.Errorf("still listed: %+v", list)
	}
}

func TestRenewedLoginOutlivesItsFirstExpiry(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	s.sessions.Lifetime = 500 * time.Millisecond
	c, other := &client{t: t}, &client{t: t}
	l := c.begin(s, "")
	s.sessions.Lifetime = Lifetime
	c.begin(s, "")
	s.sessions.Lifetime = time.Second
	<-other.begin(s, "").Done() // later than the first expiry
	if ended(l) || c.find(s) == nil {
		t.Error("it ended at its first expiry")
	}
}

func TestLoginsAreBounded(t *testing.T) {
	clock := newClock()
	s := open(t, t.TempDir(), Options{Now: clock.Now})
	first := (&client{t: t}).begin(s, "")
	for range maxLogins {
		if ended(first) {
			t.Fatal("the oldest ended too early")
		}
		clock.pass(time.Second)
		(&client{t: t}).begin(s, "")
	}
	if list, _ := s.List(t.Context()); len(list) != maxLogins || !ended(first) {
		t.Errorf("there are %d logins, and the oldest has ended: %v", len(list), ended(first))
	}
	if stored, err := s.storedLogins(t.Context()); len(stored) != maxLogins || err != nil {
		t.Errorf("%d are stored, %v", len(stored), err)
	}
	clock.pass(-24 * time.Hour)
	if ended((&client{t: t}).begin(s, "")) {
		t.Error("with the clock set back the newest ended")
	}
}

// A request that is being looked up while its login ends must not bring it back, in memory or on disk.
func TestEndAgainstRequests(t *testing.T) {
	clock := newClock()
	dir := t.TempDir()
	s, err := Open(dir, Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	var clients []*client
	for range 20 {
		c := &client{t: t}
		l := c.begin(s, "")
		clients = append(clients, c)
		clock.pass(time.Hour) // so that every request wants to store
		var both sync.WaitGroup
		for range 4 {
			both.Go(func() {
				if found := c.find(s); found != nil {
					<-found.Done()
				}
			})
		}
		both.Go(func() {
			if err := s.End(t.Context(), l.ID); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		if c.find(s) != nil {
			t.Fatal("a login is back")
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Options{})
	for _, c := range clients {
		if c.find(s) != nil {
			t.Fatal("a login is back after a restart")
		}
	}
}

// The worst moment of the above: the request has found the login, and comes to store it after the end.
func TestSeenOfAnEndedLoginIsNotStored(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	c := &client{t: t}
	l := c.begin(s, "")
	if err := s.End(t.Context(), l.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.storeSeen(c.cookie.Value); err != nil {
		t.Error(err)
	}
	if stored, err := s.storedLogins(t.Context()); len(stored) != 0 || err != nil {
		t.Errorf("%d logins are stored, %v", len(stored), err)
	}
}

func TestBeginAgainstBegin(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	c := &client{t: t}
	c.begin(s, "")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { again := *c; again.begin(s, "") })
	}
	all.Wait()
	if c.find(s) != nil {
		t.Error("the first cookie works though it was exchanged")
	}
	stored, err := s.storedLogins(t.Context())
	ids := make(map[string]bool)
	for _, l := range stored {
		ids[l.ID] = true
	}
	if err != nil || len(ids) != len(stored) {
		t.Errorf("%d sessions for %d logins, %v", len(stored), len(ids), err)
	}
}

// A WebSocket needs the connection itself.
func TestMiddlewareLetsConnectionsBeTakenOver(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	c := &client{t: t}
	c.begin(s, "")
	server := httptest.NewServer(s.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		l, ok := From(r.Context())
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%.1s", fmt.Sprint(ok && !ended(l)))
	}), unavailable))
	defer server.Close()
	r, err := http.NewRequest("GET", server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(c.cookie)
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if b, err := bufio.NewReader(response.Body).ReadByte(); b != 't' || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
}
