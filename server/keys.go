package server

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/server/privatefile"
)

// keys sign and encrypt tickets.
type keys struct {
	Hash  []byte `json:"hash"`  // HMAC-SHA256
	Block []byte `json:"block"` // AES-256
}

const keySize = 32 // bytes, of each

// loadKeys reads the keys of a data directory, which it makes on the first start, readable by the owner alone.
func loadKeys(dir string) (keys, error) {
	name := filepath.Join(dir, "keys.json")
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKeys(name)
	}
	if err != nil {
		return keys{}, fmt.Errorf("reading the ticket keys: %w", err)
	}
	var k keys
	if err := json.Unmarshal(data, &k); err != nil || len(k.Hash) != keySize || len(k.Block) != keySize {
		return keys{}, fmt.Errorf("%s is damaged: remove it, and the next start makes new keys", name)
	}
	return k, nil
}

func makeKeys(name string) (keys, error) {
	k := keys{make([]byte, keySize), make([]byte, keySize)}
	rand.Read(k.Hash) // never fails, see crypto/rand
	rand.Read(k.Block)
	data, err := json.Marshal(k)
	if err != nil {
		return keys{}, fmt.Errorf("encoding the ticket keys: %w", err)
	}
	if err := privatefile.Replace(name, data); err != nil {
		return keys{}, fmt.Errorf("writing the ticket keys: %w", err)
	}
	return k, nil
}
