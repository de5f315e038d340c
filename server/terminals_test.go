package server

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// isProblem checks that an answer is an RFC 9457 problem that says more than its status.
func isProblem(t *testing.T, a answer, status int) problemDetails {
	t.Helper()
	var p problemDetails
	if a.status != status || a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("got %v as %q, want a problem with status %d", a, a.header.Get("Content-Type"), status)
		return p
	}
	a.into(t, &p)
	if p.Status != status || p.Title != http.StatusText(status) || p.Detail == "" {
		t.Errorf("problem %+v", p)
	}
	return p
}

func TestTerminalsOverREST(t *testing.T) {
	s := serve(t, nil)
	c := s.person(t)
	if a := c.do("GET", "api/terminals", nil); a.status != 200 || strings.TrimSpace(string(a.body)) != "[]" {
		t.Fatalf("none yet: %v", a)
	}
	dir := t.TempDir()
	before := time.Now().Add(-time.Second)
	a := c.do("POST", "api/terminals", map[string]any{
		"command": "sleep", "args": []string{"1000"}, "cwd": dir, "env": map[string]string{"GREETING": "hello"},
		"cols": 100, "rows": 30, "name": "a nap",
	})
	if a.status != http.StatusCreated {
		t.Fatal(a)
	}
	var made struct {
		Terminal map[string]any
		Ticket   string
	}
	a.into(t, &made)
	got := made.Terminal
	id, _ := got["id"].(string)
	if a.header.Get("Location") != "/api/terminals/"+id || made.Ticket == "" {
		t.Errorf("Location %q, ticket %q", a.header.Get("Location"), made.Ticket)
	}
	for field, want := range map[string]any{
		"title": "a nap", "cwd": dir, "cols": 100.0, "rows": 30.0, "exit_code": nil, "viewers": 0.0,
	} {
		if value, ok := got[field]; !ok || value != want {
			t.Errorf("%s is %v, want %v", field, value, want)
		}
	}
	var session struct {
		Client string `json:"client_id"`
	}
	c.do("GET", "api/session", nil).into(t, &session)
	if claim, _ := got["claim"].(map[string]any); claim["kind"] != "client" || claim["client_id"] != session.Client || session.Client == "" {
		t.Errorf("claim %v, and the page is %q", got["claim"], session.Client)
	}
	if _, ok := got["signal"]; ok {
		t.Error("a running terminal has a signal")
	}
	if created, err := time.Parse(time.RFC3339Nano, got["created"].(string)); err != nil || created.Before(before) || created.After(time.Now()) {
		t.Errorf("created %v", got["created"])
	}
	pid := int(got["pid"].(float64))
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || !strings.Contains(string(environment), "GREETING=hello") || !strings.Contains(string(environment), "TANDEM_TERMINAL="+id) {
		t.Errorf("environment of %d: %q, %v", pid, environment, err)
	}

	if a := c.do("PATCH", "api/terminals/"+id, map[string]any{"title": "a long nap"}); a.status != 200 || !strings.Contains(string(a.body), `"title":"a long nap"`) {
		t.Errorf("rename: %v", a)
	}
	var list []terminalJSON
	c.do("GET", "api/terminals", nil).into(t, &list)
	if len(list) != 1 || list[0].ID != id || list[0].Title != "a long nap" {
		t.Errorf("list %+v", list)
	}
	if a := c.do("PATCH", "api/terminals/"+id, map[string]any{"title": ""}); !strings.Contains(string(a.body), `"title":"sleep"`) {
		t.Errorf("the name given back to the program: %v", a)
	}

	var ticket struct {
		Ticket  string
		Expires time.Time
	}
	a = c.do("POST", "api/terminals/"+id+"/tickets", nil)
	a.into(t, &ticket)
	if left := time.Until(ticket.Expires); a.status != http.StatusCreated || ticket.Ticket == "" || left > ticketLife || left < ticketLife/2 {
		t.Errorf("ticket %v", a)
	}

	if a := c.do("DELETE", "api/terminals/"+id, nil); a.status != http.StatusNoContent || len(a.body) != 0 {
		t.Errorf("delete: %v", a)
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
		t.Errorf("process %d is still there", pid)
	}
	for _, r := range []route{
		{"GET", "api/terminals/" + id}, {"PATCH", "api/terminals/" + id}, {"DELETE", "api/terminals/" + id}, {"POST", "api/terminals/" + id + "/tickets"},
	} {
		isProblem(t, c.do(r.method, r.path, map[string]any{}), http.StatusNotFound)
	}
}

func TestBadTerminalsAreRefusedByField(t *testing.T) {
	c := serve(t, nil).person(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, try := range []struct{ body, field string }{
		{`{"command":"no-such-program"}`, "command"},
		{`{"command":""  ,"args":["x"]}`, "args"},
		{`{"shell":"/no/such/shell"}`, "shell"},
		{`{"cwd":"relative"}`, "cwd"},
		{`{"cwd":"/no/such/directory"}`, "cwd"},
		{`{"cwd":"` + file + `"}`, "cwd"},
		{`{"cols":0,"rows":0}`, "size"},
		{`{"cols":1001,"rows":24}`, "size"},
		{`{"cols":80}`, "size"},
		{`{"env":{"TANDEM_PASSWORD":"x"}}`, "env"},
		{`{"env":{"A=B":"x"}}`, "env"},
		{`{"name":"a\u001b[31mb"}`, "name"},
		{`{"name":"` + strings.Repeat("n", 257) + `"}`, "name"},
	} {
		a := c.post("api/terminals", "application/json", try.body)
		if p := isProblem(t, a, http.StatusBadRequest); p.Field != try.field {
			t.Errorf("%.60s: field %q, want %q", try.body, p.Field, try.field)
		}
	}
	if a := c.do("GET", "api/terminals", nil); strings.TrimSpace(string(a.body)) != "[]" {
		t.Fatalf("something started: %v", a)
	}
	id, _ := c.create(bareBash)
	if p := isProblem(t, c.do("PATCH", "api/terminals/"+id, map[string]any{"title": "\x07"}), http.StatusBadRequest); p.Field != "title" {
		t.Errorf("field %q", p.Field)
	}
}

// post sends any body as any type.
func (c *client) post(path, contentType, body string) answer {
	c.t.Helper()
	r, err := http.NewRequest("POST", c.server.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return c.send(r)
}

// Every route that reads a body reads it alike.
func TestBodiesAreReadStrictly(t *testing.T) {
	s := serve(t, nil)
	for path, c := range map[string]*client{"api/terminals": s.person(t), "api/login": s.browser(t), "api/login/link": s.browser(t)} {
		for _, try := range []struct {
			contentType, body string
			status            int
		}{
			{"", `{}`, 415}, {"text/plain", `{}`, 415}, {"application/x-www-form-urlencoded", `password=x`, 415}, {"application/jsonx", `{}`, 415}, {";", `{}`, 415},
			{"application/json", ``, 400}, {"application/json", `nonsense`, 400}, {"application/json", `[]`, 400}, {"application/json", `"x"`, 400},
			{"application/json", `{"unknown":1}`, 400}, {"application/json", `{} {}`, 400}, {"application/json", `{}x`, 400}, {"application/json", `{`, 400},
			{"application/json; charset=utf-8", `{"shell":7,"password":7,"secret":7}`, 400},
			{"application/json", `{"` + strings.Repeat("x", maxBody) + `":1}`, 413},
			{"application/json", `{}` + strings.Repeat(" ", maxBody), 413},
		} {
			a := c.post(path, try.contentType, try.body)
			if a.status != try.status {
				t.Errorf("POST %s %q %.30q: %v, want %d", path, try.contentType, try.body, a, try.status)
				continue
			}
			isProblem(t, a, try.status)
		}
	}
}

func TestTerminalBeyondTheLimitIsRefused(t *testing.T) {
	c := serve(t, nil).person(t)
	var last string
	for range 10 {
		last, _ = c.create(map[string]any{"command": "sleep", "args": []string{"1000"}})
	}
	p := isProblem(t, c.do("POST", "api/terminals", map[string]any{}), http.StatusConflict)
	if p.Limit != 10 || !strings.Contains(p.Detail, "10") || !strings.Contains(p.Detail, "close a terminal") {
		t.Errorf("%+v", p)
	}
	if a := c.do("DELETE", "api/terminals/"+last, nil); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	c.create(map[string]any{"command": "sleep", "args": []string{"1000"}})
}

func TestSessionTellsWhatThePageNeeds(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, func(cfg *Config) { cfg.Dir, cfg.MaxTerminals, cfg.Version = dir, 3, "1.2.3" })
	var got map[string]any
	s.person(t).do("GET", "api/session", nil).into(t, &got)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]any{"version": "1.2.3", "dir": dir, "limit": 3.0, "home": home} {
		if got[field] != want {
			t.Errorf("%s is %v, want %v", field, got[field], want)
		}
	}
	if l, _ := got["login"].(map[string]any); l["current"] != true || l["id"] == "" || l["device"] == "" {
		t.Errorf("login %v", got["login"])
	}
	var again map[string]any
	other := serve(t, nil)
	other.person(t).do("GET", "api/session", nil).into(t, &again)
	if got["boot"] == "" || got["boot"] == again["boot"] {
		t.Errorf("boot %v, then %v", got["boot"], again["boot"])
	}
}

// A handler that panics answers with a problem, and what it panicked with stays out of the answer and the log.
func TestPanicIsAProblem(t *testing.T) {
	var log syncBuffer
	s := &Server{log: log.logger()}
	h := s.logRequests(s.recoverPanics(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a secret") })))
	w := serveOnce(h, "GET", "/")
	var p problemDetails
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 500 || p.Status != 500 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if text := log.String(); !strings.Contains(text, "terminals_test.go") || strings.Contains(text, "a secret") {
		t.Errorf("log: %s", text)
	}
}
