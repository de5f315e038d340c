package login

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// schema holds scs's table (its sqlite3store documents it) and ours. A login is kept apart from the session that leads
// to it: scs writes whole sessions back, and a request that was under way could bring an ended one back to life.
const schema = `
CREATE TABLE IF NOT EXISTS sessions (token TEXT PRIMARY KEY, data BLOB NOT NULL, expiry REAL NOT NULL);
CREATE INDEX IF NOT EXISTS sessions_expiry_idx ON sessions (expiry);
CREATE TABLE IF NOT EXISTS logins (
	id TEXT PRIMARY KEY, device TEXT NOT NULL, address TEXT NOT NULL,
	created INTEGER NOT NULL, seen INTEGER NOT NULL, expires INTEGER NOT NULL -- Unix seconds
) WITHOUT ROWID;
`

// store is the logins on disk.
type store struct{ db *sql.DB }

// openStore opens the SQLite database at path, making it with mode 0600. The caller must close it.
func openStore(path string) (*store, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // SQLite gives its other files the mode of this one
	if err != nil {
		return nil, fmt.Errorf("opening the logins: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return nil, fmt.Errorf("opening the logins: %w", err)
	}
	pragmas := url.Values{"_pragma": {
		"busy_timeout(5000)", // ms
		"journal_mode(WAL)",
		"synchronous(FULL)", // a revocation must survive a power cut
		"cache_size(-256)",  // KiB; a login is some hundred bytes
		"secure_delete(ON)",
	}}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: pragmas.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("opening the logins: %w", err)
	}
	db.SetMaxOpenConns(1) // each has a cache of its own, and SQLite has one writer anyway
	if _, err := db.Exec(schema); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the logins in %s: %w", path, err), db.Close())
	}
	return &store{db}, nil
}

// row is a login on disk.
type row struct {
	Login
	expires time.Time
}

// load returns the logins that have not expired, and deletes the others.
func (s *store) load(now time.Time) ([]row, error) {
	if _, err := s.db.Exec(`DELETE FROM logins WHERE expires <= ?`, now.Unix()); err != nil {
		return nil, err
	}
	rows, err := s.db.Query(`SELECT id, device, address, created, seen, expires FROM logins`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []row
	for rows.Next() {
		var r row
		var created, seen, expires int64
		if err := rows.Scan(&r.ID, &r.Device, &r.Address, &created, &seen, &expires); err != nil {
			return nil, err
		}
		r.Created, r.Seen, r.expires = time.Unix(created, 0), time.Unix(seen, 0), time.Unix(expires, 0)
		all = append(all, r)
	}
	return all, rows.Err()
}

func (s *store) insert(r row) error {
	_, err := s.db.Exec(`INSERT INTO logins (id, device, address, created, seen, expires) VALUES (?, ?, ?, ?, ?, ?)`,
		r.ID, r.Device, r.Address, r.Created.Unix(), r.Seen.Unix(), r.expires.Unix())
	return err
}

// touch notes when a login was seen. A login that has been ended stays ended.
func (s *store) touch(id string, seen time.Time) error {
	_, err := s.db.Exec(`UPDATE logins SET seen = ? WHERE id = ?`, seen.Unix(), id)
	return err
}

func (s *store) delete(id string) error {
	_, err := s.db.Exec(`DELETE FROM logins WHERE id = ?`, id)
	return err
}

// deleteAll ends every login at once, and forgets every session.
func (s *store) deleteAll() error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	_, err1 := tx.Exec(`DELETE FROM logins`)
	_, err2 := tx.Exec(`DELETE FROM sessions`)
	if err := errors.Join(err1, err2); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *store) close() error { return s.db.Close() }
