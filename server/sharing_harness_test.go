package server

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	ahpclient "tandem/ahp/client"
	ahpwire "tandem/ahp/wire"
	"tandem/server/login"
	"tandem/sharing"
)

// peer is a client of the Agent Host Protocol, with a mirror of what it is shown.
type peer struct {
	*ahpclient.Client
	ahpclient.Mirror
	t    testing.TB
	seen []ahpwire.Envelope // all that came, in order
}

// dialAHP connects as a client that has said nothing yet, with the cookies and the Origin of c and with this token,
// unless it is "".
func (c *client) dialAHP(token, clientID string) *peer {
	c.t.Helper()
	return c.dialAHPAt("ahp", token, clientID)
}

func (c *client) dialAHPAt(path, token, clientID string) *peer {
	c.t.Helper()
	options := ahpclient.Options{ClientID: clientID, Token: token, HTTPClient: c.http, Header: http.Header{}}
	if c.origin != "" {
		options.Header.Set("Origin", c.origin)
	}
	p := &peer{t: c.t}
	ctx, cancel := p.within()
	defer cancel()
	var err error
	if p.Client, err = ahpclient.Dial(ctx, c.server.url+path, options); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(p.Close)
	return p
}

func (p *peer) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

// initialize begins the connection, and takes the snapshots of these channels.
func (p *peer) initialize(channels ...string) ahpwire.InitializeResult {
	p.t.Helper()
	ctx, cancel := p.within()
	defer cancel()
	result, err := p.Initialize(ctx, channels...)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, s := range result.Snapshots {
		p.take(s)
	}
	return result
}

func (p *peer) take(s ahpwire.Snapshot) {
	p.t.Helper()
	if err := p.Take(s); err != nil {
		p.t.Fatal(err)
	}
}

// trySubscribe subscribes to a channel, or returns why not.
func (p *peer) trySubscribe(channel string) error {
	p.t.Helper()
	ctx, cancel := p.within()
	defer cancel()
	s, err := p.Subscribe(ctx, channel, 0)
	if err == nil {
		p.take(s)
	}
	return err
}

func (p *peer) subscribe(channel string) {
	p.t.Helper()
	if err := p.trySubscribe(channel); err != nil {
		p.t.Fatalf("subscribing to %s: %v", channel, err)
	}
}

func (p *peer) unsubscribe(channel string) {
	p.t.Helper()
	ctx, cancel := p.within()
	defer cancel()
	if err := p.Unsubscribe(ctx, channel); err != nil {
		p.t.Fatal(err)
	}
}

// tryCreate makes a terminal that the client holds itself, or returns why not.
func (p *peer) tryCreate(channel, clientID string) error {
	p.t.Helper()
	ctx, cancel := p.within()
	defer cancel()
	return p.CreateTerminal(ctx, ahpwire.CreateTerminalParams{Channel: channel, Claim: ahpwire.Claim{Kind: ahpwire.ClaimClient, ClientID: clientID}})
}

func (p *peer) tryDispose(channel string) error {
	p.t.Helper()
	ctx, cancel := p.within()
	defer cancel()
	return p.DisposeTerminal(ctx, channel)
}

// dispatch sends an action and returns its number.
func (p *peer) dispatch(channel string, a ahpwire.Action) int64 {
	p.t.Helper()
	ctx, cancel := p.within()
	defer cancel()
	seq, err := p.Dispatch(ctx, channel, a)
	if err != nil {
		p.t.Fatal(err)
	}
	return seq
}

// does dispatches an action, waits until the host is done with it, and returns why it was refused, or "".
func (p *peer) does(channel string, a ahpwire.Action) (refused string) {
	p.t.Helper()
	seq := p.dispatch(channel, a)
	for _, e := range p.sync() {
		if e.Origin != nil && e.Origin.ClientSeq == seq && e.RejectionReason != "" {
			refused = e.RejectionReason
		}
	}
	return refused
}

// must is does for what is not refused.
func (p *peer) must(channel string, a ahpwire.Action) {
	p.t.Helper()
	if refused := p.does(channel, a); refused != "" {
		p.t.Fatalf("%T on %s was refused: %s", a, channel, refused)
	}
}

// took notes an envelope.
func (p *peer) took(e ahpwire.Envelope) {
	p.t.Helper()
	if n := len(p.seen); n > 0 && e.ServerSeq <= p.seen[n-1].ServerSeq {
		p.t.Errorf("number %d came after %d", e.ServerSeq, p.seen[n-1].ServerSeq)
	}
	p.seen = append(p.seen, e)
	p.Apply(e)
}

// sync returns everything that comes before the answer to a ping.
func (p *peer) sync() []ahpwire.Envelope {
	p.t.Helper()
	ctx, cancel := p.within()
	defer cancel()
	before := len(p.seen)
	var unanswered error
	until, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		unanswered = p.Ping(ctx)
	}()
	for {
		e, err := p.Next(until)
		if err == nil {
			p.took(e)
			continue
		}
		<-until.Done()
		if unanswered != nil {
			p.t.Fatalf("ping: %v", unanswered)
		}
		break
	}
	for { // what was there by then
		e, err := p.Next(until)
		if err != nil {
			return p.seen[before:]
		}
		p.took(e)
	}
}

// until takes what comes until it is as wanted.
func (p *peer) until(what string, wanted func() bool) {
	p.t.Helper()
	ctx, cancel := p.within()
	defer cancel()
	for !wanted() {
		e, err := p.Next(ctx)
		if err != nil {
			p.t.Fatalf("waiting for %s: %v", what, err)
		}
		p.took(e)
	}
}

// reads takes what comes until the terminal's text has these words.
func (p *peer) reads(channel, words string) {
	p.t.Helper()
	p.until("the text "+words, func() bool { return strings.Contains(p.Text(channel), words) })
}

// listed reports whether the root list has the terminal.
func (p *peer) listed(channel string) bool {
	for _, t := range p.Root.Terminals {
		if t.Resource == channel {
			return true
		}
	}
	return false
}

// closed takes what still comes and returns the code with which the host has closed the connection.
func (p *peer) closed() websocket.StatusCode {
	p.t.Helper()
	ctx, cancel := p.within()
	defer cancel()
	for {
		e, err := p.Next(ctx)
		if err != nil {
			return websocket.CloseStatus(err)
		}
		p.took(e)
	}
}

// codeOf returns the code of an error of the host's, 0 for none, and -1 for anything else.
func codeOf(err error) int {
	if refused, ok := errors.AsType[*ahpwire.Error](err); ok {
		return refused.Code
	} else if err != nil {
		return -1
	}
	return 0
}

// actor is somebody with all doors they may come by.
type actor struct {
	*client        // REST and the byte lane
	ahp     *peer  // subscribed to the root, and a person to the sharing channel too
	name    string // client id at AHP
	token   string // a program's
}

// scene is a server with everybody who plays a part at it.
type scene struct {
	*instance
	t            testing.TB
	desk, phone  *actor // the person
	claude, twin *actor // two clients of one program
	codex        *actor // another program
	reader       *actor // a token that may only read
	everything   *sharing.Client

	opened map[*actor]subject // terminals of the table, by who made them
	lanes  []*lane            // open in a cell of the table
}

func openScene(t testing.TB, change func(*Config)) *scene {
	t.Helper()
	s := &scene{t: t, opened: map[*actor]subject{}, instance: serve(t, func(cfg *Config) {
		cfg.Shell, cfg.MaxTerminals = "/bin/sh", 200
		if change != nil {
			change(cfg)
		}
	})}
	s.desk, s.phone = s.browsing(), s.browsing()
	write := []login.Scope{login.ReadTerminals, login.WriteTerminals}
	claude := s.token(t, "claude", write...)
	s.claude, s.twin = s.programmed(claude, "a"), s.programmed(claude, "a2")
	s.codex = s.programmed(s.token(t, "codex", write...), "b")
	s.reader = s.programmed(s.token(t, "reader", login.ReadTerminals), "r")
	var err error
	s.everything, err = s.terminals.Join(sharing.Identity{Kind: sharing.Person, ID: "test"}, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// browsing is a person at a browser.
func (s *scene) browsing() *actor {
	s.t.Helper()
	c := s.person(s.t)
	var session struct {
		Client string `json:"client_id"`
	}
	c.do("GET", "api/session", nil).into(s.t, &session)
	a := &actor{client: c, ahp: c.dialAHP("", session.Client), name: session.Client}
	a.ahp.initialize(ahpwire.RootChannel, ahpwire.SharingChannel)
	return a
}

// programmed is a program with a token.
func (s *scene) programmed(token, clientID string) *actor {
	s.t.Helper()
	a := &actor{client: s.program(s.t, token), ahp: s.connect(token, clientID), name: clientID, token: token}
	a.ahp.initialize(ahpwire.RootChannel)
	return a
}

// connect is a program's connection to AHP, on which nothing was said yet.
func (s *scene) connect(token, clientID string) *peer {
	s.t.Helper()
	bare := s.browser(s.t)
	bare.origin = ""
	return bare.dialAHP(token, clientID)
}

// subject is a terminal to which something is done.
type subject struct{ id, uri string }

// open has somebody make a terminal.
func (s *scene) open(by *actor) subject {
	s.t.Helper()
	uri := "ahp-terminal:/" + rand.Text()
	if err := by.ahp.tryCreate(uri, by.name); err != nil {
		s.t.Fatal(err)
	}
	s.desk.ahp.sync()
	return subject{s.desk.ahp.Sharing.Terminals[uri].ID, uri}
}

// find returns the terminal itself, or nil if it is gone.
func (s *scene) find(it subject) *sharing.Terminal {
	s.t.Helper()
	found, err := s.terminals.Get(s.everything, it.id)
	if err != nil && !errors.Is(err, sharing.ErrNotFound) {
		s.t.Fatal(err)
	}
	return found
}

func (s *scene) info(it subject) sharing.Info {
	s.t.Helper()
	info, err := s.find(it).Info(s.everything)
	if err != nil {
		s.t.Fatal(err)
	}
	return info
}

// holder is who holds the terminal: a client id or a session's URI.
func (s *scene) holder(it subject) string {
	s.t.Helper()
	if claim := s.info(it).Claim; claim.Session != nil {
		return claim.Session.URI
	} else {
		return claim.Client
	}
}

// mode has the person set the terminal's mode.
func (s *scene) mode(it subject, mode string) {
	s.t.Helper()
	s.desk.ahp.must(ahpwire.SharingChannel, ahpwire.SharingModeSet{Resource: it.uri, Mode: mode})
}

// hand has the person give the terminal to a client.
func (s *scene) hand(it subject, to *actor) {
	s.t.Helper()
	s.desk.ahp.must(it.uri, claimFor(to.name))
}

func claimFor(clientID string) ahpwire.Action {
	return ahpwire.TerminalClaimed{Claim: ahpwire.Claim{Kind: ahpwire.ClaimClient, ClientID: clientID}}
}

func claimForSession(uri, toolCall string) ahpwire.Action {
	claim := ahpwire.Claim{Kind: ahpwire.ClaimSession, Session: uri, ToolCallID: toolCall}
	if toolCall != "" {
		claim.TurnID = "turn"
	}
	return ahpwire.TerminalClaimed{Claim: claim}
}

// handSession gives the terminal to a session of a program's, that uses it.
func (s *scene) handSession(it subject, to *actor) {
	s.t.Helper()
	s.hand(it, to)
	to.ahp.must(it.uri, claimForSession("ahp-session:/s", "call"))
}

// prints has the terminal's program get input that nobody has typed, and waits until it has printed words.
func (s *scene) prints(it subject, input, words string) {
	s.t.Helper()
	pty := s.find(it).Pty()
	_, from := pty.Bounds()
	if err := pty.Input([]byte(input)); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "the terminal prints "+words, func() bool {
		_, to := pty.Bounds()
		text, err := pty.Text(nil, from, to)
		return err == nil && strings.Contains(string(text), words)
	})
}

// eventually waits for a state that nothing announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// view opens the byte lane of a terminal, or returns the status of the refusal. A person gets a ticket, if they can.
func (a *actor) view(it subject, since string) (*lane, int) {
	a.t.Helper()
	query := map[string][]string{"session_id": {it.id}}
	if since != "" {
		query["since"] = []string{since}
	}
	if a.origin != "" {
		query["ticket"] = []string{a.ticket(it.id)}
	}
	conn, status := a.upgrade(query)
	if conn == nil {
		return nil, status
	}
	a.t.Cleanup(func() { _ = conn.CloseNow() })
	return &lane{t: a.t, conn: conn}, status
}

// asks sends a control frame, or for "" input, and returns the error that came for it, or nil, once all before was done.
func (l *lane) asks(control, input string) *frame {
	l.t.Helper()
	if control != "" {
		l.tells("%s", control)
	} else {
		l.types(input)
	}
	l.frames = nil
	l.tells(`{"type":"ping"}`)
	for {
		if err := l.next(); err != nil {
			l.t.Fatalf("waiting for a pong: %v", err)
		}
		for i, f := range l.frames {
			if f.Type == "error" {
				return &l.frames[i]
			}
			if f.Type == "pong" {
				return nil
			}
		}
	}
}
