package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// TokenStore keeps the tokens of one data directory. A Store has one; a command that only wants the tokens opens it
// alone, beside a running server too, which it then tells to read them anew. Its methods may be called at the same time.
type TokenStore struct {
	now func() time.Time
	log *slog.Logger
	db  *sql.DB

	tokensChanging sync.Mutex // one change of the stored tokens at a time; held across I/O, so that none undoes another
	tokens         *tokenRegistry
}

// tokenPrefix lets people, and programs that look for leaked secrets, see what a token's secret is.
const tokenPrefix = "tandem_"

// tokenSchema has times as Unix time in ms, 0 for none, and scopes with a space between them.
const tokenSchema = `
CREATE TABLE IF NOT EXISTS tokens (
	id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
	name TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL, last_used INTEGER NOT NULL, trusted INTEGER NOT NULL
) STRICT;`

// OpenTokens opens the tokens of a data directory, which must exist, with or without a server running on it. Close it
// after use.
func OpenTokens(dir string) (*TokenStore, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the data directory: %w", err)
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("look at the data directory: %w", err)
	}
	db, err := openDatabase(filepath.Join(dir, databaseFile))
	if err != nil {
		return nil, err
	}
	s := newTokenStore(db, time.Now, slog.New(slog.DiscardHandler))
	if err := s.TokensChanged(context.Background()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newTokenStore returns a store without the tokens that db has: TokensChanged reads them.
func newTokenStore(db *sql.DB, now func() time.Time, log *slog.Logger) *TokenStore {
	return &TokenStore{now: now, log: log, db: db, tokens: newTokenRegistry(now)}
}

// Close closes what OpenTokens opened. The tokens stay in force for the server.
func (s *TokenStore) Close() error {
	s.tokensChanging.Lock()
	defer s.tokensChanging.Unlock()
	s.tokens.replace(nil)
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close the login database: %w", err)
	}
	return nil
}

// CreateToken makes a token and returns its secret, which is nowhere kept and cannot be had again. Expires is when it
// ends; the zero time stands for never. The error is that of CheckTokenName or CheckScopes, ErrTokenExists or
// ErrTooManyTokens, or says that nothing could be stored.
func (s *TokenStore) CreateToken(name string, scopes []Scope, expires time.Time) (secret string, t Token, err error) {
	if err := errors.Join(CheckTokenName(name), CheckScopes(scopes)); err != nil {
		return "", Token{}, err
	}
	now := s.now()
	if !expires.IsZero() {
		if expires = time.UnixMilli(expires.UnixMilli()); !expires.After(now) {
			return "", Token{}, errors.New("the token would have expired already: take a time in the future")
		}
	}
	random := make([]byte, 32)
	rand.Read(random) // never fails, see crypto/rand
	secret = tokenPrefix + base64.RawURLEncoding.EncodeToString(random)
	made := &liveToken{
		Token: Token{
			ID: rand.Text(), Name: name, Scopes: slices.Compact(slices.Sorted(slices.Values(scopes))),
			Created: time.UnixMilli(now.UnixMilli()), Expires: expires,
		},
		hash: sha256.Sum256([]byte(secret)),
	}
	s.tokensChanging.Lock()
	defer s.tokensChanging.Unlock()
	if err := s.insertToken(made, now); err != nil {
		return "", Token{}, err
	}
	return secret, s.tokens.put(made), nil
}

// Tokens returns the tokens in force, oldest first.
func (s *TokenStore) Tokens() []Token { return s.tokens.list() }

// RevokeToken ends the token of this name: its Done closes, and its secret is worth nothing from now on. ErrNoToken says
// that there is no such token. After any other error it may still be in force.
func (s *TokenStore) RevokeToken(name string) error {
	s.tokensChanging.Lock()
	defer s.tokensChanging.Unlock()
	var id string
	err := s.db.QueryRow(`DELETE FROM tokens WHERE name = ? RETURNING id`, name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNoToken
	}
	if err != nil {
		return fmt.Errorf("revoke a token: %w", err)
	}
	s.tokens.end(id)
	s.log.Info("token revoked", "token", id, "name", name)
	return nil
}

// TrustToken notes that the program with this token need not ask the person again. ErrNoToken says that it is not in
// force.
func (s *TokenStore) TrustToken(id string) error {
	s.tokensChanging.Lock()
	defer s.tokensChanging.Unlock()
	changed, err := s.db.Exec(`UPDATE tokens SET trusted = 1 WHERE id = ?`, id)
	if err != nil {
		return fmt.Errorf("trust a token: %w", err)
	}
	if n, err := changed.RowsAffected(); err == nil && n == 0 {
		return ErrNoToken
	}
	s.tokens.trust(id)
	return nil
}

// Trusted reports whether the token with this ID is in force and trusted. It does not block.
func (s *TokenStore) Trusted(id string) bool { return s.tokens.trusted(id) }

// TokensChanged reads the tokens anew after another process has changed them. Those that were revoked end at once, and
// others go on.
func (s *TokenStore) TokensChanged(ctx context.Context) error {
	s.tokensChanging.Lock()
	defer s.tokensChanging.Unlock()
	stored, err := s.storedTokens(ctx)
	if err != nil {
		return err
	}
	s.tokens.replace(stored)
	return nil
}

// useToken returns the token with this secret, or nil, and notes that it was used.
func (s *TokenStore) useToken(secret string) *Token {
	t, news := s.tokens.use(sha256.Sum256([]byte(secret)), seenInterval)
	if news {
		// Of a token that was revoked meanwhile there is no row, and this makes none.
		if _, err := s.db.Exec(`UPDATE tokens SET last_used = ? WHERE id = ?`, t.LastUsed.UnixMilli(), t.ID); err != nil {
			s.log.Error("cannot store when a token was last used", "token", t.ID, "error", err)
		}
	}
	return t
}

// insertToken stores t and drops expired tokens, whose names are free again. s.tokensChanging is held.
func (s *TokenStore) insertToken(t *liveToken, now time.Time) error {
	tx, err := s.db.Begin()
	if err != nil {
		return fmt.Errorf("store a token: %w", err)
	}
	defer tx.Rollback() // does nothing after a commit
	if _, err := tx.Exec(`DELETE FROM tokens WHERE expires > 0 AND expires <= ?`, now.UnixMilli()); err != nil {
		return fmt.Errorf("delete expired tokens: %w", err)
	}
	var count, named int
	err = tx.QueryRow(`SELECT count(*), count(*) FILTER (WHERE name = ?) FROM tokens`, t.Name).Scan(&count, &named)
	switch {
	case err != nil:
		return fmt.Errorf("read the tokens: %w", err)
	case named > 0:
		return ErrTokenExists
	case count >= maxTokens:
		return ErrTooManyTokens
	}
	_, err = tx.Exec(`INSERT INTO tokens (id, hash, name, scopes, created, expires, last_used, trusted) VALUES (?, ?, ?, ?, ?, ?, 0, 0)`,
		t.ID, t.hash[:], t.Name, joinScopes(t.Scopes, " "), t.Created.UnixMilli(), unixMilli(t.Expires))
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return fmt.Errorf("store a token: %w", err)
	}
	return nil
}

// storedTokens reads the tokens from the database that have not expired.
func (s *TokenStore) storedTokens(ctx context.Context) (list []*liveToken, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, hash, name, scopes, created, expires, last_used, trusted FROM tokens
		WHERE expires = 0 OR expires > ?`, s.now().UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var t liveToken
		var hash []byte
		var scopes string
		var created, expires, used int64
		if err := rows.Scan(&t.ID, &hash, &t.Name, &scopes, &created, &expires, &used, &t.Trusted); err != nil {
			return nil, fmt.Errorf("read a token: %w", err)
		}
		copy(t.hash[:], hash)
		for scope := range strings.FieldsSeq(scopes) {
			t.Scopes = append(t.Scopes, Scope(scope))
		}
		t.Created, t.Expires, t.LastUsed = timeOf(created), timeOf(expires), timeOf(used)
		list = append(list, &t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	return list, nil
}

// unixMilli is a time as the database has it.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// timeOf is the reverse of unixMilli.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
