package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"tandem/ptymgr"
	"tandem/sharing"
)

const (
	// maxMessage is the largest message taken from a client, in bytes; a larger one closes the socket with 1009.
	maxMessage = 2 << 20

	// keepMessage is the largest read buffer that is kept between messages, in bytes.
	keepMessage = 64 << 10

	// pingEvery keeps proxies from cutting an idle socket, most of which wait 60 s. A peer that has not answered by
	// the next ping is gone, and so is one that takes nothing for 5 s when it is to be pinged.
	pingEvery = 20 * time.Second

	// closeWithin is how long a client may take to answer a close, whatever it sends meanwhile.
	closeWithin = 3 * time.Second

	// maxReplies is how many pongs and errors wait for a client that does not read; more are dropped.
	maxReplies = 16
)

// Close codes of the byte lane; 4000 and up are for applications (RFC 6455 section 7.4.2).
const (
	closeDisposed   = websocket.StatusNormalClosure
	closeGoingAway  = websocket.StatusGoingAway
	closeLoginEnded = websocket.StatusCode(4401)
)

// serveByteLane serves one viewer of one terminal: binary frames for bytes, JSON text frames for control. The request
// is authenticated and its Origin and Host are checked; the ticket and the terminal are left to check.
func (s *Server) serveByteLane(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	id := query.Get("session_id")
	since, err := parseSince(query.Get("since"))
	if err != nil {
		s.metrics.attachError("since")
		problem(w, http.StatusBadRequest, err.Error())
		return
	}
	if err := s.redeemTicket(r, id); err != nil {
		s.metrics.attachError("ticket")
		problem(w, http.StatusForbidden, err.Error())
		return
	}
	client, err := s.join(r)
	if err != nil {
		s.metrics.attachError("terminal")
		s.terminalProblem(w, err)
		return
	}
	defer client.Leave()
	terminal, err := s.terminals.Get(client, id)
	if err != nil {
		s.metrics.attachError("terminal")
		s.terminalProblem(w, err)
		return
	}
	if !s.openSocket() {
		problem(w, http.StatusServiceUnavailable, "the server is shutting down")
		return
	}
	defer s.sockets.Done()
	conn, below, ok := s.accept(w, r)
	if !ok {
		return
	}
	conn.SetReadLimit(maxMessage)
	viewer, err := terminal.Attach(client, since)
	if err != nil { // it became private, or ended, just now
		_ = conn.Close(closeDisposed, "terminal disposed of")
		return
	}
	lane := &byteLane{
		conn:    conn,
		below:   below,
		viewer:  viewer,
		replies: make(chan reply, maxReplies),
		every:   cmp.Or(s.cfg.pingEvery, pingEvery),
	}
	_, done, _ := s.caller(r)
	code := lane.serve(done, s.closing)
	s.metrics.closed(int(code))
}

// parseSince returns the offset to continue from, or ptymgr.NoOffset for none.
func parseSince(since string) (int64, error) {
	if since == "" {
		return ptymgr.NoOffset, nil
	}
	offset, err := strconv.ParseInt(since, 10, 64)
	if err != nil || offset < 0 {
		return 0, errors.New("since is not an offset: it takes a whole number of bytes")
	}
	return offset, nil
}

// byteLane is one socket. Its reader never waits for its sender, nor the sender for the reader: acks, pongs and input
// are taken however full the client's receive buffer is. Only pings of the client's wait, since the library answers
// them as it reads, and hangs up if that takes 5 s.
type byteLane struct {
	conn    *websocket.Conn
	below   net.Conn // what conn writes to
	viewer  *sharing.Viewer
	replies chan reply
	every   time.Duration // between pings
}

// serve runs the socket until either side ends it, and returns the close code. All it started has ended by then.
func (l *byteLane) serve(loginEnded, closing <-chan struct{}) websocket.StatusCode {
	ctx, cancel := context.WithCancel(context.Background())
	ended := websocket.StatusCode(-1)
	var once sync.Once
	// end is called by whichever goroutine finds the first reason to end. What the client does about it no longer
	// matters to the terminal.
	end := func(code websocket.StatusCode, reason string, ours bool) {
		once.Do(func() {
			ended = code
			cancel()
			l.viewer.Close()
			// Not left to Close: that reads a message which is coming in to its end, however long it is.
			_ = l.below.SetDeadline(time.Now().Add(closeWithin))
			if ours {
				_ = l.conn.Close(code, reason)
			}
			_ = l.conn.CloseNow()
		})
	}
	var all sync.WaitGroup
	all.Go(func() {
		end(websocket.CloseStatus(l.receive(ctx)), "", false)
	})
	all.Go(func() { l.reply(ctx) })
	all.Go(func() {
		if l.keepAlive(ctx) != nil {
			end(websocket.StatusPolicyViolation, "no answer to pings", true)
		}
	})
	all.Go(func() {
		select {
		case <-loginEnded:
			end(closeLoginEnded, "login ended", true)
		case <-closing:
			end(closeGoingAway, "server going away", true)
		case <-ctx.Done():
		}
	})
	if errors.Is(l.send(ctx), ptymgr.ErrDisposed) {
		end(closeDisposed, "terminal disposed of", true)
	}
	<-ctx.Done()
	all.Wait()
	return ended
}

// send passes on what the viewer is to be told, until ctx ends or the terminal is disposed of. Writes take no context:
// one that could end them would cost an allocation each, and closing the connection ends them as well.
func (l *byteLane) send(ctx context.Context) error {
	for {
		ev, err := l.viewer.Next(ctx)
		if err != nil {
			return err
		}
		if ev.Kind == ptymgr.EventOutput {
			err = l.conn.Write(context.Background(), websocket.MessageBinary, ev.Data)
		} else {
			err = l.writeControl(eventFrame(ev))
		}
		if err != nil {
			return err // the reader sees it too, and ends the socket
		}
	}
}

func (l *byteLane) writeControl(frame any) error {
	p, err := json.Marshal(frame)
	if err != nil {
		panic("server: control frame does not marshal: " + err.Error())
	}
	return l.conn.Write(context.Background(), websocket.MessageText, p)
}

// receive takes frames from the client until the connection ends, and returns why it did.
func (l *byteLane) receive(ctx context.Context) error {
	var buf bytes.Buffer
	for {
		kind, r, err := l.conn.Reader(context.Background())
		if err != nil {
			return err
		}
		if _, err := buf.ReadFrom(r); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err() // what comes after the end is no input any more
		}
		if kind == websocket.MessageBinary {
			err = l.viewer.Input(buf.Bytes())
		} else {
			err = l.control(buf.Bytes())
		}
		if err != nil {
			l.enqueue(errorFrame(err))
		}
		buf.Reset()
		if buf.Cap() > keepMessage {
			buf = bytes.Buffer{}
		}
	}
}

// control carries out a control frame. An error says that it changed nothing.
func (l *byteLane) control(p []byte) error {
	frame, err := parseControl(p)
	if err != nil {
		return err
	}
	switch frame.Type {
	case "resize":
		return l.viewer.Resize(ptymgr.Size{Cols: frame.Cols, Rows: frame.Rows})
	case "ack":
		return l.viewer.Ack(frame.Offset)
	case "visible":
		l.viewer.SetVisible(frame.Visible)
	case "clear":
		return l.viewer.Clear()
	case "answer":
		return l.viewer.Answer([]byte(frame.Data))
	case "ping":
		l.enqueue(reply{Type: "pong"})
	}
	return nil
}

// enqueue hands a reply to the goroutine that writes them; with too many waiting it is dropped.
func (l *byteLane) enqueue(r reply) {
	select {
	case l.replies <- r:
	default:
	}
}

func (l *byteLane) reply(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-l.replies:
			if l.writeControl(r) != nil {
				return
			}
		}
	}
}

// keepAlive pings the client until ctx ends, or returns an error when an answer fails to come.
func (l *byteLane) keepAlive(ctx context.Context) error {
	ticker := time.NewTicker(l.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		ping, cancel := context.WithTimeout(ctx, l.every)
		err := l.conn.Ping(ping)
		cancel()
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}
