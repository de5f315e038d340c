// Package cli is the command line of tandem: flags, environment, and what the commands print.
package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// Exit codes of Run.
const (
	exitFailure = 1
	exitUsage   = 2
)

const description = `Terminals in the browser: shells that keep running when a page is reloaded or the network goes away.

Start the server and open the link that it prints:

  tandem                          shells start in the home directory
  tandem ~/project                shells start in ~/project
  tandem --listen 127.0.0.1:0     on a free port

From other machines, with a certificate made for the purpose:

  tandem --listen 0.0.0.0:8600 --tls self-signed

While it runs, from another shell:

  tandem login-link               print a link for one more login
  tandem password                 set a password to log in with

To see the terminal that you sit at in a tab too:

  tandem share                    a shell; tandem share -- make runs a command

For programs, such as agents:

  tandem token create --name claude --scope terminals:read,terminals:write

"tandem serve --help" lists the server's options. Every option can be given in the environment too: --max-terminals 20 is TANDEM_MAX_TERMINALS=20.`

// grammar is what kong reads the command line into.
type grammar struct {
	Serve     serveCommand     `cmd:"" default:"withargs" help:"Run the server. This is what tandem does without a command."`
	Password  passwordCommand  `cmd:"" help:"Set the password, which is asked for twice, or read from standard input. All logins and login links end; the tokens of programs do not."`
	LoginLink loginLinkCommand `cmd:"" help:"Print a link that logs in one browser, once, within 15 minutes. The server must run."`
	Token     tokenCommand     `cmd:"" help:"Make, list and revoke the tokens of programs."`
	Share     shareCommand     `cmd:"" help:"Show the terminal that this runs in to a server, where it is a tab, until the shell or command ends."`
	Version   versionCommand   `cmd:"" help:"Print the version."`

	Data string `default:"${data}" placeholder:"DIR" help:"Directory for password, logins and keys; each server needs its own (${data})."`
}

// Validate is called by kong.
func (g *grammar) Validate() error {
	if g.Data == "" {
		return errors.New("this user has no home directory: name a directory with --data")
	}
	return nil
}

// Run carries out the command line of the process and returns its exit code: 0, 1 after a failure, 2 if the command
// line was wrong, or that of the program that was run. Errors go to standard error. It may end the process itself (--help).
func Run() int {
	var g grammar
	parser := kong.Must(&g,
		kong.Name("tandem"),
		kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.DefaultEnvars("TANDEM"),
		kong.Vars{"data": defaultDataDir()},
	)
	command, err := parser.Parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem: %v\nRun \"tandem --help\" for how to use it.\n", err)
		return exitUsage
	}
	err = command.Run(&g)
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem: %v\n", err)
		return exitFailure
	}
	return 0
}

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run() error {
	_, err := fmt.Println("tandem", version())
	return err
}

// version is the module's version: a release, or one that the go command made of the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}
