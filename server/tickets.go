package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/securecookie"

	"tandem/server/login"
)

// ticketLife is how long a ticket can be used.
const ticketLife = 60 * time.Second

// maxUsedTickets bounds the memory of used tickets: no login opens that many sockets within ticketLife.
const maxUsedTickets = 10_000

var errTicket = errors.New("the ticket is not valid here: it is unknown, expired, used, or for another terminal or login; get a new one")

// tickets lets a login open a terminal's socket once: browsers send cookies with every upgrade, but only our own page
// can read a ticket. A ticket is bound to one terminal, one login and one start of the server.
type tickets struct {
	codec *securecookie.SecureCookie
	boot  string
	now   func() time.Time

	mu   sync.Mutex           // guards used
	used map[string]time.Time // nonces of redeemed tickets, until they expire
}

// ticket is what a ticket says; it is signed and encrypted.
type ticket struct {
	Terminal string    `json:"t"`
	Login    string    `json:"l"`
	Boot     string    `json:"b"`
	Nonce    string    `json:"n"`
	Expires  time.Time `json:"e"`
}

func newTickets(hashKey, blockKey []byte, boot string) *tickets {
	codec := securecookie.New(hashKey, blockKey)
	codec.SetSerializer(securecookie.JSONEncoder{})
	codec.MaxAge(0) // Expires is exact; the codec's own check counts whole seconds
	return &tickets{codec: codec, boot: boot, now: time.Now, used: map[string]time.Time{}}
}

const ticketName = "terminal-ticket"

// issue makes a ticket for a terminal and a login.
func (t *tickets) issue(terminalID, loginID string) (encoded string, expires time.Time, err error) {
	expires = t.now().Add(ticketLife)
	encoded, err = t.codec.Encode(ticketName, ticket{terminalID, loginID, t.boot, rand.Text(), expires})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("encoding a ticket: %w", err)
	}
	return encoded, expires, nil
}

// redeem uses a ticket up. It returns errTicket for one that is not valid for this terminal and login now.
func (t *tickets) redeem(encoded, terminalID, loginID string) error {
	var c ticket
	if err := t.codec.Decode(ticketName, encoded, &c); err != nil {
		return errTicket
	}
	now := t.now()
	if c.Terminal != terminalID || c.Login != loginID || c.Boot != t.boot || !now.Before(c.Expires) {
		return errTicket
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for nonce, expires := range t.used {
		if !now.Before(expires) {
			delete(t.used, nonce)
		}
	}
	if _, used := t.used[c.Nonce]; used || len(t.used) >= maxUsedTickets {
		return errTicket
	}
	t.used[c.Nonce] = c.Expires
	return nil
}

// redeemTicket uses up the ticket of an upgrade to a terminal's socket. A token needs none: no page can make a browser
// send one.
func (s *Server) redeemTicket(r *http.Request, terminalID string) error {
	caller, ok := login.From(r.Context())
	if !ok {
		if _, ok := login.TokenFrom(r.Context()); ok {
			return nil
		}
		return errTicket
	}
	return s.tickets.redeem(r.URL.Query().Get("ticket"), terminalID, caller.ID)
}
