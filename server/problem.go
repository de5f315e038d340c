package server

import (
	"encoding/json"
	"errors"
	"net/http"

	"tandem/ptymgr"
	"tandem/sharing"
)

// problemDetails is an error as every door of the server tells it (RFC 9457). Its type is always "about:blank", which
// is what leaving it out means.
type problemDetails struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Field  string `json:"field,omitempty"` // which field of the request is wrong
	Limit  int    `json:"limit,omitempty"` // the limit that was reached
}

// problem answers with an error. detail says what is wrong and what to do.
func problem(w http.ResponseWriter, status int, detail string) {
	writeProblem(w, problemDetails{Status: status, Detail: detail})
}

func writeProblem(w http.ResponseWriter, p problemDetails) {
	p.Title = http.StatusText(p.Status)
	writeJSONAs(w, "application/problem+json", p.Status, p)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	writeJSONAs(w, "application/json", status, v)
}

func writeJSONAs(w http.ResponseWriter, contentType string, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic("server: answer does not marshal: " + err.Error())
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may be gone
}

// terminalProblem answers with an error of the terminal manager.
func (s *Server) terminalProblem(w http.ResponseWriter, err error) {
	var refusal *sharing.Refusal
	var limit *ptymgr.LimitError
	var spec *ptymgr.SpecError
	switch {
	case errors.Is(err, sharing.ErrNotFound):
		problem(w, http.StatusNotFound, noTerminal)
	case errors.As(err, &refusal):
		problem(w, http.StatusForbidden, refusal.Reason)
	case errors.As(err, &limit):
		writeProblem(w, problemDetails{
			Status: http.StatusConflict, Limit: limit.Limit,
			Detail: err.Error() + ": close a terminal first, or start tandem with a larger --max-terminals",
		})
	case errors.As(err, &spec):
		writeProblem(w, problemDetails{Status: http.StatusBadRequest, Field: spec.Field, Detail: err.Error()})
	case errors.Is(err, ptymgr.ErrClosed):
		problem(w, http.StatusServiceUnavailable, "the server is shutting down")
	default:
		s.log.Error("terminal", "error", err)
		problem(w, http.StatusInternalServerError, "the terminal could not be served; the server's log says more")
	}
}

const noTerminal = "no such terminal: it was closed, or the server has started anew since"
