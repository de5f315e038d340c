package server

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"tandem/ptymgr"
	"tandem/server/login"
)

// terminalJSON is a terminal as the REST API shows it.
type terminalJSON struct {
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	Cwd        string    `json:"cwd"`
	Cols       int       `json:"cols"`
	Rows       int       `json:"rows"`
	PID        int       `json:"pid"`
	Created    time.Time `json:"created"`
	ExitCode   *int      `json:"exit_code"` // null while the process runs
	Signal     string    `json:"signal,omitempty"`
	Viewers    int       `json:"viewers"`
	Claim      claimJSON `json:"claim"`
	Foreground string    `json:"foreground"` // name of the foreground process
	Busy       bool      `json:"busy"`       // something other than the shell itself runs
}

// claimJSON says who drives a terminal.
type claimJSON struct {
	Kind string `json:"kind"`
}

func showTerminal(t *ptymgr.Terminal) terminalJSON {
	info := t.Info()
	shown := terminalJSON{
		ID: info.ID, Title: info.Title, Cwd: info.Dir, Cols: info.Size.Cols, Rows: info.Size.Rows, PID: info.PID,
		Created: info.Created, Viewers: info.Viewers, Claim: claimJSON{"person"},
		Foreground: info.Foreground, Busy: info.Busy,
	}
	if info.Exit != nil {
		shown.ExitCode, shown.Signal = &info.Exit.Code, info.Exit.Signal
	}
	return shown
}

func (s *Server) listTerminals(w http.ResponseWriter, _ *http.Request) {
	shown := []terminalJSON{}
	for _, t := range s.terminals.List() {
		shown = append(shown, showTerminal(t))
	}
	writeJSON(w, http.StatusOK, shown)
}

func (s *Server) createTerminal(w http.ResponseWriter, r *http.Request) {
	var want struct {
		Shell   string            `json:"shell"`
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Cwd     string            `json:"cwd"`
		Env     map[string]string `json:"env"`
		Cols    *int              `json:"cols"`
		Rows    *int              `json:"rows"`
		Name    string            `json:"name"`
	}
	if !decode(w, r, &want) {
		return
	}
	spec := ptymgr.Spec{
		Shell: want.Shell, Command: want.Command, Args: want.Args, Dir: want.Cwd, Env: want.Env, Name: want.Name,
	}
	if want.Cols != nil || want.Rows != nil {
		if want.Cols == nil || want.Rows == nil {
			writeProblem(w, problemDetails{Status: http.StatusBadRequest, Field: "size", Detail: "cols and rows go together"})
			return
		}
		spec.Size = ptymgr.Size{Cols: *want.Cols, Rows: *want.Rows}
		if spec.Size == (ptymgr.Size{}) {
			spec.Size.Cols = -1 // zeros are no size, though the Spec takes them for the default
		}
	}
	t, err := s.terminals.Create(spec)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	caller, _ := login.From(r.Context())
	ticket, _, err := s.tickets.issue(t.ID(), caller.ID)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	w.Header().Set("Location", s.base+"api/terminals/"+t.ID())
	writeJSON(w, http.StatusCreated, struct {
		Terminal terminalJSON `json:"terminal"`
		Ticket   string       `json:"ticket"`
	}{showTerminal(t), ticket})
}

// terminal returns the terminal that the path names, or answers with 404 and returns nil.
func (s *Server) terminal(w http.ResponseWriter, r *http.Request) *ptymgr.Terminal {
	t, ok := s.terminals.Get(chi.URLParam(r, "id"))
	if !ok {
		problem(w, http.StatusNotFound, noTerminal)
	}
	return t
}

func (s *Server) getTerminal(w http.ResponseWriter, r *http.Request) {
	if t := s.terminal(w, r); t != nil {
		writeJSON(w, http.StatusOK, showTerminal(t))
	}
}

func (s *Server) patchTerminal(w http.ResponseWriter, r *http.Request) {
	t := s.terminal(w, r)
	if t == nil {
		return
	}
	var want struct {
		Title *string `json:"title"`
	}
	if !decode(w, r, &want) {
		return
	}
	if want.Title != nil {
		if err := ptymgr.CheckName(*want.Title); err != nil {
			writeProblem(w, problemDetails{Status: http.StatusBadRequest, Field: "title", Detail: "title: " + err.Error()})
			return
		}
		t.Rename(*want.Title)
	}
	writeJSON(w, http.StatusOK, showTerminal(t))
}

func (s *Server) deleteTerminal(w http.ResponseWriter, r *http.Request) {
	if err := s.terminals.Dispose(r.Context(), chi.URLParam(r, "id")); err != nil {
		s.terminalProblem(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) createTicket(w http.ResponseWriter, r *http.Request) {
	t := s.terminal(w, r)
	if t == nil {
		return
	}
	caller, _ := login.From(r.Context())
	ticket, expires, err := s.tickets.issue(t.ID(), caller.ID)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, struct {
		Ticket  string    `json:"ticket"`
		Expires time.Time `json:"expires"`
	}{ticket, expires})
}
