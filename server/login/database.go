package login

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // the driver "sqlite", without cgo
)

const databaseFile = "tandem.db"

// sessionSchema is the table that sqlite3store expects. It computes expiry with SQLite's julianday, days as a real number.
const sessionSchema = `
CREATE TABLE IF NOT EXISTS sessions (token TEXT PRIMARY KEY, data BLOB NOT NULL, expiry REAL NOT NULL);
CREATE INDEX IF NOT EXISTS sessions_expiry ON sessions (expiry);`

// openDatabase opens the database in path, and makes it if it is not there. Its journal files get its mode from SQLite.
func openDatabase(path string) (*sql.DB, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the login database: %w", err)
	}
	err = file.Chmod(0o600)
	file.Close()
	if err != nil {
		return nil, fmt.Errorf("make the login database private: %w", err)
	}
	pragmas := url.Values{"_pragma": {
		"busy_timeout(5000)", // ms
		"journal_mode(WAL)",
		"synchronous(FULL)", // a revoked login must not come back after a power cut
		"cache_size(-256)",  // KiB
	}}
	source := url.URL{Scheme: "file", Path: path, RawQuery: pragmas.Encode()}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, fmt.Errorf("open the login database: %w", err)
	}
	// Every connection costs memory, and calls that take microseconds gain nothing from a second one.
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(sessionSchema + tokenSchema); err != nil {
		db.Close()
		return nil, fmt.Errorf("open the login database: %w (if it is damaged, move %s away; everybody then logs in again)",
			err, path)
	}
	return db, nil
}
