// Package login knows who may come in: the password, one-time login links, the logins of people's devices, and the tokens
// of programs. It sets and reads cookies, reads the header Authorization, and knows no router.
package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/alexedwards/scs/sqlite3store"
	"github.com/alexedwards/scs/v2"
)

// Lifetime is how long a login lasts, counted from when it was made and not from when it was last used.
const Lifetime = 30 * 24 * time.Hour

// Store keeps the password, the login links, the logins and the tokens of one data directory. Its methods may be called at the same
// time. Two open stores of one directory know nothing of each other's changes: whoever opens a store sees to it that
// there is only one.
type Store struct {
	*TokenStore // its Close is not to be used

	given     string // the password given at start, or empty
	dir       string
	links     links
	linkLimit *limiter

	passwordLimit *limiter
	hashing       chan struct{} // holds one token while a password is hashed
	passwordMu    sync.Mutex    // guards password
	password      string        // the hash in force as text, empty for none

	rows     *sqlite3store.SQLite3Store
	sessions *scs.SessionManager
	changing sync.Mutex // one change of the stored logins at a time; held across I/O, so that none undoes another
	registry registry

	memory *memoryReturner
}

// Options are what a Store may be told. Their zero value is usable.
type Options struct {
	Cookie   CookieOptions
	Password string           // in force instead of the password file, and not written to it
	Now      func() time.Time // time.Now if nil; for limits, links, tokens and when a login was last seen, not for its expiry
	Logger   *slog.Logger     // nothing is logged if nil; never gets a secret
}

// CookieOptions say how the browser is to keep the login cookie.
type CookieOptions struct {
	Path   string // where the server's pages begin; "/" if empty
	Secure bool   // sent over HTTPS only
	Suffix string // added to the name, since servers on other ports of a host share its cookies
}

// Name returns the cookie's name. Its prefix makes browsers refuse a cookie of that name from a neighbouring host
// (__Host-) or over plain HTTP (__Secure-, which may have a path).
func (o CookieOptions) Name() string {
	switch {
	case o.Secure && (o.Path == "" || o.Path == "/"):
		return "__Host-tandem" + o.Suffix
	case o.Secure:
		return "__Secure-tandem" + o.Suffix
	default:
		return "tandem" + o.Suffix
	}
}

// Open opens the store in dir, which it makes if it is not there, and everything in it for the owner alone. Logins made
// under another password than the one in force end now. Close it after use.
func Open(dir string, opts Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the data directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	db, err := openDatabase(filepath.Join(dir, databaseFile))
	if err != nil {
		return nil, err
	}
	s := &Store{
		TokenStore:    newTokenStore(db, opts.Now, opts.Logger),
		given:         opts.Password,
		dir:           dir,
		links:         links{now: opts.Now},
		linkLimit:     newLimiter(opts.Now),
		passwordLimit: newLimiter(opts.Now),
		hashing:       make(chan struct{}, 1),
		rows:          sqlite3store.NewWithCleanupInterval(db, time.Hour),
		registry:      registry{logins: make(map[string]*liveLogin)},
		memory:        startMemoryReturner(),
	}
	// Not scs.New: that starts a goroutine which cannot be stopped reliably, for a store in memory.
	s.sessions = &scs.SessionManager{
		Store:            s.rows,
		Codec:            scs.GobCodec{},
		HashTokenInStore: true,
		Lifetime:         Lifetime,
		Cookie: scs.SessionCookie{
			Name:     opts.Cookie.Name(),
			Path:     opts.Cookie.Path,
			Secure:   opts.Cookie.Secure,
			HttpOnly: true,
			SameSite: http.SameSiteStrictMode,
			Persist:  true,
		},
	}
	if opts.Cookie.Path == "" {
		s.sessions.Cookie.Path = "/"
	}
	err = s.resume(context.Background())
	if err == nil {
		err = s.TokensChanged(context.Background())
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the store, not the logins and tokens: they last until the next Open. The Done of each closes, all calls after
// it fail, and nothing of the store runs any more when it returns. It must be called once.
func (s *Store) Close() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.registry.endAll()
	s.rows.StopCleanup()
	s.memory.stop()
	return s.TokenStore.Close()
}
