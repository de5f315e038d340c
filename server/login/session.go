package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrNotFound is the end of a login that is not there.
var ErrNotFound = errors.New("no such login: it may have ended already")

// Login is one browser's login, as it was when it was asked for.
type Login struct {
	ID       string // not secret; stays the same when the device logs in again
	Device   string // what it calls itself, as "Firefox on Linux": not proof
	Address  string // the IP address it logged in from, or empty if that was none
	Created  time.Time
	LastSeen time.Time // its last request, to the minute
	Current  bool      // in a List: it is the login that asks

	done chan struct{}
}

// Done is closed when the login has ended: by logout, by revocation, by its age, by a changed password, or because the
// store was closed.
func (l *Login) Done() <-chan struct{} { return l.done }

const (
	seenInterval = time.Minute // between two writes of one login's LastSeen
	maxLogins    = 256         // live at a time; one more ends the one that was not used for longest
)

// The keys of a stored login.
const (
	keyID       = "id"
	keyDevice   = "device"
	keyAddress  = "address"
	keyCreated  = "created"  // Unix time in ms
	keySeen     = "seen"     // Unix time in ms
	keyPassword = "password" // the hash in force when it was made: a login does not outlive its password
)

type contextKey struct{}

// From returns the login that Middleware found for a request with this context, and whether there was one.
func From(ctx context.Context) (*Login, bool) {
	l, ok := ctx.Value(contextKey{}).(*Login)
	return l, ok
}

// Middleware finds the login of a request's cookie, for From, or the token of its header Authorization, for TokenFrom:
// if that has the scheme Bearer, the cookie does not count. It refuses nothing: a request without a valid cookie or token
// reaches next too, with neither. If the database cannot be read, unavailable answers. Both get w as it came.
func (s *Store) Middleware(next, unavailable http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if secret, ok := bearer(r.Header); ok {
			if t := s.useToken(secret); t != nil {
				r = r.WithContext(context.WithValue(r.Context(), tokenKey{}, t))
			}
			next.ServeHTTP(w, r)
			return
		}
		l, err := s.find(r)
		if err != nil {
			s.log.Error("cannot read the logins", "error", err)
			unavailable.ServeHTTP(w, r)
			return
		}
		if l != nil {
			r = r.WithContext(context.WithValue(r.Context(), contextKey{}, l))
		}
		next.ServeHTTP(w, r)
	})
}

// begin logs the client of r in and sets its cookie on w; the caller has checked its password or link. s.changing is
// held.
func (s *Store) begin(w http.ResponseWriter, r *http.Request, source string) (*Login, error) {
	session, err := s.sessions.Load(context.Background(), s.cookie(r))
	if err != nil {
		return nil, fmt.Errorf("read the login before: %w", err)
	}
	id := s.sessions.GetString(session, keyID)
	if s.registry.get(id) == nil {
		id = rand.Text()
		if session, err = s.sessions.Load(context.Background(), ""); err != nil {
			return nil, fmt.Errorf("begin a login: %w", err)
		}
	}
	if err := s.sessions.RenewToken(session); err != nil {
		return nil, fmt.Errorf("begin a login: %w", err)
	}
	now := s.now()
	s.sessions.Put(session, keyID, id)
	s.sessions.Put(session, keyDevice, deviceOf(r.UserAgent()))
	s.sessions.Put(session, keyAddress, addressOf(source))
	s.sessions.Put(session, keyCreated, now.UnixMilli())
	s.sessions.Put(session, keySeen, now.UnixMilli())
	s.sessions.Put(session, keyPassword, s.passwordInForce())
	token, expiry, err := s.sessions.Commit(session)
	if err != nil {
		s.registry.end(id) // its old cookie has ended
		return nil, fmt.Errorf("store a login: %w", err)
	}
	l := s.registry.put(s.stored(session))
	if list := s.registry.list(); len(list) > maxLogins {
		oldest := list[len(list)-1].ID
		if oldest == id { // the clock was set back
			oldest = list[len(list)-2].ID
		}
		if err := s.endLocked(oldest); err != nil {
			return nil, err
		}
	}
	s.sessions.WriteSessionCookie(session, w, token, expiry)
	return &l, nil
}

// List returns the logins, newest use first. Ctx tells which of them is the current one.
func (s *Store) List(ctx context.Context) ([]Login, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list the logins: %w", err)
	}
	current, _ := From(ctx)
	live := s.registry.list()
	list := make([]Login, len(live))
	for i, l := range live {
		list[i] = l.Login
		list[i].Current = current != nil && current.ID == l.ID
	}
	return list, nil
}

// End revokes a login: its Done closes, and its cookie is worth nothing from now on. ErrNotFound says that there is no
// such login. After any other error it has ended, but may be back after a restart.
func (s *Store) End(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("end a login: %w", err)
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.endLocked(id)
}

// Logout ends the login of r, if it has one, and removes the cookie.
func (s *Store) Logout(w http.ResponseWriter, r *http.Request) error {
	if l, ok := From(r.Context()); ok {
		// Also for a client that is gone: it asked to be logged out.
		if err := s.End(context.WithoutCancel(r.Context()), l.ID); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	s.sessions.WriteSessionCookie(r.Context(), w, "", time.Time{})
	return nil
}

// resume makes the stored logins live that were made under the password in force, and deletes the others.
func (s *Store) resume(ctx context.Context) error {
	stored, err := s.storedLogins(ctx)
	if err != nil {
		return err
	}
	hash, err := s.findPassword(stored)
	if err != nil {
		return err
	}
	s.setPasswordInForce(hash)
	for _, l := range stored {
		if l.password == hash {
			s.registry.put(l)
		}
	}
	return s.sweep(ctx)
}

// findPassword returns the hash in force. For a password given at start that is the one its logins were stored with, so
// that they are seen to be made under the same password.
func (s *Store) findPassword(stored []*liveLogin) (string, error) {
	if s.given == "" {
		return readPassword(s.dir)
	}
	defer s.memory.soon()
	tried := make(map[string]bool)
	for _, l := range stored {
		if tried[l.password] {
			continue
		}
		tried[l.password] = true
		if hash, err := parsePasswordHash(l.password); err == nil && hash.matches(s.given) {
			return l.password, nil
		}
	}
	return newPasswordHash(s.given).String(), nil
}

// find returns the login of r's cookie, or nil, and notes that it was used.
func (s *Store) find(r *http.Request) (*Login, error) {
	token := s.cookie(r)
	if token == "" {
		return nil, nil
	}
	session, err := s.sessions.Load(context.Background(), token)
	if err != nil {
		return nil, err
	}
	id := s.sessions.GetString(session, keyID)
	if s.registry.touch(id, s.now(), seenInterval) {
		if err := s.storeSeen(token); err != nil {
			s.log.Error("cannot store when a login was last seen", "login", id, "error", err)
		}
	}
	return s.registry.get(id), nil
}

// storeSeen stores the login's LastSeen, unless it has ended meanwhile.
func (s *Store) storeSeen(token string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	session, err := s.sessions.Load(context.Background(), token)
	if err != nil {
		return err
	}
	l := s.registry.get(s.sessions.GetString(session, keyID))
	if l == nil {
		return nil
	}
	s.sessions.Put(session, keySeen, l.LastSeen.UnixMilli())
	_, _, err = s.sessions.Commit(session)
	return err
}

// cookie returns the token that r carries, or "".
func (s *Store) cookie(r *http.Request) string {
	cookie, err := r.Cookie(s.sessions.Cookie.Name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// storedLogins reads all logins from the database.
func (s *Store) storedLogins(ctx context.Context) ([]*liveLogin, error) {
	var list []*liveLogin
	err := s.sessions.Iterate(ctx, func(session context.Context) error {
		list = append(list, s.stored(session))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the logins: %w", err)
	}
	return list, nil
}

// stored is the login that a session holds.
func (s *Store) stored(session context.Context) *liveLogin {
	return &liveLogin{
		Login: Login{
			ID:       s.sessions.GetString(session, keyID),
			Device:   s.sessions.GetString(session, keyDevice),
			Address:  s.sessions.GetString(session, keyAddress),
			Created:  time.UnixMilli(s.sessions.GetInt64(session, keyCreated)),
			LastSeen: time.UnixMilli(s.sessions.GetInt64(session, keySeen)),
		},
		password: s.sessions.GetString(session, keyPassword),
		deadline: s.sessions.Deadline(session),
	}
}

// endLocked is End. s.changing is held.
func (s *Store) endLocked(id string) error {
	if !s.registry.end(id) {
		return ErrNotFound
	}
	s.log.Info("login ended", "login", id)
	return s.sweep(context.Background())
}

// sweep deletes the stored logins that are not live. s.changing is held, or nobody else has the store yet.
func (s *Store) sweep(ctx context.Context) error {
	err := s.sessions.Iterate(ctx, func(session context.Context) error {
		if s.registry.get(s.sessions.GetString(session, keyID)) != nil {
			return nil
		}
		// Not Destroy: the token that Iterate gives is the stored hash, and Destroy would hash it again.
		return s.rows.Delete(s.sessions.Token(session))
	})
	if err != nil {
		return fmt.Errorf("delete ended logins: %w", err)
	}
	return nil
}
