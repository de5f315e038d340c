package login

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tandem/server/privatefile"
)

var (
	// ErrWrong is a password that is not the right one.
	ErrWrong = errors.New("this is not the password")
	// ErrNoPassword is an attempt while no password is set.
	ErrNoPassword = errors.New("no password is set: use a login link, or set one with `tandem password`")
	// ErrPasswordGiven is a changed password file while another password was given at start.
	ErrPasswordGiven = errors.New("the server was started with a password of its own, which stays in force: " +
		"start it without TANDEM_PASSWORD and --password-file to use the stored one")
)

// What a password may be.
const (
	minPassword = 8    // characters
	MaxPassword = 1024 // bytes; more is no safer, and costs time to hash
)

const passwordFile = "password"

// CheckNew returns an error for a password that is too easy to guess or too long to be used.
func CheckNew(password string) error {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return fmt.Errorf("the password is too short: take at least %d characters", minPassword)
	case len(password) > MaxPassword:
		return fmt.Errorf("the password is too long: take at most %d bytes", MaxPassword)
	}
	return nil
}

// SetPassword stores password, unless CheckNew refuses it, for the data directory dir, which is made if it is not
// there. It needs no open Store; a running server takes it up by Store.PasswordChanged. Logins made before end then, or
// at the next Open.
func SetPassword(ctx context.Context, dir, password string) error {
	if err := CheckNew(password); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	hash := newPasswordHash(password).String()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("set the password: %w", err)
	}
	if err := privatefile.Replace(filepath.Join(dir, passwordFile), []byte(hash+"\n")); err != nil {
		return fmt.Errorf("set the password: %w", err)
	}
	return nil
}

// HasPassword reports whether one can log in by password.
func (s *Store) HasPassword() bool { return s.passwordInForce() != "" }

// LogInByPassword logs the client of r in, as one that knows the password, and sets its cookie on w. A wrong one gets
// ErrWrong, ErrNoPassword, or a *TooManyError: failures are counted for source, the client's address with or without a
// port, and for all together. Passwords are hashed one at a time, each in tens of milliseconds and 19 MiB: it waits for its
// turn, and ends with the context of r.
//
// The cookie is always a new one. A client that is logged in already keeps its login's ID and sockets, and its old cookie
// ends.
func (s *Store) LogInByPassword(w http.ResponseWriter, r *http.Request, source, password string) (*Login, error) {
	inForce := s.passwordInForce()
	if err := s.checkPassword(r.Context(), source, password); err != nil {
		return nil, err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.passwordInForce() != inForce {
		return nil, ErrWrong // it was changed meanwhile, and ended the logins before it
	}
	return s.begin(w, r, source)
}

// checkPassword returns nil for the right password, or an error of LogInByPassword.
func (s *Store) checkPassword(ctx context.Context, source, password string) error {
	source = sourceOf(source)
	if err := s.passwordLimit.allow(source); err != nil {
		return err
	}
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return fmt.Errorf("wait to check the password: %w", ctx.Err())
	}
	// Asked again, since many may have waited here together.
	if err := s.passwordLimit.allow(source); err != nil {
		return err
	}
	inForce := s.passwordInForce()
	if inForce == "" {
		return ErrNoPassword
	}
	hash, err := parsePasswordHash(inForce)
	if err != nil {
		return fmt.Errorf("check the password: %w", err)
	}
	defer s.memory.soon()
	// Wrong as well if the password was changed while this one was hashed.
	if len(password) > MaxPassword || !hash.matches(password) || s.passwordInForce() != inForce {
		s.passwordLimit.failed(source)
		s.log.Warn("wrong password", "source", source)
		return ErrWrong
	}
	s.passwordLimit.succeeded(source)
	return nil
}

// PasswordChanged takes up the password file as SetPassword left it, and ends all logins and login links: people change a
// password to be alone again, and a link could have been made by whoever was there. While a password given at start is
// in force it changes nothing and returns ErrPasswordGiven.
func (s *Store) PasswordChanged(ctx context.Context) error {
	if s.given != "" {
		return ErrPasswordGiven
	}
	hash, err := readPassword(s.dir)
	if err != nil {
		return err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	s.setPasswordInForce(hash)
	s.links.endAll()
	s.registry.endAll()
	return s.sweep(ctx)
}

func (s *Store) passwordInForce() string {
	s.passwordMu.Lock()
	defer s.passwordMu.Unlock()
	return s.password
}

func (s *Store) setPasswordInForce(hash string) {
	s.passwordMu.Lock()
	defer s.passwordMu.Unlock()
	s.password = hash
}

// readPassword returns the stored hash, or "" if there is none.
func readPassword(dir string) (string, error) {
	path := filepath.Join(dir, passwordFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	hash := strings.TrimSpace(string(text))
	if _, err := parsePasswordHash(hash); err != nil {
		return "", fmt.Errorf("read %s: %w: set the password again with `tandem password`", path, err)
	}
	return hash, nil
}
