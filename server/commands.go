package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"tandem/ptymgr"
	"tandem/sharing"
)

// commandJSON is a command as the REST API shows it.
type commandJSON struct {
	ID         string    `json:"id"`
	Line       string    `json:"line"`
	Cwd        string    `json:"cwd"`
	Started    time.Time `json:"started"`
	DurationMs *int64    `json:"duration_ms"` // null while it runs
	ExitCode   *int      `json:"exit_code"`   // null while it runs, and if the shell did not say
	Running    bool      `json:"running"`
}

func showCommand(c ptymgr.Command) commandJSON {
	shown := commandJSON{ID: c.ID, Line: c.Line, Cwd: c.Dir, Started: c.Started, ExitCode: c.Exit, Running: c.End < 0}
	if !shown.Running {
		shown.DurationMs = new(c.Duration.Milliseconds())
	}
	return shown
}

func (s *Server) listCommands(w http.ResponseWriter, r *http.Request) {
	t, client := s.terminal(w, r)
	if t == nil {
		return
	}
	defer client.Leave()
	commands, err := t.Commands(client)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	shown := []commandJSON{}
	for _, c := range commands {
		shown = append(shown, showCommand(c))
	}
	writeJSON(w, http.StatusOK, shown)
}

// commandOutput answers with what a command printed, as plain text.
func (s *Server) commandOutput(w http.ResponseWriter, r *http.Request) {
	t, client := s.terminal(w, r)
	if t == nil {
		return
	}
	defer client.Leave()
	text, err := t.CommandOutput(client, chi.URLParam(r, "command"))
	switch {
	case errors.Is(err, sharing.ErrNotFound):
		problem(w, http.StatusNotFound, "no such command: it was cleared, or is too long ago")
	case errors.Is(err, ptymgr.ErrOvertaken):
		problem(w, http.StatusGone, "the output is too long ago: the terminal keeps the newest --log-bytes")
	case err != nil:
		s.terminalProblem(w, err)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write(text) // the client may be gone
	}
}
