package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"tandem/cli/share"
	"tandem/server"
)

const (
	// tokenEnv holds a token. Programs that are shared do not get it: what they print is seen by others.
	tokenEnv = "TANDEM_TOKEN"

	// defaultServer is where a server listens unless it was told otherwise.
	defaultServer = "http://127.0.0.1:8600"
)

// makeToken is the command that makes what is needed to share.
const makeToken = `"tandem token create --name NAME --scope terminals:read,terminals:write"`

// shareCommand shows the terminal that it is run in to a server.
type shareCommand struct {
	Command []string `arg:"" optional:"" passthrough:"partial" help:"Command to share, with its arguments (a shell)."`

	To          string `placeholder:"URL" help:"Server, as its page is opened: https://tandem.example.org (the one that runs on --data)."`
	Name        string `env:"-" placeholder:"NAME" help:"Name of the terminal there (what the program sets as the title)."`
	TokenFile   string `type:"path" placeholder:"FILE" help:"Log in with the token on the first line of FILE. The variable TANDEM_TOKEN can hold it as well. A server on --data needs none."`
	Fingerprint string `placeholder:"SHA256" help:"Fingerprint of the server's certificate, if it has made that itself: it prints it as it starts."`
}

// Validate is called by kong.
func (c *shareCommand) Validate() error {
	if c.To != "" {
		u, err := url.Parse(c.To)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return fmt.Errorf("--to %s: want an address such as https://tandem.example.org", c.To)
		}
	}
	if c.Fingerprint != "" {
		if _, err := share.ParseFingerprint(c.Fingerprint); err != nil {
			return fmt.Errorf("--fingerprint: %w", err)
		}
		if !strings.HasPrefix(c.To, "https:") {
			return errors.New("--fingerprint: only a server that --to names with https has a certificate")
		}
	}
	if len(c.Command) > 0 && c.Command[0] == "--" { // which kong leaves in
		c.Command = c.Command[1:]
	}
	return nil
}

// exitCode is the exit code of a program that was run, as an error that says nothing.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Run shares until the program ends, and passes its exit code on.
func (c *shareCommand) Run(g *grammar) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return share.ErrNoTerminal // before the server is asked for anything
	}
	ctx := context.Background()
	where, err := c.server(ctx, g.Data)
	if err != nil {
		return err
	}
	code, err := share.Run(ctx, share.Config{
		Server:  where,
		Name:    c.Name,
		Command: c.Command,
		Env:     slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, tokenEnv+"=") }),
		In:      os.Stdin,
		Out:     os.Stdout,
		Notes:   os.Stderr,
	})
	if local, ok := where.(*localServer); ok {
		local.logOut(ctx)
	}
	if err == nil && code != 0 {
		return exitCode(code)
	}
	return err
}

// server returns where to share: with a token where it says, else where the person may do everything anyway.
func (c *shareCommand) server(ctx context.Context, dataDir string) (share.Server, error) {
	token, err := givenToken(c.TokenFile)
	if err != nil {
		return nil, err
	}
	if token == "" && c.To != "" {
		return nil, fmt.Errorf("%s needs a token: make one there with %s, and give it in %s or with --token-file", c.To, makeToken, tokenEnv)
	}
	if token == "" {
		local := &localServer{dataDir: dataDir}
		if err := local.logIn(ctx); errors.Is(err, server.ErrNotRunning) {
			return nil, fmt.Errorf("no server runs on the data directory %s: name one with --to URL, and give a token for it, which %s makes there", dataDir, makeToken)
		} else if err != nil {
			return nil, err
		}
		return local, nil
	}
	if u, err := url.Parse(c.To); err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		fmt.Fprintf(os.Stderr, "tandem: the token, and everything that is shown, goes to %s unencrypted\n", u.Host)
	}
	remote := tokenServer{url: strings.TrimRight(c.To, "/"), token: token}
	if c.To == "" {
		remote.url = runningServer(ctx, dataDir)
	}
	if c.Fingerprint != "" {
		fingerprint, err := share.ParseFingerprint(c.Fingerprint)
		if err != nil {
			return nil, err
		}
		remote.tls = fingerprint.TLS()
	} else if c.To == "" {
		if remote.tls, err = server.ClientTLS(dataDir); err != nil {
			return nil, err
		}
	}
	return remote, nil
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// runningServer returns the address of the server on a data directory, or the usual one.
func runningServer(ctx context.Context, dataDir string) string {
	link, err := server.AskLoginLink(ctx, dataDir)
	if err != nil {
		return defaultServer
	}
	base, _, _ := strings.Cut(link, "#")
	return cmp.Or(strings.TrimRight(base, "/"), defaultServer)
}

// givenToken returns the token from a file or the environment, or "".
func givenToken(file string) (string, error) {
	token := os.Getenv(tokenEnv)
	if file == "" {
		return token, nil
	}
	if token != "" {
		return "", errors.New("--token-file and " + tokenEnv + " exclude each other: give one")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if token = firstLine(content); token == "" {
		return "", fmt.Errorf("the first line of %s is empty: it should be the token", file)
	}
	return token, nil
}
