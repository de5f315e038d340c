package login

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// passwordHash is an argon2id hash and what it takes to compute it again. Its text form is the PHC string format:
// $argon2id$v=19$m=19456,t=2,p=1$salt$key.
type passwordHash struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
	salt    []byte
	key     []byte
}

// The cost of a new hash: OWASP's smallest recommended setting for argon2id, since it must fit in a small server's
// memory.
const (
	hashMemory  = 19 << 10 // KiB
	hashPasses  = 2
	hashThreads = 1
)

// What a stored hash may ask for, so that a damaged file cannot make the server take all memory or never answer.
const (
	maxHashMemory  = 256 << 10 // KiB
	maxHashPasses  = 32
	maxHashThreads = 16
	maxHashText    = 512 // bytes
)

var errBadHash = errors.New("not an argon2id hash")

// newPasswordHash hashes password with a salt of its own.
func newPasswordHash(password string) passwordHash {
	h := passwordHash{memory: hashMemory, passes: hashPasses, threads: hashThreads, salt: make([]byte, 16)}
	rand.Read(h.salt)
	h.key = argon2.IDKey([]byte(password), h.salt, h.passes, h.memory, h.threads, 32)
	return h
}

// matches reports whether password is the hashed one, in a time that does not depend on how much of it is right.
func (h passwordHash) matches(password string) bool {
	key := argon2.IDKey([]byte(password), h.salt, h.passes, h.memory, h.threads, uint32(len(h.key)))
	return subtle.ConstantTimeCompare(key, h.key) == 1
}

func (h passwordHash) String() string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, h.memory, h.passes, h.threads, encode(h.salt), encode(h.key))
}

// parsePasswordHash reads what String wrote. Anything else, and costs beyond the maxima, are errBadHash.
func parsePasswordHash(text string) (passwordHash, error) {
	var h passwordHash
	fields := strings.Split(text, "$")
	if len(text) > maxHashText || len(fields) != 6 || fields[0] != "" || fields[1] != "argon2id" {
		return h, errBadHash
	}
	if fields[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, fmt.Errorf("%w: version %.20q is not supported", errBadHash, fields[2])
	}
	if _, err := fmt.Sscanf(fields[3], "m=%d,t=%d,p=%d", &h.memory, &h.passes, &h.threads); err != nil {
		return h, fmt.Errorf("%w: its costs: %w", errBadHash, err)
	}
	if h.passes < 1 || h.passes > maxHashPasses || h.threads < 1 || h.threads > maxHashThreads ||
		h.memory < 8*uint32(h.threads) || h.memory > maxHashMemory {
		return h, fmt.Errorf("%w: its costs are out of range", errBadHash)
	}
	var err error
	if h.salt, err = base64.RawStdEncoding.Strict().DecodeString(fields[4]); err != nil || len(h.salt) < 8 {
		return h, fmt.Errorf("%w: its salt is damaged", errBadHash)
	}
	if h.key, err = base64.RawStdEncoding.Strict().DecodeString(fields[5]); err != nil || len(h.key) < 16 {
		return h, fmt.Errorf("%w: its key is damaged", errBadHash)
	}
	if h.String() != text { // Sscanf takes signs, leading zeros and what follows
		return h, errBadHash
	}
	return h, nil
}
