package server

import (
	"bufio"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// accept upgrades a request, whose Origin the router's check has allowed, and returns the socket and what it writes to; or
// it answers why not.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) (conn *websocket.Conn, below net.Conn, ok bool) {
	up := &upgrade{ResponseWriter: w}
	conn, err := websocket.Accept(up, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // that check has decided
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.metrics.attachError("upgrade") // Accept has answered
		return nil, nil, false
	}
	return conn, up.conn, true
}

// upgrade is the ResponseWriter for websocket.Accept. It keeps the connection that Accept takes over, since deadlines
// are set on that, and tells what is wrong with a handshake as a problem, like every other error.
type upgrade struct {
	http.ResponseWriter
	conn    net.Conn // nil until taken over
	refused bool
}

// Hijack is called by Accept.
func (u *upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	u.conn = conn
	return conn, rw, err
}

// WriteHeader is called by Accept.
func (u *upgrade) WriteHeader(status int) {
	u.refused = status >= http.StatusBadRequest
	if u.refused {
		problem(u.ResponseWriter, status, "this is no WebSocket handshake: see RFC 6455 section 4.2.1")
		return
	}
	u.ResponseWriter.WriteHeader(status)
}

// Write is called by Accept with its own words for a refusal.
func (u *upgrade) Write(p []byte) (int, error) {
	if u.refused {
		return len(p), nil
	}
	return u.ResponseWriter.Write(p)
}
