package cli

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"tandem/server"
)

// defaultDataDir follows the XDG Base Directory Specification. It returns "" for a user without a home directory.
func defaultDataDir() string {
	// The specification has relative paths ignored.
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "tandem")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share", "tandem")
}

// prepareDataDir makes the data directory if it is missing, and sees to it that only its owner can enter. It gives its
// lock up again at once, so as not to keep a server from starting.
func prepareDataDir(dataDir string) error {
	dir, err := server.OpenDataDir(dataDir, slog.New(slog.DiscardHandler))
	if inUse := (*server.DataDirInUseError)(nil); errors.As(err, &inUse) {
		return nil // the server has seen to it
	}
	if err != nil {
		return err
	}
	return dir.Close()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
