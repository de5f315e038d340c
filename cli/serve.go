package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tandem/server"
)

// serveCommand has the server's options. Kong gives each flag its variable in the environment.
type serveCommand struct {
	Dir string `arg:"" optional:"" help:"Where new shells start (the home directory)."`

	Listen           string        `default:"127.0.0.1:8600" placeholder:"HOST:PORT" help:"Address to listen on; port 0 takes a free one (${default})."`
	Shell            string        `placeholder:"PATH" help:"Shell of new terminals (the user's login shell)."`
	ShellIntegration bool          `default:"true" negatable:"" help:"Make bash, zsh and fish mark their commands (${default})."`
	MaxTerminals     int           `default:"10" placeholder:"N" help:"Live terminals allowed (${default})."`
	LogBytes         int           `default:"4194304" placeholder:"BYTES" help:"Output kept per terminal, at least 1 MiB (4 MiB)."`
	ClaimGrace       time.Duration `default:"30s" placeholder:"TIME" help:"How long a program that disconnects keeps the terminals it holds (${default})."`
	ShareGrace       time.Duration `default:"30s" placeholder:"TIME" help:"How long a terminal shared from elsewhere outlives its connection (${default})."`
	PasswordFile     string        `type:"path" placeholder:"FILE" help:"Log in with the password on the first line of FILE instead of the stored one. The variable TANDEM_PASSWORD can hold it as well."`

	TLS           string   `name:"tls" default:"off" enum:"off,self-signed" placeholder:"self-signed" help:"Make a certificate, keep it in the data directory, and print its fingerprint."`
	TLSCert       string   `name:"tls-cert" type:"path" placeholder:"FILE" help:"Certificate chain in PEM, for TLS."`
	TLSKey        string   `name:"tls-key" type:"path" placeholder:"FILE" help:"Its key in PEM."`
	BehindProxy   bool     `help:"A reverse proxy in front does TLS and sets X-Forwarded-For; nothing else reaches this address."`
	TrustedOrigin []string `placeholder:"ORIGIN" help:"Further origin that the page is opened from, such as https://tandem.example.org. Repeatable."`
	BasePath      string   `placeholder:"/PATH" help:"Path that a proxy serves it under (/)."`

	logFlags `embed:""`
}

// Validate is called by kong.
func (c *serveCommand) Validate() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("--listen %s: want an address and a port, such as 127.0.0.1:8600", c.Listen)
	}
	if c.MaxTerminals < 1 {
		return errors.New("--max-terminals: want 1 or more")
	}
	if c.ClaimGrace < 0 || c.ShareGrace < 0 {
		return errors.New("--claim-grace and --share-grace: want 0 or more")
	}
	if c.LogBytes < 1<<20 {
		return errors.New("--log-bytes: want 1048576 or more")
	}
	if strings.ContainsAny(c.BasePath, "?#% ") {
		return fmt.Errorf("--base-path %s: want a plain path, such as /tandem", c.BasePath)
	}
	if c.Shell != "" {
		if _, err := exec.LookPath(c.Shell); err != nil {
			return fmt.Errorf("--shell: %w", err)
		}
	}
	if c.Dir == "" {
		return nil
	}
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is neither a command nor a directory", c.Dir)
	}
	return nil
}

// Run serves until a signal.
func (c *serveCommand) Run(g *grammar) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	surviveBrokenPipes()
	keepMemoryFlat()
	ctx, stop := untilStopped()
	defer stop()

	dir, err := server.OpenDataDir(g.Data, cfg.Logger)
	if err != nil {
		return err
	}
	defer dir.Close()
	cfg.DataDir = dir.Path
	listener, at, err := server.Listen(cfg)
	if err != nil {
		return err
	}
	defer listener.Close()
	cfg.Listen, cfg.URL = at.Addr, at.URL
	admin, err := server.ListenAdmin(dir)
	if err != nil {
		return err
	}
	defer admin.Close()
	s, err := server.New(cfg)
	if err != nil {
		return err
	}

	greet(os.Stdout, cfg, s.NewLink(), at.Fingerprint)
	return serve(ctx, s, listener, admin, cfg)
}

// orNone turns a grace of 0 into the server's word for none.
func orNone(grace time.Duration) time.Duration {
	if grace == 0 {
		return -1
	}
	return grace
}

// config is what the command line says; where the server listens and keeps its data is not known yet.
func (c *serveCommand) config() (server.Config, error) {
	password, err := givenPassword(c.PasswordFile)
	if err != nil {
		return server.Config{}, err
	}
	cfg := server.Config{
		Listen:           c.Listen,
		ShellIntegration: c.ShellIntegration,
		MaxTerminals:     c.MaxTerminals,
		ClaimGrace:       orNone(c.ClaimGrace),
		ShareGrace:       orNone(c.ShareGrace),
		LogBytes:         c.LogBytes,
		Password:         password,
		TrustedOrigins:   c.TrustedOrigin,
		TLSCert:          c.TLSCert,
		TLSKey:           c.TLSKey,
		SelfSigned:       c.TLS == "self-signed",
		BehindProxy:      c.BehindProxy,
		BasePath:         c.BasePath,
		Version:          version(),
		Logger:           c.logger(os.Stderr),
	}
	if c.Dir != "" {
		if cfg.Dir, err = filepath.Abs(c.Dir); err != nil {
			return server.Config{}, fmt.Errorf("find the directory for new shells: %w", err)
		}
	}
	if c.Shell != "" {
		shell, err := exec.LookPath(c.Shell)
		if err != nil {
			return server.Config{}, fmt.Errorf("find the shell: %w", err)
		}
		if cfg.Shell, err = filepath.Abs(shell); err != nil {
			return server.Config{}, fmt.Errorf("find the shell: %w", err)
		}
	}
	return cfg, nil
}

// serve runs both doors of the server until ctx ends or one of them fails, and returns when both have closed.
func serve(ctx context.Context, s *server.Server, listener, admin net.Listener, cfg server.Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	adminEnded := make(chan error, 1)
	go func() {
		defer cancel()
		adminEnded <- server.ServeAdmin(ctx, admin, s, cfg.Logger)
	}()
	err := s.Serve(ctx, listener)
	cancel()
	return errors.Join(err, <-adminEnded)
}

// greet tells the person at the keyboard how to go on.
func greet(out io.Writer, cfg server.Config, link, fingerprint string) {
	fmt.Fprintf(out, "Tandem %s\n\n", cfg.Version)
	fmt.Fprintf(out, "  Open         %s\n", link)
	fmt.Fprintf(out, "               (once, within 15 minutes; \"tandem login-link\" makes another)\n")
	fmt.Fprintf(out, "  Listening    %s\n", cfg.Listen)
	if fingerprint != "" {
		fmt.Fprintf(out, "  Certificate  self-signed; the browser warns, and should show this SHA-256 fingerprint:\n")
		fmt.Fprintf(out, "               %s\n", fingerprint)
	}
	fmt.Fprintf(out, "  Data         %s\n\n", cfg.DataDir)
	fmt.Fprintf(out, "Ctrl-C stops the server and its terminals.\n")
}
