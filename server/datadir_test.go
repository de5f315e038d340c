package server

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func openDataDir(t *testing.T, path string) *DataDir {
	t.Helper()
	dir, err := OpenDataDir(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return dir
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("mode of %s is %v, want %v", path, got, want)
	}
}

func TestDataDirIsMadePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	openDataDir(t, path)
	wantMode(t, path, 0o700)
	wantMode(t, filepath.Join(path, lockName), 0o600)
}

func TestDataDirOpenToOthersIsClosed(t *testing.T) {
	path := t.TempDir()
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	dir, err := OpenDataDir(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	_ = dir.Close()
	wantMode(t, path, 0o700)
	if !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("no warning in the log: %q", log.String())
	}

	// With its lock file there it is known as a data directory, whatever else it holds.
	if err := os.Chmod(path, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "tandem.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	openDataDir(t, path)
	wantMode(t, path, 0o700)
}

// Somebody else may have put the password there, or a link in place of the lock, whose target would be overwritten.
func TestDataDirThatOthersWroteToIsRefused(t *testing.T) {
	path, target := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(path, lockName)); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o770, 0o707, 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenDataDir(path, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("%v: got error %v, want one that says what to do", mode, err)
		}
		wantMode(t, path, mode)
	}
	if content, err := os.ReadFile(target); string(content) != "precious" {
		t.Errorf("the target holds %q, %v", content, err)
	}
}

func TestDataDirWithForeignFilesIsLeftAlone(t *testing.T) {
	path := t.TempDir()
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenDataDir(path, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("got error %v, want one that names --data", err)
	}
	wantMode(t, path, 0o755)
}

func TestDataDirThatIsAFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDataDir(path, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a file was taken for a data directory")
	}
}

func TestDataDirHasOneServer(t *testing.T) {
	path := t.TempDir()
	first := openDataDir(t, path)

	_, err := OpenDataDir(path, slog.New(slog.DiscardHandler))
	var inUse *DataDirInUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("second open: got error %v, want a *DataDirInUseError", err)
	}
	if inUse.PID != os.Getpid() {
		t.Errorf("error names process %d, want %d", inUse.PID, os.Getpid())
	}

	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	openDataDir(t, path)
}
