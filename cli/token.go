package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"tandem/server"
	"tandem/server/login"
)

// tokenCommand has the commands for programs' tokens. They work with and without a server on the data directory.
type tokenCommand struct {
	Create createTokenCommand `cmd:"" help:"Make a token and print it. It is shown this once: only a hash of it is kept."`
	List   listTokensCommand  `cmd:"" help:"List the tokens in force."`
	Revoke revokeTokenCommand `cmd:"" help:"End a token. What is connected with it is cut off at once."`
}

type createTokenCommand struct {
	Name    string         `required:"" env:"-" placeholder:"NAME" help:"What people see the program as, such as claude."`
	Scope   []login.Scope  `required:"" env:"-" placeholder:"SCOPE" help:"What it is for: terminals:read (list and read), terminals:write (make, type, close), metrics:read (/metrics)."`
	Expires *time.Duration `env:"-" placeholder:"DURATION" help:"How long it lasts, such as 720h (until it is revoked)."`
}

// Validate is called by kong.
func (c *createTokenCommand) Validate() error {
	if err := login.CheckTokenName(c.Name); err != nil {
		return fmt.Errorf("--name: %w", err)
	}
	if err := login.CheckScopes(c.Scope); err != nil {
		return fmt.Errorf("--scope: %w", err)
	}
	if c.Expires != nil && *c.Expires <= 0 {
		return errors.New("--expires: want a time from now on, such as 720h")
	}
	return nil
}

// Run prints the token alone on standard output, so that scripts can use it.
func (c *createTokenCommand) Run(g *grammar) error {
	dir, err := server.PrepareDataDir(g.Data, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	tokens, err := login.OpenTokens(dir)
	if err != nil {
		return err
	}
	defer tokens.Close()
	var expires time.Time
	if c.Expires != nil {
		expires = time.Now().Add(*c.Expires)
	}
	secret, _, err := tokens.CreateToken(c.Name, c.Scope, expires)
	if err != nil {
		return err
	}
	fmt.Println(secret)
	fmt.Fprintln(os.Stderr, "Keep it now: it is not shown again. Programs send it as \"Authorization: Bearer TOKEN\".")
	if _, err := tellTokensChanged(g.Data); err != nil {
		return fmt.Errorf("the token is made, but counts only after a restart of the server: %w", err)
	}
	return nil
}

type listTokensCommand struct{}

// Run prints a table.
func (listTokensCommand) Run(g *grammar) error {
	tokens, err := storedTokens(g.Data)
	if err != nil {
		return err
	}
	if len(tokens) == 0 {
		fmt.Fprintln(os.Stderr, "There are no tokens: \"tandem token create\" makes one.")
		return nil
	}
	return printTokens(os.Stdout, tokens)
}

type revokeTokenCommand struct {
	Name string `arg:"" help:"The token's name."`
}

// Run returns once the token is worth nothing any more.
func (c *revokeTokenCommand) Run(g *grammar) error {
	if _, err := os.Stat(g.Data); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("revoke %s: %w", c.Name, login.ErrNoToken)
	}
	tokens, err := login.OpenTokens(g.Data)
	if err != nil {
		return err
	}
	defer tokens.Close()
	revoked := tokens.RevokeToken(c.Name)
	// Told even if there was nothing to revoke: a command before may have failed to.
	running, err := tellTokensChanged(g.Data)
	switch {
	case revoked != nil:
		return fmt.Errorf("revoke %s: %w", c.Name, revoked)
	case err != nil:
		return fmt.Errorf("the token is revoked, but the server goes on taking it until it is stopped: %w", err)
	case running:
		fmt.Printf("%s is revoked. What was connected with it has been cut off.\n", c.Name)
	default:
		fmt.Printf("%s is revoked.\n", c.Name)
	}
	return nil
}

// tellTokensChanged has a running server read the tokens anew, and reports whether there is one. A server that starts
// meanwhile opens its socket before it reads the tokens, so it has either read the change or is told here.
func tellTokensChanged(dataDir string) (running bool, err error) {
	err = server.TellTokensChanged(context.Background(), dataDir)
	if errors.Is(err, server.ErrNotRunning) {
		return false, nil
	}
	return err == nil, err
}

// storedTokens returns the tokens in force. A data directory that is not there has none, and is not made.
func storedTokens(dataDir string) ([]login.Token, error) {
	if _, err := os.Stat(dataDir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	tokens, err := login.OpenTokens(dataDir)
	if err != nil {
		return nil, err
	}
	defer tokens.Close()
	return tokens.Tokens(), nil
}

func printTokens(out io.Writer, tokens []login.Token) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSCOPES\tCREATED\tEXPIRES\tLAST USED\tMUST ASK")
	for _, t := range tokens {
		var scopes []string
		for _, scope := range t.Scopes {
			scopes = append(scopes, string(scope))
		}
		ask := "yes"
		if t.Trusted {
			ask = "no"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", t.Name, strings.Join(scopes, ","), minute(t.Created), minute(t.Expires), minute(t.LastUsed), ask)
	}
	return table.Flush()
}

// minute shows a time as people write it, and that there is none as "never".
func minute(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format("2006-01-02 15:04")
}
