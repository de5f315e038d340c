package server

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"tandem/ptymgr"
	"tandem/server/login"
	"tandem/sharing"
)

// terminalJSON is a terminal as the REST API shows it.
type terminalJSON struct {
	ID         string    `json:"id"`
	Channel    string    `json:"channel"` // its URI in the Agent Host Protocol
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
	Mode       string    `json:"mode"`       // what programs may do: "private", "watch", "ask" or "share"
	Foreground string    `json:"foreground"` // name of the foreground process
	Remote     bool      `json:"remote"`     // its process runs at a client
	Busy       bool      `json:"busy"`       // something other than the shell itself runs
}

// claimJSON says who drives a terminal, as the Agent Host Protocol has it.
type claimJSON struct {
	Kind     string `json:"kind"` // "client" or "session"
	ClientID string `json:"client_id,omitempty"`
	Session  string `json:"session,omitempty"`
}

func showClaim(c sharing.Claim) claimJSON {
	if c.Session != nil {
		return claimJSON{Kind: "session", Session: c.Session.URI}
	}
	return claimJSON{Kind: "client", ClientID: c.Client}
}

func (s *Server) showTerminal(t *sharing.Terminal, c *sharing.Client) (terminalJSON, error) {
	info, err := t.Info(c)
	if err != nil {
		return terminalJSON{}, err
	}
	shown := terminalJSON{
		ID: info.ID, Channel: s.ahp.Resource(t), Title: info.Title, Cwd: info.Dir, Cols: info.Size.Cols, Rows: info.Size.Rows, PID: info.PID,
		Created: info.Created, Viewers: info.Viewers, Claim: showClaim(info.Claim), Mode: info.Mode.String(), Remote: info.Remote,
		Foreground: info.Foreground, Busy: info.Busy,
	}
	if info.Exit != nil {
		shown.ExitCode, shown.Signal = &info.Exit.Code, info.Exit.Signal
	}
	return shown, nil
}

// answerTerminal answers with a terminal as the client may see it.
func (s *Server) answerTerminal(w http.ResponseWriter, t *sharing.Terminal, c *sharing.Client) {
	shown, err := s.showTerminal(t, c)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	writeJSON(w, http.StatusOK, shown)
}

// join returns the caller as a client of the terminals, who is to Leave.
func (s *Server) join(r *http.Request) (*sharing.Client, error) {
	identity, _, _ := s.caller(r)
	return s.terminals.Join(identity, clientID(r))
}

func (s *Server) listTerminals(w http.ResponseWriter, r *http.Request) {
	client, err := s.join(r)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	defer client.Leave()
	list, err := s.terminals.List(client)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	shown := []terminalJSON{}
	for _, t := range list {
		if one, err := s.showTerminal(t, client); err == nil { // else it has just gone
			shown = append(shown, one)
		}
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
	client, err := s.join(r)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	defer client.Leave()
	t, err := s.terminals.Create(sharing.By{Client: client}, spec, nil)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	shown, err := s.showTerminal(t, client)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	made := struct {
		Terminal terminalJSON `json:"terminal"`
		Ticket   string       `json:"ticket,omitempty"` // programs need none
	}{Terminal: shown}
	if caller, ok := login.From(r.Context()); ok {
		if made.Ticket, _, err = s.tickets.issue(t.ID(), caller.ID); err != nil {
			s.terminalProblem(w, err)
			return
		}
	}
	w.Header().Set("Location", s.base+"api/terminals/"+t.ID())
	writeJSON(w, http.StatusCreated, made)
}

// terminal returns the terminal that the path names, and the caller, who is to Leave; or it answers why not and returns
// nil.
func (s *Server) terminal(w http.ResponseWriter, r *http.Request) (*sharing.Terminal, *sharing.Client) {
	client, err := s.join(r)
	if err != nil {
		s.terminalProblem(w, err)
		return nil, nil
	}
	t, err := s.terminals.Get(client, chi.URLParam(r, "id"))
	if err != nil {
		client.Leave()
		s.terminalProblem(w, err)
		return nil, nil
	}
	return t, client
}

func (s *Server) getTerminal(w http.ResponseWriter, r *http.Request) {
	if t, client := s.terminal(w, r); t != nil {
		defer client.Leave()
		s.answerTerminal(w, t, client)
	}
}

func (s *Server) patchTerminal(w http.ResponseWriter, r *http.Request) {
	t, client := s.terminal(w, r)
	if t == nil {
		return
	}
	defer client.Leave()
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
		if err := t.Rename(sharing.By{Client: client}, *want.Title); err != nil {
			s.terminalProblem(w, err)
			return
		}
	}
	s.answerTerminal(w, t, client)
}

func (s *Server) deleteTerminal(w http.ResponseWriter, r *http.Request) {
	client, err := s.join(r)
	if err != nil {
		s.terminalProblem(w, err)
		return
	}
	defer client.Leave()
	if err := s.terminals.Dispose(r.Context(), sharing.By{Client: client}, chi.URLParam(r, "id")); err != nil {
		s.terminalProblem(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) createTicket(w http.ResponseWriter, r *http.Request) {
	t, client := s.terminal(w, r)
	if t == nil {
		return
	}
	defer client.Leave()
	caller, ok := login.From(r.Context())
	if !ok {
		problem(w, http.StatusForbidden, "a token needs no ticket: open the socket with it")
		return
	}
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
