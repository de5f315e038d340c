// Package privatefile writes files that are for their owner alone.
package privatefile

import (
	"os"
	"path/filepath"
)

// Replace writes a file of mode 0600 in one step: after a crash or a power cut it is there whole, or as it was.
func Replace(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // makes it 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	if _, err := file.Write(content); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
