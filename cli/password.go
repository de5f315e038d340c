package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"

	"tandem/server"
	"tandem/server/login"
)

type passwordCommand struct{}

// Run stores a password, and has a running server use it.
func (passwordCommand) Run(g *grammar) error {
	password, err := readPassword(os.Stdin, os.Stderr)
	if err != nil {
		return err
	}
	if err := storePassword(g.Data, password); err != nil {
		return err
	}
	err = server.TellPasswordChanged(context.Background(), g.Data)
	switch {
	case errors.Is(err, server.ErrNotRunning):
		fmt.Println("The password is set. It counts from the next start of the server.")
	case err != nil:
		return fmt.Errorf("the password is set, but counts only after a restart of the server: %w", err)
	default:
		fmt.Println("The password is set. All logins have ended, and so have unused login links.")
	}
	return nil
}

// storePassword works with and without a server on the data directory, which it makes if it is not there.
func storePassword(dataDir, password string) error {
	dir, err := server.PrepareDataDir(dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return login.SetPassword(context.Background(), dir, password)
}

// readPassword asks on a terminal, twice and without echo, and takes the first line of anything else.
func readPassword(in *os.File, prompts io.Writer) (string, error) {
	if !term.IsTerminal(int(in.Fd())) {
		content, err := io.ReadAll(io.LimitReader(in, login.MaxPassword+2)) // enough to see that it is too long
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		return firstLine(content), nil
	}
	defer restoreOnInterrupt(int(in.Fd()))()
	first, err := ask(in, prompts, "New password: ")
	if err != nil {
		return "", err
	}
	second, err := ask(in, prompts, "Again: ")
	if err != nil {
		return "", err
	}
	if !bytes.Equal(first, second) {
		return "", errors.New("the two passwords differ; nothing was changed")
	}
	return string(first), nil
}

func ask(in *os.File, prompts io.Writer, prompt string) ([]byte, error) {
	fmt.Fprint(prompts, prompt)
	answer, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(prompts)
	if err != nil {
		return nil, fmt.Errorf("read the password: %w", err)
	}
	return answer, nil
}

// restoreOnInterrupt sees to it that a terminal does not stay without echo if the process is interrupted while it asks.
// The function that it returns ends that.
func restoreOnInterrupt(fd int) (stop func()) {
	before, err := term.GetState(fd)
	if err != nil {
		return func() {}
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-interrupted:
			_ = term.Restore(fd, before)
			os.Exit(exitFailure)
		case <-ended:
		}
	})
	return func() {
		signal.Stop(interrupted)
		close(ended)
		watcher.Wait()
	}
}
