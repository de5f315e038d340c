package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrNotRunning reports that no server runs on a data directory.
var ErrNotRunning = errors.New("no server runs on this data directory")

// AskLoginLink asks the server that runs on a data directory for a fresh login link and returns its URL.
// It returns ErrNotRunning if there is none.
func AskLoginLink(ctx context.Context, dataDir string) (string, error) {
	var link adminLink
	if err := askAdmin(ctx, dataDir, "login-link", &link); err != nil {
		return "", fmt.Errorf("ask the server for a login link: %w", err)
	}
	return link.URL, nil
}

// TellPasswordChanged makes the server that runs on a data directory use the password stored there now. All its logins
// end. It returns ErrNotRunning if there is no server.
func TellPasswordChanged(ctx context.Context, dataDir string) error {
	if err := askAdmin(ctx, dataDir, "password-changed", nil); err != nil {
		return fmt.Errorf("tell the server about the new password: %w", err)
	}
	return nil
}

// TellTokensChanged makes the server that runs on a data directory read its tokens anew. Sockets of tokens that are gone
// end. It returns ErrNotRunning if there is no server.
func TellTokensChanged(ctx context.Context, dataDir string) error {
	if err := askAdmin(ctx, dataDir, "tokens-changed", nil); err != nil {
		return fmt.Errorf("tell the server about the tokens: %w", err)
	}
	return nil
}

// askAdmin sends one command and decodes the JSON of its answer, unless answer is nil.
func askAdmin(ctx context.Context, dataDir, command string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, adminWithin)
	defer cancel()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dataDir, adminName))
		},
		DisableKeepAlives: true,
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://admin/"+command, http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	var failed *url.Error
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return ErrNotRunning
	case errors.As(err, &failed):
		return failed.Err // without the URL, which is of no use to people
	case err != nil:
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		return fmt.Errorf("%s: %s", response.Status, strings.TrimSpace(string(reason)))
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
