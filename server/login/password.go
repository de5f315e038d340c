package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// MinPassword and MaxPassword bound the length of a password, in characters and bytes. A shell is behind it.
const (
	MinPassword = 8
	MaxPassword = 1024
)

// Parameters of argon2id: the OWASP Password Storage Cheat Sheet's second recommendation.
const (
	argonMemory  = 19 << 10 // KiB
	argonPasses  = 2
	argonThreads = 1
	saltBytes    = 16
	hashBytes    = 32
)

// Bounds of the parameters in a stored hash, so that a damaged file cannot take the machine's memory.
const (
	maxArgonMemory  = 1 << 20 // KiB
	maxArgonPasses  = 64
	maxArgonThreads = 16
)

// ErrPassword says that a password is wrong, or that none is set.
var ErrPassword = errors.New("wrong password")

// Password is the one password of a server, kept as an argon2id hash in a file of mode 0600. All methods are safe for
// concurrent use.
type Password struct {
	path    string
	hashing chan struct{} // holds one token: a hash takes 19 MiB, so they are made one at a time

	mu   sync.Mutex // guards hash
	hash string     // PHC string; "" while no password is set
}

// OpenPassword reads the password's hash from path. A file that is not there means that no password is set.
func OpenPassword(path string) (*Password, error) {
	p := &Password{path: path, hashing: make(chan struct{}, 1)}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the password: %w", err)
	}
	p.hash = strings.TrimSpace(string(b))
	if _, err := parseHash(p.hash); err != nil {
		return nil, fmt.Errorf("reading the password from %s: %w; set it again with 'tandem password'", path, err)
	}
	return p, nil
}

// IsSet reports whether there is a password.
func (p *Password) IsSet() bool { return p.stored() != "" }

func (p *Password) stored() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hash
}

// Verify returns nil for the right password and ErrPassword for a wrong one. It blocks for the hash, some 50 ms, and
// for those before it; the error is ctx's when ctx ends first. Whether a password is set does not show in the time.
func (p *Password) Verify(ctx context.Context, password string) error {
	stored := p.stored()
	h, err := parseHash(stored)
	if err != nil { // none is set
		h = hash{memory: argonMemory, passes: argonPasses, threads: argonThreads, salt: make([]byte, saltBytes), key: make([]byte, hashBytes)}
	}
	var key []byte
	if len(password) > MaxPassword {
		return ErrPassword
	}
	if err := p.alone(ctx, func() { key = h.derive(password) }); err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(key, h.key) != 1 || stored == "" {
		return ErrPassword
	}
	return nil
}

// Set makes password the one that is asked for from now on, also after a restart. It returns an error for a password
// outside MinPassword and MaxPassword.
func (p *Password) Set(ctx context.Context, password string) error {
	if err := CheckPassword(password); err != nil {
		return err
	}
	h := hash{memory: argonMemory, passes: argonPasses, threads: argonThreads, salt: make([]byte, saltBytes)}
	rand.Read(h.salt) // never fails, see crypto/rand
	if err := p.alone(ctx, func() { h.key = h.derive(password) }); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := writeFile(p.path, []byte(h.String()+"\n")); err != nil {
		return fmt.Errorf("keeping the password: %w", err)
	}
	p.hash = h.String()
	return nil
}

// CheckPassword reports why password cannot be one.
func CheckPassword(password string) error {
	switch {
	case utf8.RuneCountInString(password) < MinPassword:
		return fmt.Errorf("the password is too short: it needs at least %d characters", MinPassword)
	case len(password) > MaxPassword:
		return fmt.Errorf("the password is too long: at most %d bytes are taken", MaxPassword)
	}
	return nil
}

// alone runs f while no other hash is made, and gives its memory back.
func (p *Password) alone(ctx context.Context, f func()) error {
	select {
	case p.hashing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.hashing }()
	f()
	debug.FreeOSMemory() // the 19 MiB would stay resident for minutes
	return nil
}

// writeFile replaces path at once, or leaves it as it was.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// hash is an argon2id hash with its parameters.
type hash struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
	salt    []byte
	key     []byte
}

func (h hash) derive(password string) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.passes, h.memory, h.threads, hashBytes)
}

// String returns the hash in the PHC string format.
func (h hash) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.passes, h.threads, b64(h.salt), b64(h.key))
}

var errHash = errors.New("not an argon2id hash")

// parseHash reads what String writes.
func parseHash(s string) (hash, error) {
	var h hash
	fields := strings.Split(s, "$")
	if len(fields) != 6 || fields[0] != "" || fields[1] != "argon2id" || fields[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return hash{}, errHash
	}
	if _, err := fmt.Sscanf(fields[3], "m=%d,t=%d,p=%d", &h.memory, &h.passes, &h.threads); err != nil {
		return hash{}, errHash
	}
	if fields[3] != fmt.Sprintf("m=%d,t=%d,p=%d", h.memory, h.passes, h.threads) ||
		h.passes < 1 || h.passes > maxArgonPasses || h.threads < 1 || h.threads > maxArgonThreads ||
		h.memory < 8*uint32(h.threads) || h.memory > maxArgonMemory {
		return hash{}, errHash
	}
	var err error
	if h.salt, err = base64.RawStdEncoding.Strict().DecodeString(fields[4]); err != nil || len(h.salt) < 8 {
		return hash{}, errHash
	}
	if h.key, err = base64.RawStdEncoding.Strict().DecodeString(fields[5]); err != nil || len(h.key) != hashBytes {
		return hash{}, errHash
	}
	return h, nil
}
