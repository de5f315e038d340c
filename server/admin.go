package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// adminName is the Unix socket in the data directory over which commands reach the running server. Whoever can open it
// is the server's user, who could read the data directory as well, so it asks for no login.
const adminName = "admin.sock"

// adminWithin bounds a request on the admin socket.
const adminWithin = 10 * time.Second

// Admin is what commands on the same machine may ask of a running server.
type Admin interface {
	NewLink() string                           // the URL of a fresh one-time login link
	PasswordChanged(ctx context.Context) error // the stored password is another now
	TokensChanged(ctx context.Context) error   // the stored tokens are others now
}

// ListenAdmin opens the admin socket, for its owner alone. A socket left by a server that crashed is replaced: the lock
// on dir, which the caller holds, says that nobody uses it. ServeAdmin closes the listener.
func ListenAdmin(dir *DataDir) (net.Listener, error) {
	path := filepath.Join(dir.Path, adminName)
	if limit := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > limit {
		return nil, fmt.Errorf("the path %s is %d bytes long and a Unix socket's may have %d: choose a shorter data directory with --data",
			path, len(path), limit)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("look for an old admin socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is in the way of the admin socket: move it away", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the old admin socket: %w", err)
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open the admin socket: %w", err)
	}
	// Until here the mode of the directory keeps others out.
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("close the admin socket to other users: %w", err)
	}
	return listener, nil
}

// ServeAdmin answers commands on a listener of ListenAdmin until ctx ends, closes it, and returns once no command is
// being answered any more.
func ServeAdmin(ctx context.Context, listener net.Listener, admin Admin, log *slog.Logger) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login-link", func(w http.ResponseWriter, _ *http.Request) {
		log.Info("made a login link on command")
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(adminLink{URL: admin.NewLink()})
	})
	mux.HandleFunc("POST /password-changed", func(w http.ResponseWriter, r *http.Request) {
		if err := admin.PasswordChanged(r.Context()); err != nil {
			log.Error("taking over the new password", "error", err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		log.Info("took over the new password and ended all logins")
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /tokens-changed", func(w http.ResponseWriter, r *http.Request) {
		if err := admin.TokensChanged(r.Context()); err != nil {
			log.Error("taking over the changed tokens", "error", err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		log.Info("took over the changed tokens")
		w.WriteHeader(http.StatusNoContent)
	})
	server := &http.Server{Handler: mux, ReadTimeout: adminWithin, WriteTimeout: adminWithin}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the admin socket: %w", err)
	case <-ctx.Done():
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), adminWithin)
	defer cancel()
	err := server.Shutdown(within)
	<-ended
	return err
}

type adminLink struct {
	URL string `json:"url"`
}
