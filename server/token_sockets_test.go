package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/coder/websocket"

	"tandem/server/login"
)

// openAHP connects to the host of the Agent Host Protocol and says nothing.
func (c *client) openAHP(query string) *websocket.Conn {
	c.t.Helper()
	conn, response, err := websocket.Dial(context.Background(), c.server.url+"ahp"+query, &websocket.DialOptions{HTTPClient: c.http})
	if err != nil {
		c.t.Fatalf("%v: %v", err, response)
	}
	c.t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

func TestEndOfATokenEndsItsSockets(t *testing.T) {
	s := serve(t, nil)
	person := s.person(t)
	id, _ := person.create(bareBash)
	for name, end := range map[string]func() error{
		"revoked": func() error { return s.logins.RevokeToken("revoked") },
		"revoked by a command": func() error {
			command, err := login.OpenTokens(s.cfg.DataDir)
			if err != nil {
				return err
			}
			return errors.Join(command.RevokeToken("revoked by a command"), command.Close(), s.TokensChanged(context.Background()))
		},
		"expired": func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			var expires time.Time
			if name == "expired" {
				expires = time.Now().Add(3 * time.Second)
			}
			secret, token, err := s.logins.CreateToken(name, login.Scopes, expires)
			if err != nil {
				t.Fatal(err)
			}
			c := s.program(t, secret)
			conn, status := c.upgrade(url.Values{"session_id": {id}})
			if conn == nil {
				t.Fatalf("status %d without a ticket", status)
			}
			l := &lane{t: t, conn: conn}
			t.Cleanup(func() { _ = conn.CloseNow() })
			l.frame("ready")
			stranger := s.browser(t)
			hosts := []*websocket.Conn{c.openAHP(""), stranger.openAHP("?tkn=" + secret)}
			if over(token.Done()) {
				t.Fatal("the token ended too early")
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			if code := l.closed(); code != closeLoginEnded {
				t.Errorf("the terminal's socket closed with %d", code)
			}
			for _, conn := range hosts {
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				_, _, err := conn.Read(ctx)
				cancel()
				if code := websocket.CloseStatus(err); code != closeLoginEnded {
					t.Errorf("the host's socket ended with %v", err)
				}
			}
			if a := c.do("GET", "api/terminals", nil); a.status != http.StatusUnauthorized {
				t.Errorf("afterwards: %v", a)
			}
		})
	}
	if !person.loggedIn() {
		t.Error("the person was logged out")
	}
}
