package cli

import (
	"os"
	"path/filepath"
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
