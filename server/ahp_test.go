package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	ahpwire "tandem/ahp/wire"
	"tandem/server/login"
)

// statusOfAHP is how the server answers somebody who connects to AHP, with this query.
func (c *client) statusOfAHP(query string) int {
	c.t.Helper()
	header := http.Header{}
	if c.origin != "" {
		header.Set("Origin", c.origin)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, response, err := websocket.Dial(ctx, c.server.url+"ahp"+query, &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if response == nil {
		c.t.Fatal(err)
	}
	if err == nil {
		_ = conn.CloseNow()
	}
	return response.StatusCode
}

func TestWhoComesToAHP(t *testing.T) {
	s := serve(t, nil)
	person := s.person(t)
	secret := s.token(t, "claude", login.ReadTerminals)
	program := s.program(t, secret)
	nobody := s.browser(t)
	from := func(c *client, origin string) *client {
		other := *c
		other.origin = origin
		return &other
	}
	for _, try := range []struct {
		name   string
		who    *client
		query  string
		status int
	}{
		{"a person from the page", person, "", 101},
		{"a person from nowhere", from(person, ""), "", 403},
		{"a person from another page", from(person, "http://localhost:1"), "", 403},
		{"a person from a file", from(person, "null"), "", 403},
		{"nobody from the page", nobody, "", 401},
		{"nobody from nowhere", from(nobody, ""), "", 401},
		{"a program from nowhere", program, "", 101},
		{"a program from the page", from(program, person.origin), "", 101},
		{"a program from another page", from(program, "http://localhost:1"), "", 403},
		{"a program by its address", from(nobody, ""), "?tkn=" + secret, 101},
		{"a program by its address from another page", from(nobody, "http://localhost:1"), "?tkn=" + secret, 403},
		{"a program by a wrong address", from(nobody, ""), "?tkn=tandem_wrong", 401},
		{"a person with a wrong address", person, "?tkn=tandem_wrong", 401},
		{"a person whose address has a token, from nowhere: it is the token's", from(person, ""), "?tkn=" + secret, 101},
		{"a token that may not read", s.program(t, s.token(t, "writer", login.WriteTerminals)), "", 403},
		{"a token for metrics", s.program(t, s.token(t, "monitor", login.ReadMetrics)), "", 403},
	} {
		if status := try.who.statusOfAHP(try.query); status != try.status {
			t.Errorf("%s: status %d, want %d", try.name, status, try.status)
		}
	}
	// A page that was led to a person's server with a token in the address is not that person.
	stranger := from(person, "")
	p := stranger.dialAHPAt("ahp?tkn="+secret, "", "c")
	if result := p.initialize(ahpwire.SharingChannel); len(result.Snapshots) != 0 {
		t.Errorf("it is shown %+v", result.Snapshots)
	}
}

// What is made at one door is there at the others, by its name there, before whoever made it is told.
func TestTerminalsAreTheSameAtEveryDoor(t *testing.T) {
	s := openScene(t, nil)
	byREST := s.run(s.phone, rawCat)
	s.desk.ahp.sync()
	if shown := s.desk.ahp.Sharing.Terminals[byREST.uri]; shown.ID != byREST.id || shown.Mode != "ask" || shown.Maker.Kind != "person" || shown.Holder.Client != s.phone.name {
		t.Errorf("of a terminal made by REST the page is shown %+v", shown)
	}
	if byREST.uri != "ahp-terminal:/"+byREST.id {
		t.Errorf("its URI is %s", byREST.uri)
	}
	const uri = "ahp-terminal:/made-here"
	if err := s.claude.ahp.tryCreate(uri, s.claude.name); err != nil {
		t.Fatal(err)
	}
	s.claude.ahp.sync()
	if !s.claude.ahp.listed(uri) {
		t.Error("whoever made a terminal is not shown it")
	}
	s.desk.ahp.sync()
	shown := s.desk.ahp.Sharing.Terminals[uri]
	if shown.Mode != "watch" || shown.Maker.Name != "claude" || shown.Holder.Kind != "program" || shown.Holder.Client != s.claude.name {
		t.Errorf("of a terminal made by a program the page is shown %+v", shown)
	}
	var rest terminalJSON
	s.desk.do("GET", "api/terminals/"+shown.ID, nil).into(t, &rest)
	if rest.Channel != uri || rest.Mode != "watch" || rest.Claim != (claimJSON{Kind: "client", ClientID: s.claude.name}) {
		t.Errorf("by REST it is %+v", rest)
	}
	it := subject{shown.ID, uri}
	s.claude.ahp.subscribe(uri)
	screen, _ := s.phone.view(it, "")
	s.claude.ahp.must(uri, ahpwire.TerminalInput{Data: "echo ever''ywhere\n"})
	screen.see("everywhere")
	s.claude.ahp.reads(uri, "everywhere")

	// Who watches, at which door ever.
	s.desk.ahp.until("the watchers", func() bool {
		watchers := fmt.Sprint(s.desk.ahp.Sharing.Terminals[uri].Watchers)
		return strings.Contains(watchers, s.phone.name) && strings.Contains(watchers, "claude")
	})
	screen.conn.CloseNow()
	s.claude.ahp.unsubscribe(uri)
	s.desk.ahp.until("nobody watching", func() bool { return len(s.desk.ahp.Sharing.Terminals[uri].Watchers) == 0 })
}

// A browser is the same client after a reload, and two of its windows are one.
func TestBrowserStaysTheSameClient(t *testing.T) {
	s := openScene(t, nil)
	byAHP, byREST := s.open(s.desk), s.run(s.desk, rawCat)
	for _, it := range []subject{byAHP, byREST} {
		if holder := s.holder(it); holder != s.desk.name {
			t.Errorf("%s holds what %s has made", holder, s.desk.name)
		}
	}
	second := s.desk.dialAHP("", s.desk.name)
	second.initialize(ahpwire.SharingChannel)
	s.desk.ahp.must(ahpwire.SharingChannel, ahpwire.SharingModeSet{Resource: byAHP.uri, Mode: "watch"})
	second.must(ahpwire.SharingChannel, ahpwire.SharingModeSet{Resource: byREST.uri, Mode: "share"})
	for _, p := range []*peer{s.desk.ahp, second, s.phone.ahp} {
		p.sync()
		if modes := p.Sharing.Terminals; modes[byAHP.uri].Mode != "watch" || modes[byREST.uri].Mode != "share" {
			t.Errorf("a window shows %+v", modes)
		}
	}
	s.desk.ahp.Close()
	second.Close()
	reloaded := s.desk.dialAHP("", s.desk.name)
	reloaded.initialize(ahpwire.SharingChannel)
	if holder := reloaded.Sharing.Terminals[byAHP.uri].Holder; holder.Client != s.desk.name || holder.Kind != "person" {
		t.Errorf("after a reload %+v holds it", holder)
	}
}

func TestLogoutAndShutdownEndAHP(t *testing.T) {
	s := openScene(t, nil)
	if a := s.phone.do("POST", "api/logout", nil); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	if code := s.phone.ahp.closed(); code != closeLoginEnded {
		t.Errorf("after a logout closed with %d", code)
	}
	s.desk.ahp.sync()
	s.claude.ahp.sync()
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.stop()
	}()
	for _, who := range []*actor{s.desk, s.claude} {
		if code := who.ahp.closed(); code != closeGoingAway {
			t.Errorf("at the end closed with %d", code)
		}
	}
	<-over
}

func TestMetricsCountAHP(t *testing.T) {
	s := openScene(t, nil)
	it := s.open(s.desk)
	s.codex.ahp.subscribe(it.uri)
	monitor := s.program(t, s.token(t, "monitor", login.ReadMetrics))
	text := string(monitor.do("GET", "metrics", nil).body)
	// Everybody has the root, the person's two the sharing channel as well.
	for _, line := range []string{"tandem_ahp_connections 6\n", "tandem_ahp_subscriptions 9\n", "tandem_ahp_resyncs_total 0\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("the metrics have not %q", line)
		}
	}
	s.codex.ahp.Close()
	eventually(t, "the end of one is counted", func() bool {
		text := string(monitor.do("GET", "metrics", nil).body)
		return strings.Contains(text, "tandem_ahp_connections 5\n") && strings.Contains(text, `tandem_socket_closes_total{code="1000"} 1`)
	})
}
