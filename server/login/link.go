package login

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
)

// ErrLinkSpent is what a login link gives that was used before, has expired or never was one. Which of them, nobody
// who holds no valid link is told.
var ErrLinkSpent = errors.New("this login link was used before or has expired: make another with `tandem login-link`")

const (
	linkLife = 15 * time.Minute
	maxLinks = 16 // unused links at a time; one more makes the oldest expire
)

// links are the unused login links. Only hashes of their secrets are kept, and nothing on disk: a link ends with the
// server that made it.
type links struct {
	now func() time.Time

	mu     sync.Mutex // guards unused
	unused []link     // oldest first
}

type link struct {
	hash    [sha256.Size]byte
	expires time.Time
}

// NewLink returns the secret of a new login link. It works once, within 15 minutes, while this store is open and until
// the password changes. At most 16 unused links are kept: one more makes the oldest expire.
func (s *Store) NewLink() string {
	return s.links.add()
}

// LogInByLink spends the link with this secret: it logs the client of r in and sets its cookie on w, as LogInByPassword
// does. Of several calls at a time with the same secret, one does. The others, and any secret that is not a link's, get
// ErrLinkSpent, or a *TooManyError if such came too often from source, the client's address with or without a port. A
// valid link is never refused: it cannot be guessed, so failures before it say nothing against it.
func (s *Store) LogInByLink(w http.ResponseWriter, r *http.Request, source, secret string) (*Login, error) {
	s.changing.Lock() // so that a changed password comes before all of it or after
	defer s.changing.Unlock()
	if err := s.redeemLink(source, secret); err != nil {
		return nil, err
	}
	return s.begin(w, r, source)
}

// redeemLink spends a link, or returns an error of LogInByLink.
func (s *Store) redeemLink(source, secret string) error {
	if s.links.take(secret) {
		return nil
	}
	source = sourceOf(source)
	if err := s.linkLimit.allow(source); err != nil {
		return err
	}
	s.linkLimit.failed(source)
	s.log.Warn("login link refused", "source", source)
	return ErrLinkSpent
}

func (l *links) add() string {
	random := make([]byte, 32)
	rand.Read(random)
	secret := base64.RawURLEncoding.EncodeToString(random)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.unused) >= maxLinks {
		l.unused = slices.Delete(l.unused, 0, 1)
	}
	l.unused = append(l.unused, link{sha256.Sum256([]byte(secret)), l.now().Add(linkLife)})
	return secret
}

// endAll makes all links expire.
func (l *links) endAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unused = nil
}

// take removes the link with this secret and reports whether there was one that has not expired.
func (l *links) take(secret string) bool {
	hash := sha256.Sum256([]byte(secret))
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.unused = slices.DeleteFunc(l.unused, func(k link) bool { return !now.Before(k.expires) })
	found := -1
	for i := range l.unused { // to the end, so that the time tells nothing
		if subtle.ConstantTimeCompare(hash[:], l.unused[i].hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	l.unused = slices.Delete(l.unused, found, found+1)
	return true
}
