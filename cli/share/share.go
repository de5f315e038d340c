// Package share runs a program in the terminal that a person sits at, and mirrors what it prints to a Tandem server, where
// it is a terminal that others watch.
//
// The person's terminal comes first: it goes on when the server is away, and waits for a slow network no more than can be
// felt.
package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// farewell is how long the end of the output may take to reach the server once the program has ended.
const farewell = 5 * time.Second

// ErrNoTerminal says that there is nothing to share.
var ErrNoTerminal = errors.New("standard input is no terminal: run this in the terminal that is to be shared")

// Config is what is shared, and where.
type Config struct {
	Server  Server
	Name    string   // of the terminal there; "" leaves it to what the program sets
	Command []string // with its arguments; empty means the user's shell
	Env     []string // of the program
	In      *os.File // the person's terminal
	Out     *os.File // where the person sees the output
	Notes   io.Writer
}

// Run runs the program until it ends and returns its exit code, 128 and its number for a signal. It connects to the server
// before it starts the program, and an error says that it did not start. From then on the connection may come and go: what
// the server has missed it gets later. If the terminal is disposed of there, a shell goes on without being shared, and a
// command is ended, as it is when ctx ends.
//
// The person's terminal is in raw mode meanwhile, and what it was before at every end, a panic's included.
func Run(ctx context.Context, cfg Config) (code int, err error) {
	tty, err := openTTY(cfg.In, cfg.Out)
	if err != nil {
		return 0, err
	}
	size, err := tty.size()
	if err != nil {
		return 0, err
	}
	m := newMirror(cfg.Server, cfg.Name, size)
	if err := m.open(ctx); err != nil {
		return 0, err
	}
	defer m.close()
	p, err := startProgram(cfg.Command, cfg.Env, size)
	if err != nil {
		return 0, errors.Join(err, m.dispose(ctx))
	}
	fmt.Fprintln(cfg.Notes, notice(cfg))
	code, err = relay(ctx, tty, p, m, len(cfg.Command) > 0)
	if err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx) // it ended the program, of which the server is still to know
	}
	m.finish(ctx, code, farewell)
	for _, note := range m.summary() {
		fmt.Fprintln(cfg.Notes, "tandem: "+note)
	}
	return code, nil
}

// notice is the line before the program starts.
func notice(cfg Config) string {
	until := "the shell"
	if len(cfg.Command) > 0 {
		until = "the command"
	}
	return fmt.Sprintf("Sharing this terminal with %s until %s ends.", cfg.Server, until)
}
