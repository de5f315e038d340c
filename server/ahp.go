package server

import (
	"context"
	"net/http"

	"github.com/coder/websocket"

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
	up := &upgrade{ResponseWriter: w}
	conn, err := websocket.Accept(up, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the router's Origin check has decided
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.metrics.attachError("upgrade")
		return // Accept has answered
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
	s.metrics.closed(int(s.ahp.Serve(ctx, conn, up.conn, identity)))
}
