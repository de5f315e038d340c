package cli

import (
	"context"
	"errors"
	"fmt"

	"tandem/server"
)

type loginLinkCommand struct{}

// Run prints a link from the running server, and nothing else, so that scripts can use it.
func (loginLinkCommand) Run(g *grammar) error {
	link, err := server.AskLoginLink(context.Background(), g.Data)
	if errors.Is(err, server.ErrNotRunning) {
		return fmt.Errorf("no server runs on the data directory %s: start one with tandem, or name another directory with --data", g.Data)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Println(link)
	return err
}
