// Package server is the HTTP side of Tandem: login, the REST API, one WebSocket per terminal tab, and the page itself.
package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tandem/ahp"
	"tandem/ptymgr"
	"tandem/server/login"
	"tandem/sharing"
)

const (
	// requestsWithin and terminalsWithin bound how long either may take to end.
	requestsWithin  = 3 * time.Second
	terminalsWithin = 5 * time.Second

	// socketsWithin is how long shells wait for their sockets to have ended.
	socketsWithin = time.Second

	maxHeader = 32 << 10 // bytes
)

// Config is what a Server needs to know.
type Config struct {
	Listen           string        // host:port; Endpoint.Addr of the listener by the time of New
	URL              string        // what a person opens: Endpoint.URL of the listener
	DataDir          string        // holds password, logins, keys and the admin socket; must exist, mode 0700
	Dir              string        // where new shells start; "" means the home directory
	Shell            string        // of new terminals; "" means the user's login shell
	ShellIntegration bool          // whether shells are made to mark their commands
	MaxTerminals     int           // live terminals allowed; 0 means 10
	LogBytes         int           // output kept per terminal, in bytes; 0 means 4 MiB
	ClaimGrace       time.Duration // how long programs that disconnect keep their claims; 0 means 30 s, less not at all
	ShareGrace       time.Duration // how long terminals outlive the client that they run at; as ClaimGrace
	Password         string        // in place of the stored one; "" for none
	TrustedOrigins   []string      // origins beside the server's own, such as "https://tandem.example.org"
	TLSCert          string        // PEM files; both or none
	TLSKey           string
	SelfSigned       bool   // make a certificate
	BehindProxy      bool   // a reverse proxy speaks TLS and tells the client's address
	BasePath         string // path that the server lives under; "" or "/" means the root
	Version          string
	Logger           *slog.Logger // never receives secrets, input or output

	pingEvery time.Duration // between pings on a socket; 0 means the constant pingEvery, less in tests
}

func (c *Config) tls() bool { return c.TLSCert != "" || c.SelfSigned }

// Server serves the terminals of one person. Make it with New, run it with Serve, once.
type Server struct {
	cfg       Config
	base      string // path that the server lives under, with slashes at both ends
	log       *slog.Logger
	logins    *login.Store
	terminals *sharing.Manager
	ahp       *ahp.Host
	tickets   *tickets
	origins   *origins
	metrics   *metrics

	mu      sync.Mutex     // guards that no socket opens once the server is closing
	closing chan struct{}  // closed when the server begins to shut down
	sockets sync.WaitGroup // upgraded connections
}

// New opens the data directory and makes a Server. It serves nothing until Serve, which also releases what New opened.
func New(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, log: cfg.Logger, base: cleanBase(cfg.BasePath), closing: make(chan struct{})}
	err := checkBase(s.base)
	if err != nil {
		return nil, err
	}
	if s.origins, err = newOrigins(cfg.Listen, cfg.tls(), cfg.TrustedOrigins); err != nil {
		return nil, err
	}
	keys, err := loadKeys(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	s.logins, err = login.Open(cfg.DataDir, login.Options{
		Cookie: login.CookieOptions{
			Path: s.base, Secure: cfg.tls() || s.servedOverTLS(), Suffix: "-" + s.origins.port,
		},
		Password: cfg.Password,
		Logger:   cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	terminals := ptymgr.Config{
		MaxTerminals: cfg.MaxTerminals, LogBytes: cfg.LogBytes, Shell: cfg.Shell, Dir: cfg.Dir, Logger: cfg.Logger,
	}
	if cfg.ShellIntegration {
		terminals.ShellIntegration = filepath.Join(cfg.DataDir, "shell")
	}
	s.terminals = sharing.New(sharing.Config{
		Terminals: terminals,
		Grace:     cfg.ClaimGrace, RemoteGrace: cfg.ShareGrace,
		Trusted: s.logins.Trusted, Trust: s.logins.TrustToken, Logger: cfg.Logger,
	})
	s.ahp = ahp.NewHost(ahp.Config{Sharing: s.terminals, Version: cfg.Version, Logger: cfg.Logger, PingEvery: cfg.pingEvery})
	s.tickets = newTickets(keys.Hash, keys.Block, rand.Text())
	s.metrics = newMetrics(s.terminals, s.ahp)
	return s, nil
}

// servedOverTLS reports whether every origin that a proxy serves is https.
func (s *Server) servedOverTLS() bool {
	if !s.cfg.BehindProxy || len(s.origins.trusted) == 0 {
		return false
	}
	for origin := range s.origins.trusted {
		if !strings.HasPrefix(origin, "https://") {
			return false
		}
	}
	return true
}

// cleanBase returns base with one slash at each end.
func cleanBase(base string) string {
	base = path.Clean("/" + base)
	if base == "/" {
		return base
	}
	return base + "/"
}

// NewLink returns the URL of a fresh one-time login link. Its secret is in the fragment, which browsers keep to
// themselves.
func (s *Server) NewLink() string { return s.cfg.URL + "#login=" + s.logins.NewLink() }

// PasswordChanged reads the password anew and ends all logins.
func (s *Server) PasswordChanged(ctx context.Context) error { return s.logins.PasswordChanged(ctx) }

// Serve serves on ln until ctx ends, then shuts down: sockets are told to come back later, shells are ended, requests
// finish. It blocks until nothing is left, at most some seconds, and closes ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	h := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second, // these two end at an upgrade
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),

		DisableGeneralOptionsHandler: true, // it answers without a login
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(ln) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("serving: %w", err)
	}
	return errors.Join(err, s.shutDown(h))
}

// shutDown ends everything in the order in which people should learn of it: nothing new is taken, then sockets end, so
// that pages reconnect instead of taking the death of their shells for an exit, then shells.
func (s *Server) shutDown(h *http.Server) error {
	s.mu.Lock()
	close(s.closing)
	s.mu.Unlock()
	requests := make(chan struct{})
	go func() {
		defer close(requests)
		ctx, cancel := context.WithTimeout(context.Background(), requestsWithin)
		defer cancel()
		if h.Shutdown(ctx) != nil {
			_ = h.Close() // what is left are clients that hold on to a connection
		}
	}()
	select {
	case <-s.socketsEnded():
	case <-time.After(socketsWithin):
	}
	ctx, cancel := context.WithTimeout(context.Background(), terminalsWithin)
	defer cancel()
	err := s.terminals.Close(ctx)
	<-requests
	<-s.socketsEnded() // those of clients that do not answer
	s.ahp.Wait()
	return errors.Join(err, s.logins.Close())
}

// openSocket counts a connection that is about to be upgraded, unless the server is closing. The caller calls
// sockets.Done when it has ended.
func (s *Server) openSocket() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closing:
		return false
	default:
		s.sockets.Add(1)
		return true
	}
}

// socketsEnded returns a channel that is closed once all upgraded connections have ended.
func (s *Server) socketsEnded() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		s.sockets.Wait()
		close(ended)
	}()
	return ended
}
