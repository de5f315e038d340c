package ptymgr

import (
	"crypto/rand"
	"os/exec"

	"tandem/ptymgr/shell"
)

// integrate makes the shell that cmd starts mark its commands, if the Manager is to and there is a way for this one. It
// returns what makes its marks true, or "" if it is left as it is.
func (m *Manager) integrate(cmd *exec.Cmd) (nonce string) {
	dir := m.cfg.ShellIntegration
	if dir == "" {
		return ""
	}
	// A shell whose script is missing would read no files of the person's: it is put there anew for each.
	if err := shell.Install(dir); err != nil {
		m.cfg.Logger.Warn("shells start without marking their commands", "error", err)
		return ""
	}
	nonce = rand.Text()
	args, env, ok := shell.Inject(cmd.Path, cmd.Args, cmd.Env, nonce, dir)
	if !ok {
		return ""
	}
	cmd.Args, cmd.Env = args, env
	return nonce
}
