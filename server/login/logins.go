package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/alexedwards/scs/sqlite3store"
	"github.com/alexedwards/scs/v2"
)

const (
	// SeenWithin is how exact Login.Seen is: to write it for every request would keep the disk busy.
	SeenWithin = time.Minute

	// maxLogins bounds the logins at a time; the one not seen for longest gives way to a new one.
	maxLogins = 256

	// sweepEvery is how often expired logins are looked for.
	sweepEvery = time.Minute

	// loginKey is where a session keeps the id of its login.
	loginKey = "login"
)

// ErrNoLogin says that no login has the given id or token: it was ended, has expired or never was.
var ErrNoLogin = errors.New("no such login")

// Logins are the devices that are logged in. They survive a restart of the server. All methods are safe for concurrent
// use.
type Logins struct {
	log      *slog.Logger
	now      func() time.Time
	store    *store
	sessions *scs.SessionManager
	tokens   *sqlite3store.SQLite3Store
	stop     context.CancelFunc
	sweeping sync.WaitGroup

	mu   sync.Mutex // guards live and what is in it; held across writes, so that memory and disk agree
	live map[string]*entry
}

type entry struct {
	row
	done chan struct{}
}

// OpenLogins opens the logins kept in the SQLite database at path, which is made with mode 0600 if need be. now is
// time.Now, or a test's clock. The caller must Close them.
func OpenLogins(path string, log *slog.Logger, now func() time.Time) (*Logins, error) {
	st, err := openStore(path)
	if err != nil {
		return nil, err
	}
	rows, err := st.load(now())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the logins in %s: %w", path, err), st.close())
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &Logins{
		log: log, now: now, store: st, stop: stop,
		tokens: sqlite3store.New(st.db),
		live:   make(map[string]*entry),
	}
	l.sessions = scs.New()
	l.sessions.Lifetime = Lifetime
	l.sessions.Store = l.tokens
	l.sessions.HashTokenInStore = true
	for _, r := range rows {
		l.add(r)
	}
	l.sweeping.Go(func() { l.sweep(ctx) })
	return l, nil
}

// add puts a login into memory. mu is held, or nobody else knows l yet.
func (l *Logins) add(r row) *entry {
	e := &entry{row: r, done: make(chan struct{})}
	e.Done = e.done
	l.live[r.ID] = e
	return e
}

// Start makes a login for a device, and returns it with the secret token that stands for it.
func (l *Logins) Start(ctx context.Context, device, address string) (Login, string, error) {
	now := l.now().Truncate(time.Second)
	var b [16]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	r := row{expires: now.Add(Lifetime), Login: Login{
		ID: base64.RawURLEncoding.EncodeToString(b[:]), Device: device, Address: address, Created: now, Seen: now,
	}}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.live) >= maxLogins {
		oldest := slices.MinFunc(l.list(), func(a, b Login) int { return a.Seen.Compare(b.Seen) })
		if err := l.end(ctx, oldest.ID); err != nil {
			return Login{}, "", err
		}
	}
	if err := l.store.insert(r); err != nil {
		return Login{}, "", fmt.Errorf("keeping the login: %w", err)
	}
	ctx, err := l.sessions.Load(ctx, "")
	if err != nil {
		return Login{}, "", fmt.Errorf("starting a session: %w", err)
	}
	l.sessions.Put(ctx, loginKey, r.ID)
	token, _, err := l.sessions.Commit(ctx)
	if err != nil {
		return Login{}, "", errors.Join(fmt.Errorf("keeping the session: %w", err), l.store.delete(r.ID))
	}
	return l.add(r).Login, token, nil
}

// Find returns the login that token stands for, and notes that it was seen. It returns ErrNoLogin if there is none.
func (l *Logins) Find(ctx context.Context, token string) (Login, error) {
	if token == "" {
		return Login{}, ErrNoLogin
	}
	ctx, err := l.sessions.Load(ctx, token)
	if err != nil {
		return Login{}, fmt.Errorf("reading the session: %w", err)
	}
	id := l.sessions.GetString(ctx, loginKey)
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.live[id]
	if e == nil || !now.Before(e.expires) {
		return Login{}, ErrNoLogin
	}
	if now.Sub(e.Seen) >= SeenWithin {
		e.Seen = now.Truncate(time.Second)
		if err := l.store.touch(id, e.Seen); err != nil {
			l.log.Warn("cannot note when a login was seen", "err", err)
		}
	}
	return e.Login, nil
}

// List returns all logins, the one seen last first.
func (l *Logins) List() []Login {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list()
}

func (l *Logins) list() []Login {
	all := make([]Login, 0, len(l.live))
	for _, e := range l.live {
		all = append(all, e.Login)
	}
	slices.SortFunc(all, func(a, b Login) int {
		return cmp.Or(b.Seen.Compare(a.Seen), b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// End ends a login for good and closes its Done. It returns ErrNoLogin for an unknown id.
func (l *Logins) End(ctx context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end(ctx, id)
}

func (l *Logins) end(ctx context.Context, id string) error {
	e := l.live[id]
	if e == nil {
		return ErrNoLogin
	}
	if err := l.store.delete(id); err != nil {
		return fmt.Errorf("ending the login: %w", err)
	}
	delete(l.live, id)
	close(e.done)
	// The session leads nowhere now. That it stays on disk until it expires would be harmless, but is not needed.
	err := l.sessions.Iterate(ctx, func(ctx context.Context) error {
		if l.sessions.GetString(ctx, loginKey) == id {
			return l.tokens.Delete(l.sessions.Token(ctx)) // hashed as stored, which is why Destroy would not find it
		}
		return nil
	})
	if err != nil {
		l.log.Warn("cannot delete the session of an ended login", "err", err)
	}
	return nil
}

// EndAll ends every login for good.
func (l *Logins) EndAll() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.store.deleteAll(); err != nil {
		return fmt.Errorf("ending all logins: %w", err)
	}
	for id, e := range l.live {
		delete(l.live, id)
		close(e.done)
	}
	return nil
}

// sweep ends expired logins until ctx ends.
func (l *Logins) sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.endExpired(ctx)
		}
	}
}

func (l *Logins) endExpired(ctx context.Context) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, e := range l.live {
		if !now.Before(e.expires) {
			if err := l.end(ctx, id); err != nil {
				l.log.Warn("cannot end an expired login", "err", err)
			}
		}
	}
}

// Close closes the database. Logins stay as they are, for the next start; their Done stays open.
func (l *Logins) Close() error {
	l.stop()
	l.sweeping.Wait()
	l.tokens.StopCleanup()
	return l.store.close()
}
