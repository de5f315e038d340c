package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

var bareBash = map[string]any{"command": "bash", "args": []string{"--norc", "--noprofile"}, "env": map[string]string{"PS1": "$ "}}

func script(text string) map[string]any {
	return map[string]any{"command": "/bin/sh", "args": []string{"-c", text}}
}

// A client that knows only ADR-169's frames works.
func TestPlainClientTypesResizesAndSeesTheExit(t *testing.T) {
	c := serve(t, nil).person(t)
	id, ticket := c.create(bareBash)
	conn, status := c.upgrade(url.Values{"session_id": {id}, "ticket": {ticket}})
	if conn == nil {
		t.Fatalf("status %d", status)
	}
	l := &lane{t: t, conn: conn}
	defer conn.CloseNow()
	if f := l.frame("ready"); f.Cols != 80 || f.Rows != 24 || !f.Writable || f.Offset != 0 {
		t.Fatalf("%+v", f)
	}
	l.tells(`{"type":"resize","cols":120,"rows":40}`)
	if f := l.frame("resize"); f.Cols != 120 || f.Rows != 40 {
		t.Fatalf("%+v", f)
	}
	l.see("$ ")
	l.types("stty size; exit 3\n")
	l.see("40 120\r\n")
	if f := l.frame("exit"); f.Code != 3.0 || f.Signal != "" {
		t.Fatalf("%+v", f)
	}
	if a := c.do("GET", "api/terminals/"+id, nil); !strings.Contains(string(a.body), `"exit_code":3`) {
		t.Fatalf("%v", a)
	}
	if a := c.do("DELETE", "api/terminals/"+id, nil); a.status != http.StatusNoContent {
		t.Fatalf("%v", a)
	}
	if code := l.closed(); code != 1000 {
		t.Fatalf("closed with %d", code)
	}
}

func TestExitTellsTheSignal(t *testing.T) {
	c := serve(t, nil).person(t)
	id, _ := c.create(script("kill -TERM $$"))
	if f := c.attach(id, -1).frame("exit"); f.Code != 143.0 || f.Signal != "SIGTERM" {
		t.Fatalf("%+v", f)
	}
}

func TestBadControlFramesGetAnErrorAndChangeNothing(t *testing.T) {
	c := serve(t, nil).person(t)
	id, _ := c.create(bareBash)
	l := c.attach(id, -1)
	l.see("$ ")
	for _, bad := range []string{
		``, `nonsense`, `[]`, `"resize"`, `{}`, `{"type":7}`, `{"type":"resize"}`, `{"type":"resize","cols":0,"rows":10}`,
		`{"type":"resize","cols":1001,"rows":10}`, `{"type":"resize","cols":"80","rows":24}`, `{"type":"resize","cols":1e9,"rows":2}`,
		`{"type":"resize","cols":80.5,"rows":24}`, `{"type":"ack"}`, `{"type":"ack","offset":-1}`, `{"type":"ack","offset":99999999}`,
		`{"type":"ack","offset":null}`, `{"type":"visible"}`, `{"type":"visible","visible":1}`, strings.Repeat("[", 100_000),
	} {
		l.tells("%s", bad)
		if f := l.frame("error"); f.Title == "" {
			t.Fatalf("%.50q: %+v", bad, f)
		}
	}
	l.tells(`{"type":"from the future","cols":{}}`) // ignored
	l.tells(`{"type":"ping"}`)
	l.frame("pong")
	for _, f := range l.frames {
		if f.Type == "error" || f.Type == "resize" {
			t.Fatalf("%+v", f)
		}
	}
	l.types("stty size\n")
	l.see("24 80\r\n")
}

func TestTooBigMessageClosesTheSocketAndOneMegabyteDoesNot(t *testing.T) {
	c := serve(t, nil).person(t)
	id, _ := c.create(script("stty raw -echo; echo ready; head -c 1048576 | sha256sum; exec cat >/dev/null"))
	l := c.attach(id, -1)
	l.see("ready")
	paste := bytes.Repeat([]byte("tandem! "), 1<<17)
	l.types(string(paste))
	l.see(fmt.Sprintf("%x", sha256.Sum256(paste)))
	if err := l.conn.Write(context.Background(), websocket.MessageBinary, make([]byte, maxMessage+1)); err != nil {
		t.Fatal(err)
	}
	if code := l.closed(); code != websocket.StatusMessageTooBig {
		t.Fatalf("closed with %d", code)
	}
}

func TestFullInputQueueIsAnErrorFrameWithACode(t *testing.T) {
	c := serve(t, nil).person(t)
	id, _ := c.create(script("stty raw -echo; echo ready; sleep 1000"))
	l := c.attach(id, -1)
	l.see("ready")
	for range 9 {
		l.types(string(make([]byte, 1<<20)))
	}
	if f := l.frame("error"); f.Code != "input_full" {
		t.Fatalf("%+v", f)
	}
}

func TestRefusedUpgrades(t *testing.T) {
	s := serve(t, nil)
	c, other := s.person(t), s.person(t)
	id, _ := c.create(bareBash)
	second, _ := c.create(bareBash)
	used := c.ticket(id)
	if conn, _ := c.upgrade(url.Values{"session_id": {id}, "ticket": {used}}); conn == nil {
		t.Fatal("a good ticket is refused")
	} else {
		conn.CloseNow()
	}
	gone := c.ticket(second)
	if a := c.do("DELETE", "api/terminals/"+second, nil); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	for name, try := range map[string]struct {
		who    *client
		query  url.Values
		status int
	}{
		"no login":        {s.browser(t), url.Values{"session_id": {id}, "ticket": {c.ticket(id)}}, 401},
		"no ticket":       {c, url.Values{"session_id": {id}}, 403},
		"nonsense ticket": {c, url.Values{"session_id": {id}, "ticket": {"nonsense"}}, 403},
		"used ticket":     {c, url.Values{"session_id": {id}, "ticket": {used}}, 403},
		"foreign login's": {c, url.Values{"session_id": {id}, "ticket": {other.ticket(id)}}, 403},
		"other terminal":  {c, url.Values{"session_id": {"other"}, "ticket": {c.ticket(id)}}, 403},
		"gone terminal":   {c, url.Values{"session_id": {second}, "ticket": {gone}}, 404},
		"bad offset":      {c, url.Values{"session_id": {id}, "ticket": {c.ticket(id)}, "since": {"-5"}}, 400},
	} {
		if conn, status := try.who.upgrade(try.query); conn != nil || status != try.status {
			t.Errorf("%s: status %d, want %d", name, status, try.status)
		}
	}
	foreign := *c
	foreign.origin = "http://localhost:1"
	if _, status := foreign.upgrade(url.Values{"session_id": {id}, "ticket": {c.ticket(id)}}); status != 403 {
		t.Errorf("foreign origin: status %d", status)
	}
	foreign.origin = ""
	if _, status := foreign.upgrade(url.Values{"session_id": {id}, "ticket": {c.ticket(id)}}); status != 403 {
		t.Errorf("no origin: status %d", status)
	}
}

func TestLogoutEndsTheSocketsOfThatLoginAlone(t *testing.T) {
	s := serve(t, nil)
	desk, phone := s.person(t), s.person(t)
	id, _ := desk.create(bareBash)
	onDesk, onPhone := desk.attach(id, -1), phone.attach(id, -1)
	onDesk.see("$ ")
	onPhone.see("$ ")
	if a := phone.do("POST", "api/logout", nil); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	if code := onPhone.closed(); code != closeLoginEnded {
		t.Fatalf("closed with %d", code)
	}
	onDesk.types("echo still-$((1+1))\n")
	onDesk.see("still-2")
}

func TestShutdownTellsSocketsToComeBack(t *testing.T) {
	s := serve(t, nil)
	c := s.person(t)
	id, _ := c.create(bareBash)
	l := c.attach(id, -1)
	l.see("$ ")
	ended := make(chan websocket.StatusCode, 1)
	go func() { ended <- l.closed() }()
	s.stop()
	if code := <-ended; code != closeGoingAway {
		t.Fatalf("closed with %d", code)
	}
}

// flood writes a file of size bytes of what is hard on a stream and returns its name and what a viewer that does not
// answer queries is to see of it.
func flood(t testing.TB, size int) (name string, masked []byte) {
	r := rand.New(rand.NewPCG(1, 2))
	type part struct{ raw, seen string }
	plain := func(s string) part { return part{s, s} }
	query := func(s string) part { return part{s, "\x18" + strings.Repeat("\x00", len(s)-1)} }
	parts := []part{
		plain("plain text "), plain("\r\n"), plain("naïve café – “quotes” • … "), plain("日本語テキスト"), plain("👩‍👩‍👧‍👦🏳️‍🌈"),
		plain("\x1b[38;5;123mcolor\x1b[0m"), plain("\x1b]0;a title\x07"), plain("\xff\xfe "), plain("\xe2\x80 "), plain("\xf0\x9f "),
		query("\x1b[6n"), query("\x1b[c"), query("\x1b]10;?\x07"), query("\x1b]11;?\x1b\\"), query("\x1b[?1049$p"), query("\x1bP$qm\x1b\\"),
	}
	var raw, seen bytes.Buffer
	for raw.Len() < size {
		p := parts[r.IntN(len(parts))]
		raw.WriteString(p.raw)
		seen.WriteString(p.seen)
	}
	raw.WriteString("the end")
	seen.WriteString("the end")
	name = filepath.Join(t.TempDir(), "flood")
	if err := os.WriteFile(name, raw.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name, seen.Bytes()
}

// A stream read across many disconnects and resumes during a flood is the masked log, byte for byte.
func TestStreamAcross200ResumesIsTheMaskedLog(t *testing.T) {
	c := serve(t, nil).person(t)
	name, want := flood(t, 24<<20)
	start := filepath.Join(t.TempDir(), "start") // typing it would make this viewer the one that answers queries
	id, _ := c.create(script("stty raw -echo; echo ready; until [ -e " + start + " ]; do sleep 0.02; done; cat " + name))
	l := c.attach(id, -1)
	l.see("ready\n")
	l.tells(`{"type":"ack","offset":%d}`, l.offset)
	if err := os.WriteFile(start, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	begin, r := l.offset, rand.New(rand.NewPCG(3, 4))
	got := sha256.New()
	var stream int64
	for resumes := 0; ; {
		leave := r.Int64N(150_000)
		l.log = nil
		for start := l.offset; l.offset-start < leave && begin+stream+int64(len(l.log)) < begin+int64(len(want)); {
			if err := l.next(); err != nil {
				t.Fatalf("after %d bytes: %v", stream, err)
			}
			l.tells(`{"type":"ack","offset":%d}`, l.offset)
		}
		got.Write(l.log)
		stream += int64(len(l.log))
		if stream >= int64(len(want)) {
			if resumes < 200 {
				t.Fatalf("only %d resumes", resumes)
			}
			t.Logf("%d resumes", resumes)
			break
		}
		l.conn.CloseNow()
		since := l.offset
		l = c.attach(id, since)
		if f := l.frame("ready"); f.Offset != since {
			t.Fatalf("asked for %d, got %d", since, f.Offset)
		}
		resumes++
	}
	if sum := sha256.Sum256(want); !bytes.Equal(got.Sum(nil), sum[:]) {
		t.Fatalf("stream of %d bytes differs from the masked log of %d", stream, len(want))
	}
}

func FuzzParseControl(f *testing.F) {
	for _, seed := range []string{`{"type":"resize","cols":80,"rows":24}`, `{"type":"ack","offset":5}`, `{"type":"visible","visible":true}`, `{}`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		frame, err := parseControl(p)
		if err == nil && !bytes.Contains(p, []byte(`"`)) {
			t.Fatalf("%q is taken as %+v", p, frame)
		}
	})
}
