package server

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockName is the file whose lock says that a server uses the data directory. It holds that server's process id.
const lockName = "lock"

// DataDir is a data directory that this process has to itself: nobody else can read it, and no second server runs on it.
type DataDir struct {
	Path string // absolute

	lock *os.File
}

// DataDirInUseError reports that a server runs on the data directory already.
type DataDirInUseError struct {
	Path string // the data directory
	PID  int    // process id of the other server; 0 if it is not known
}

func (e *DataDirInUseError) Error() string {
	other := "another tandem"
	if e.PID != 0 {
		other = fmt.Sprintf("another tandem (process %d)", e.PID)
	}
	return fmt.Sprintf("%s runs on the data directory %s: stop it, or give this one a directory of its own with --data", other, e.Path)
}

// OpenDataDir prepares the directory as PrepareDataDir does, and locks it. The lock lasts until Close or the end of the
// process. A *DataDirInUseError says that another process holds it.
func OpenDataDir(path string, log *slog.Logger) (*DataDir, error) {
	path, err := PrepareDataDir(path, log)
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	return &DataDir{Path: path, lock: lock}, nil
}

// Close gives up the lock. The lock file stays: removing it would let two servers each lock a file of that name.
func (d *DataDir) Close() error {
	return d.lock.Close()
}

// PrepareDataDir makes the directory if it is missing, sees to it that only its owner can enter, and returns its absolute
// path. It is for commands that put something there for the server, which may run on it or be starting.
//
// A directory that others can enter is closed to them, with a warning, when it is empty or a server's already. One with
// other files in it is refused: the path may be a mistake, and closing /tmp or a home directory would do harm. So is one
// that others could put files in: a password or a link to another file could be theirs.
func PrepareDataDir(path string, log *slog.Logger) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the data directory: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("make the data directory: %w (choose another with --data)", err)
	}
	if err := closeToOthers(path, log); err != nil {
		return "", err
	}
	// By this file a later start knows the directory for its own. Locking it would keep a server from starting.
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", fmt.Errorf("make the lock of the data directory: %w", err)
	}
	return path, lock.Close()
}

// closeToOthers takes the rights of group and world from the directory, or says why it does not.
func closeToOthers(path string, log *slog.Logger) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory: choose another with --data", path)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return fmt.Errorf("the data directory %s belongs to user %d and this is user %d: run as its owner, or choose another with --data",
			path, owner, os.Geteuid())
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	empty, ours, err := emptyOrOurs(path)
	switch {
	case err != nil:
		return err
	case ours && info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("other users can write to the data directory %s, so a password in it may be theirs: if it is not, run chmod 700 on it", path)
	case !empty && !ours:
		return fmt.Errorf("other users can enter %s, which has files in it that are not tandem's: choose another with --data, or run chmod 700 on it",
			path)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return fmt.Errorf("close the data directory to other users: %w", err)
	}
	log.Warn("closed the data directory to other users", "path", path, "mode_before", info.Mode().Perm().String())
	return nil
}

// emptyOrOurs reports whether a directory is empty, or has a server's lock file.
func emptyOrOurs(path string) (empty, ours bool, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return false, false, fmt.Errorf("look into the data directory: %w", err)
	}
	ours = slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == lockName })
	return len(entries) == 0, ours, nil
}

// lockFile returns the locked lock file. The kernel drops the lock with the process, however that ends.
func lockFile(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data directory: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &DataDirInUseError{Path: dir, PID: readPID(file)}
		}
		return nil, fmt.Errorf("lock the data directory %s: %w", dir, err)
	}
	if err := writePID(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("write the lock of the data directory: %w", err)
	}
	return file, nil
}

func writePID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readPID returns 0 for a file that holds no process id, such as one whose owner is just writing it.
func readPID(file *os.File) int {
	content := make([]byte, 20)
	n, _ := file.ReadAt(content, 0)
	pid, err := strconv.Atoi(string(bytes.TrimSpace(content[:n])))
	if err != nil {
		return 0
	}
	return pid
}
