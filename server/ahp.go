package server

import (
	"context"
	"net/http"

	"tandem/ahp"
)

// serveAHP serves one client of the Agent Host Protocol. The request is authenticated, and its Origin and Host are
// checked.
func (s *Server) serveAHP(w http.ResponseWriter, r *http.Request) {
	identity, done, _ := s.caller(r)
	if !s.openSocket() {
		problem(w, http.StatusServiceUnavailable, "the server is shutting down")
		return
	}
	defer s.sockets.Done()
	conn, below, ok := s.accept(w, r)
	if !ok {
		return
	}
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	served := make(chan struct{})
	defer close(served)
	go func() {
		select {
		case <-done:
			end(&ahp.CloseError{Code: closeLoginEnded, Reason: "login ended"})
		case <-s.closing:
			end(&ahp.CloseError{Code: closeGoingAway, Reason: "server going away"})
		case <-served:
		}
	}()
	s.metrics.closed(int(s.ahp.Serve(ctx, conn, below, identity)))
}
