package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// patience bounds every wait in these tests; none is expected to last long.
const patience = 20 * time.Second

// instance is a server that listens on loopback.
type instance struct {
	*Server
	url  string // with base, ends with a slash
	stop func() // shuts the server down; called at the test's end at the latest
}

// serve starts a server on a free port. change adapts its configuration.
func serve(t testing.TB, change func(*Config)) *instance {
	t.Helper()
	cfg := Config{
		Listen: "127.0.0.1:0", DataDir: t.TempDir(), Dir: t.TempDir(), Shell: "/bin/bash", Version: "test",
		Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	ln, at, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listen, cfg.URL = at.Addr, at.URL
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("server ended: %v", err)
		}
	}
	t.Cleanup(stop)
	return &instance{s, at.URL, stop}
}

// client is a browser: it keeps cookies and sends its Origin.
type client struct {
	t      testing.TB
	server *instance
	http   *http.Client
	origin string
}

func (s *instance) browser(t testing.TB) *client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t, s, &http.Client{Jar: jar, Transport: transport}, u.Scheme + "://" + u.Host}
}

// person is a browser that is logged in.
func (s *instance) person(t testing.TB) *client {
	t.Helper()
	c := s.browser(t)
	if got := c.do("POST", "api/login/link", map[string]string{"secret": s.linkSecret()}); got.status != http.StatusNoContent {
		t.Fatalf("login: %v", got)
	}
	return c
}

// linkSecret makes a login link and returns its secret.
func (s *instance) linkSecret() string {
	_, secret, _ := strings.Cut(s.NewLink(), "#login=")
	return secret
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// into decodes the body, which must be JSON.
func (a answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%v: %v", a, err)
	}
}

// do sends a request with body as JSON, unless it is nil.
func (c *client) do(method, path string, body any) answer {
	c.t.Helper()
	var reader io.Reader
	if body != nil {
		p, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		reader = bytes.NewReader(p)
	}
	r, err := http.NewRequest(method, c.server.url+path, reader)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return c.send(r)
}

func (c *client) send(r *http.Request) answer {
	c.t.Helper()
	if c.origin != "" {
		r.Header.Set("Origin", c.origin)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	p, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, p}
}

// create makes a terminal and returns its id and first ticket.
func (c *client) create(spec map[string]any) (id, ticket string) {
	c.t.Helper()
	a := c.do("POST", "api/terminals", spec)
	if a.status != http.StatusCreated {
		c.t.Fatalf("create: %v", a)
	}
	var made struct {
		Terminal terminalJSON
		Ticket   string
	}
	a.into(c.t, &made)
	return made.Terminal.ID, made.Ticket
}

func (c *client) ticket(id string) string {
	c.t.Helper()
	a := c.do("POST", "api/terminals/"+id+"/tickets", nil)
	if a.status != http.StatusCreated {
		c.t.Fatalf("ticket: %v", a)
	}
	var made struct{ Ticket string }
	a.into(c.t, &made)
	return made.Ticket
}

// upgrade asks for a terminal's socket with this query and returns the answer's status with it.
func (c *client) upgrade(query url.Values) (*websocket.Conn, int) {
	c.t.Helper()
	header := http.Header{}
	if c.origin != "" {
		header.Set("Origin", c.origin)
	}
	conn, resp, err := websocket.Dial(context.Background(), c.server.url+"ws/terminal?"+query.Encode(),
		&websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if resp == nil {
		c.t.Fatal(err)
	}
	if err != nil {
		return nil, resp.StatusCode
	}
	conn.SetReadLimit(1 << 20)
	return conn, resp.StatusCode
}

// lane is a terminal's socket as a client sees it.
type lane struct {
	t      testing.TB
	conn   *websocket.Conn
	frames []frame // text frames, all that came
	log    []byte  // output since the last reset, replayed state left out
	offset int64   // of the next byte
	replay bool
}

// frame is any text frame from the server.
type frame struct {
	Type       string
	Offset     int64
	Cols, Rows int
	Writable   bool
	Replay     bool
	Code       any
	Signal     string
	Title      string
}

// attach opens a terminal's socket; since < 0 asks for a replay.
func (c *client) attach(id string, since int64) *lane {
	c.t.Helper()
	query := url.Values{"session_id": {id}, "ticket": {c.ticket(id)}}
	if since >= 0 {
		query.Set("since", fmt.Sprint(since))
	}
	conn, status := c.upgrade(query)
	if conn == nil {
		c.t.Fatalf("attach: status %d", status)
	}
	l := &lane{t: c.t, conn: conn}
	c.t.Cleanup(func() { _ = conn.CloseNow() })
	return l
}

// next takes one message. It returns the error that ended the socket.
func (l *lane) next() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	kind, p, err := l.conn.Read(ctx)
	if err != nil {
		return err
	}
	if kind == websocket.MessageBinary {
		if !l.replay {
			l.log = append(l.log, p...)
			l.offset += int64(len(p))
		}
		return nil
	}
	var f frame
	if err := json.Unmarshal(p, &f); err != nil {
		l.t.Fatalf("text frame %q: %v", p, err)
	}
	switch f.Type {
	case "ready":
		l.offset = f.Offset
	case "reset":
		l.offset, l.replay, l.log = f.Offset, f.Replay, nil
	case "live":
		l.offset, l.replay = f.Offset, false
	}
	l.frames = append(l.frames, f)
	return nil
}

// see waits until text was printed since the last call.
func (l *lane) see(text string) {
	l.t.Helper()
	for !bytes.Contains(l.log, []byte(text)) {
		if err := l.next(); err != nil {
			l.t.Fatalf("waiting for %q: %v; got %.300q", text, err, l.log)
		}
	}
	l.log = l.log[bytes.Index(l.log, []byte(text))+len(text):]
}

// frame waits for the next text frame of a type that has not been returned yet.
func (l *lane) frame(kind string) frame {
	l.t.Helper()
	for {
		for i, f := range l.frames {
			if f.Type == kind {
				l.frames = l.frames[i+1:]
				return f
			}
		}
		if err := l.next(); err != nil {
			l.t.Fatalf("waiting for a %s frame: %v", kind, err)
		}
	}
}

// closed waits for the end of the socket and returns its close code.
func (l *lane) closed() websocket.StatusCode {
	l.t.Helper()
	for {
		if err := l.next(); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

func (l *lane) types(text string) {
	l.t.Helper()
	if err := l.conn.Write(context.Background(), websocket.MessageBinary, []byte(text)); err != nil {
		l.t.Fatal(err)
	}
}

// tells sends a control frame.
func (l *lane) tells(format string, args ...any) {
	l.t.Helper()
	if err := l.conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		l.t.Fatal(err)
	}
}
