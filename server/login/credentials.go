package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"
)

// Credentials are all ways into a server: its password, its login links, and the logins made with them. All methods are
// safe for concurrent use.
type Credentials struct {
	Logins   *Logins
	password *Password
	links    *Links
	throttle *throttle
}

// Open opens the credentials in a data directory, which only the server's user may read. now is time.Now, or a test's
// clock. The caller must Close them.
func Open(dir string, log *slog.Logger, now func() time.Time) (*Credentials, error) {
	password, err := OpenPassword(filepath.Join(dir, "password"))
	if err != nil {
		return nil, err
	}
	logins, err := OpenLogins(filepath.Join(dir, "tandem.db"), log, now)
	if err != nil {
		return nil, err
	}
	return &Credentials{Logins: logins, password: password, links: &Links{now: now}, throttle: newThrottle(now)}, nil
}

// WithPassword logs a device in by password. It returns ErrPassword for a wrong one and a *ThrottledError after too
// many failures, whatever the password. It blocks for the hash, see Password.Verify.
func (c *Credentials) WithPassword(ctx context.Context, password, device, address string) (Login, string, error) {
	if err := c.throttle.check(address); err != nil {
		return Login{}, "", err
	}
	err := c.password.Verify(ctx, password)
	if throttled := c.throttle.check(address); throttled != nil { // by guesses made at the same time
		return Login{}, "", throttled
	}
	if errors.Is(err, ErrPassword) {
		c.throttle.failed(address)
	}
	if err != nil {
		return Login{}, "", err
	}
	return c.Logins.Start(ctx, device, address)
}

// WithLink logs a device in by the secret of a login link. It returns ErrLink or ErrLinkSpent, and a *ThrottledError
// after too many failures; a good link works all the same, because nobody can guess one.
func (c *Credentials) WithLink(ctx context.Context, secret, device, address string) (Login, string, error) {
	if err := c.links.Use(secret); err != nil {
		if throttled := c.throttle.check(address); throttled != nil {
			return Login{}, "", throttled
		}
		c.throttle.failed(address)
		return Login{}, "", err
	}
	return c.Logins.Start(ctx, device, address)
}

// NewLink makes a login link and returns its secret.
func (c *Credentials) NewLink() string { return c.links.New() }

// HasPassword reports whether a password is set.
func (c *Credentials) HasPassword() bool { return c.password.IsSet() }

// SetPassword changes the password, and ends every login and link that was there before, as people expect who change it
// because somebody else knew it.
func (c *Credentials) SetPassword(ctx context.Context, password string) error {
	if err := c.password.Set(ctx, password); err != nil {
		return err
	}
	c.links.Forget()
	return c.Logins.EndAll()
}

// UsePassword is SetPassword unless password is the one that is set already.
func (c *Credentials) UsePassword(ctx context.Context, password string) error {
	err := c.password.Verify(ctx, password)
	if errors.Is(err, ErrPassword) {
		return c.SetPassword(ctx, password)
	}
	if err != nil {
		return fmt.Errorf("checking the password: %w", err)
	}
	return nil
}

// Close closes the database.
func (c *Credentials) Close() error { return c.Logins.Close() }
