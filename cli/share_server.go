package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"tandem/cli/share"
	"tandem/server"
)

// askWithin bounds a request to a server on this machine.
const askWithin = 10 * time.Second

// tokenServer is a server that lets in whoever has the token.
type tokenServer struct {
	url   string
	token string
	tls   *tls.Config
}

func (s tokenServer) String() string { return s.url }

// Access returns what was given.
func (s tokenServer) Access(context.Context) (share.Access, error) {
	return share.Access{URL: s.url, Token: s.token, TLS: s.tls}, nil
}

// localServer is the server that runs on a data directory of this user, who may log in there by a link from the admin
// socket. So may this process: the terminal is one of the person's own.
type localServer struct {
	dataDir string
	url     string // without a slash at the end
	cookie  string // of the login; "" without one
	tls     *tls.Config
}

func (s *localServer) String() string { return s.url }

// Access logs in unless the login is in force. A server that was started again may have another address.
func (s *localServer) Access(ctx context.Context) (share.Access, error) {
	if status, err := s.ask(ctx, http.MethodGet, "/api/session", nil); err != nil || status != http.StatusOK {
		if err := s.logIn(ctx); err != nil {
			return share.Access{}, err
		}
	}
	return share.Access{URL: s.url, Header: s.header(), TLS: s.tls}, nil
}

// logIn logs in by a link. It returns an error that is server.ErrNotRunning if there is no server.
func (s *localServer) logIn(ctx context.Context) error {
	link, err := server.AskLoginLink(ctx, s.dataDir)
	if err != nil {
		return err
	}
	if s.tls, err = server.ClientTLS(s.dataDir); err != nil {
		return err
	}
	base, secret, _ := strings.Cut(link, "#login=")
	s.url, s.cookie = strings.TrimRight(base, "/"), ""
	body, err := json.Marshal(map[string]string{"secret": secret})
	if err != nil {
		return err
	}
	status, err := s.ask(ctx, http.MethodPost, "/api/login/link", body)
	if err != nil {
		return fmt.Errorf("log in at %s: %w", s.url, err)
	}
	if status != http.StatusNoContent {
		return fmt.Errorf("log in at %s: the server answers %d", s.url, status)
	}
	return nil
}

// logOut ends the login, if it can.
func (s *localServer) logOut(ctx context.Context) {
	_, _ = s.ask(ctx, http.MethodPost, "/api/logout", nil)
}

// ask sends a request and returns the status of the answer. A cookie that comes with it is kept.
func (s *localServer) ask(ctx context.Context, method, path string, body []byte) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header = s.header()
	request.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{TLSClientConfig: s.tls, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for _, cookie := range response.Cookies() {
		s.cookie = cookie.Name + "=" + cookie.Value
	}
	return response.StatusCode, nil
}

// header says who asks. The list of logins, and the page at the terminal, show the name of this machine.
func (s *localServer) header() http.Header {
	header := http.Header{}
	if u, err := url.Parse(s.url); err == nil {
		header.Set("Origin", u.Scheme+"://"+u.Host)
	}
	if s.cookie != "" {
		header.Set("Cookie", s.cookie)
	}
	name, _ := os.Hostname()
	header.Set("User-Agent", name)
	return header
}
