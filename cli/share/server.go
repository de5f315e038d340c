package share

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"tandem/ahp/client"
)

// dialWithin bounds the way to the server: name, TCP, TLS, upgrade.
const dialWithin = 15 * time.Second

// Server is where a terminal is shared with, and how to get in.
type Server interface {
	// Access returns what the next connection is made with. It is asked before each, and may ask the server first.
	Access(ctx context.Context) (Access, error)

	// String names the server for people.
	String() string
}

// Access is what a connection is made with.
type Access struct {
	URL    string      // of the server, without a slash at the end: http or https
	Token  string      // sent as a bearer token, if any
	Header http.Header // sent as well
	TLS    *tls.Config // nil for the usual one
}

// connection is one to the host.
type connection struct {
	*client.Client
	sockets *sockets
}

// close ends the connection. If lost, nothing is waited for, and what was not sent yet never is: it may be sent again on
// another connection, and must not come late.
func (c *connection) close(lost bool) {
	if lost {
		c.sockets.abort()
	}
	c.Client.Close()
}

// connect connects to the server.
func connect(ctx context.Context, server Server, clientID string) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	access, err := server.Access(ctx)
	if err != nil {
		return nil, err
	}
	s := &sockets{}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: s.dial, TLSClientConfig: access.TLS, DisableKeepAlives: true,
	}
	// The answer to a failed upgrade says why, but client.Dial does not show it.
	refused := &refusals{RoundTripper: transport}
	c, err := client.Dial(ctx, access.URL+"/ahp", client.Options{
		ClientID: clientID, Token: access.Token, Header: access.Header, HTTPClient: &http.Client{Transport: refused},
	})
	if err != nil {
		transport.CloseIdleConnections()
		if refused.with != nil {
			return nil, refused.with
		}
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // the rest is about the upgrade, which is of no use to people
		}
		if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			err = fmt.Errorf("%w (if the server has made its certificate itself, give the fingerprint that it prints as it starts with --fingerprint)", err)
		}
		return nil, fmt.Errorf("%s: %w", server, err)
	}
	return &connection{c, s}, nil
}

// StatusError is a server's refusal to let a client in.
type StatusError struct {
	Status int
	Detail string // why, in the server's words; may be empty
}

func (e *StatusError) Error() string {
	switch {
	case e.Status == http.StatusUnauthorized:
		return "the server does not take the token: make one there with tandem token create --name NAME --scope terminals:read,terminals:write"
	case e.Status == http.StatusNotFound:
		return "there is no Tandem at this address: give the address that its page has"
	case e.Detail != "":
		return fmt.Sprintf("the server refuses: %s (%d)", e.Detail, e.Status)
	}
	return fmt.Sprintf("the server answers %d %s", e.Status, http.StatusText(e.Status))
}

// refusals keeps a response that is not an upgrade.
type refusals struct {
	http.RoundTripper
	with *StatusError // nil for none; read after the round trip
}

func (r *refusals) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.RoundTripper.RoundTrip(request)
	if err != nil || response.StatusCode == http.StatusSwitchingProtocols {
		return response, err
	}
	var problem struct { // RFC 9457
		Detail string `json:"detail"`
	}
	_ = json.NewDecoder(io.LimitReader(response.Body, 4<<10)).Decode(&problem)
	r.with = &StatusError{response.StatusCode, problem.Detail}
	return response, nil
}

// sockets are those of one connection: it has no way to be cut off by itself.
type sockets struct {
	mu   sync.Mutex // guards open
	open []net.Conn
}

func (s *sockets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, conn)
	return conn, nil
}

// abort resets the sockets: the kernel drops what it has not sent.
func (s *sockets) abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.open {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

var errNoRemote = errors.New("the server is too old: it takes no terminals that run elsewhere")
