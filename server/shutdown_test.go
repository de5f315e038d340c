package server

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
)

// Sockets that are being opened while the server goes away neither outlive it nor keep it.
func TestShutdownWhileSocketsAreOpened(t *testing.T) {
	s := serve(t, nil)
	c := s.person(t)
	id, _ := c.create(bareBash)
	tickets := make([]string, 200)
	for i := range tickets {
		tickets[i] = c.ticket(id)
	}
	var opened atomic.Int32
	some := make(chan struct{})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for _, ticket := range tickets[i*50 : i*50+50] {
				query := url.Values{"session_id": {id}, "ticket": {ticket}}
				conn, _, err := websocket.Dial(context.Background(), s.url+"ws/terminal?"+query.Encode(),
					&websocket.DialOptions{HTTPClient: c.http, HTTPHeader: http.Header{"Origin": {c.origin}}})
				if err != nil {
					return // the server is gone
				}
				defer conn.CloseNow()
				if opened.Add(1) == 20 {
					close(some)
				}
			}
		})
	}
	<-some
	s.stop()
	all.Wait()
}
