package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// fakeAdmin counts what it is asked.
type fakeAdmin struct {
	links, changes, tokens atomic.Int64
	refusal                error
}

func (f *fakeAdmin) NewLink() string {
	return fmt.Sprintf("http://127.0.0.1:8600/#login=%d", f.links.Add(1))
}

func (f *fakeAdmin) PasswordChanged(context.Context) error {
	f.changes.Add(1)
	return f.refusal
}

func (f *fakeAdmin) TokensChanged(context.Context) error {
	f.tokens.Add(1)
	return f.refusal
}

// serveAdmin runs an admin socket on a data directory and returns what ends it.
func serveAdmin(t *testing.T, dir *DataDir, admin Admin) (stop func()) {
	t.Helper()
	listener, err := ListenAdmin(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- ServeAdmin(ctx, listener, admin, slog.New(slog.DiscardHandler)) }()
	return func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

func TestAdminCommands(t *testing.T) {
	dir := openDataDir(t, t.TempDir())
	admin := &fakeAdmin{}
	stop := serveAdmin(t, dir, admin)
	wantMode(t, filepath.Join(dir.Path, adminName), 0o600)

	for _, want := range []string{"http://127.0.0.1:8600/#login=1", "http://127.0.0.1:8600/#login=2"} {
		if got, err := AskLoginLink(t.Context(), dir.Path); got != want || err != nil {
			t.Errorf("got link %q (%v), want %q", got, err, want)
		}
	}
	if err := TellPasswordChanged(t.Context(), dir.Path); err != nil || admin.changes.Load() != 1 {
		t.Errorf("got error %v and %d changes, want none and 1", err, admin.changes.Load())
	}
	if err := TellTokensChanged(t.Context(), dir.Path); err != nil || admin.tokens.Load() != 1 {
		t.Errorf("got error %v and %d changes of tokens, want none and 1", err, admin.tokens.Load())
	}
	admin.refusal = errors.New("disk is full")
	if err := TellTokensChanged(t.Context(), dir.Path); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("got error %v, want one that says that the disk is full", err)
	}
	if err := TellPasswordChanged(t.Context(), dir.Path); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("got error %v, want one that says that the disk is full", err)
	}

	stop()
	if _, err := AskLoginLink(t.Context(), dir.Path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the end: got error %v, want ErrNotRunning", err)
	}
	if _, err := os.Lstat(filepath.Join(dir.Path, adminName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind (%v)", err)
	}
}

func TestAdminSocketOfACrashedServerIsReplaced(t *testing.T) {
	dir := openDataDir(t, t.TempDir())
	crashed, err := net.Listen("unix", filepath.Join(dir.Path, adminName))
	if err != nil {
		t.Fatal(err)
	}
	crashed.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = crashed.Close()
	if _, err := AskLoginLink(t.Context(), dir.Path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("got error %v, want ErrNotRunning", err)
	}

	stop := serveAdmin(t, dir, &fakeAdmin{})
	defer stop()
	if _, err := AskLoginLink(t.Context(), dir.Path); err != nil {
		t.Error(err)
	}
}

func TestAdminSocketSparesOtherFiles(t *testing.T) {
	dir := openDataDir(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(dir.Path, adminName), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenAdmin(dir); err == nil {
		t.Error("a file was replaced by the admin socket")
	}
}

func TestAdminSocketPathIsBounded(t *testing.T) {
	dir := openDataDir(t, filepath.Join(t.TempDir(), strings.Repeat("d", 100)))
	if _, err := ListenAdmin(dir); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("got error %v, want one that asks for a shorter path", err)
	}
}
