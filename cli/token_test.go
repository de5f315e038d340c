package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// createToken runs the command, which must print the token alone, and returns the token.
func createToken(t *testing.T, data, name, scope string, more ...string) string {
	t.Helper()
	out := wantRun(t, "", 0, append([]string{"token", "create", "--data", data, "--name", name, "--scope", scope}, more...), "not shown again")
	secret, ok := strings.CutSuffix(out, "\n")
	if !ok || !regexp.MustCompile(`^tandem_[A-Za-z0-9_-]{43}$`).MatchString(secret) {
		t.Fatalf("printed %q, want a token alone", out)
	}
	return secret
}

// tokenStatus asks a running server for something with a token, as programs do: without a cookie, and without an Origin.
func tokenStatus(t *testing.T, r *running, method, path, secret string) int {
	t.Helper()
	b, _ := browse(t, r.link)
	request, err := http.NewRequestWithContext(t.Context(), method, b.base+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := b.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestTokenCommandsWithoutAServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "not", "there", "yet")
	list := []string{"token", "list", "--data", data}
	wantRun(t, "", 0, list, "no tokens")
	wantRun(t, "", 1, []string{"token", "revoke", "claude", "--data", data}, "no such token")
	if _, err := os.Stat(data); err == nil {
		t.Error("looking for tokens made the data directory")
	}

	claude := createToken(t, data, "claude", "terminals:read,terminals:write", "--expires", "720h")
	code := createToken(t, data, "VS Code", "metrics:read")
	if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data directory: %v (%v)", info.Mode(), err)
	}
	for range 2 {
		out := wantRun(t, "", 0, list, "claude", "terminals:read,terminals:write", "VS Code", "metrics:read", "never")
		if strings.Contains(out, "tandem_") || strings.Contains(out, claude[10:]) || strings.Contains(out, code[10:]) {
			t.Errorf("the list shows a secret: %s", out)
		}
		if lines := strings.Count(out, "\n"); lines != 3 {
			t.Errorf("%d lines, want a head and two tokens: %s", lines, out)
		}
	}
	wantRun(t, "", 1, []string{"token", "create", "--data", data, "--name", "claude", "--scope", "terminals:read"}, "exists", "revoke")
	wantRun(t, "", 0, []string{"token", "revoke", "VS Code", "--data", data}, "VS Code is revoked")
	wantRun(t, "", 1, []string{"token", "revoke", "VS Code", "--data", data}, "no such token")
	if out := wantRun(t, "", 0, list, "claude"); strings.Contains(out, "VS Code") {
		t.Errorf("a revoked token is listed: %s", out)
	}

	r := start(t, data, nil)
	if status := tokenStatus(t, r, "GET", "api/terminals", claude); status != http.StatusOK {
		t.Errorf("status %d for a token from before the start", status)
	}
	if status := tokenStatus(t, r, "GET", "metrics", code); status != http.StatusUnauthorized {
		t.Errorf("status %d for one that was revoked before it", status)
	}
}

func TestTokenCommandsBesideAServer(t *testing.T) {
	r := start(t, t.TempDir(), nil, "--log-level", "debug")
	secret := createToken(t, r.data, "claude", "terminals:read")
	if status := tokenStatus(t, r, "GET", "api/terminals", secret); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	for method, path := range map[string]string{"POST": "api/terminals", "GET": "api/session"} {
		if status := tokenStatus(t, r, method, path, secret); status != http.StatusForbidden {
			t.Errorf("%s %s: status %d, want 403", method, path, status)
		}
	}
	out := wantRun(t, "", 0, []string{"token", "list", "--data", r.data}, "claude")
	if strings.Contains(out, secret) || strings.Count(out, "never") != 1 {
		t.Errorf("the list shows the secret, or not that the token was used: %s", out)
	}

	wantRun(t, "", 0, []string{"token", "revoke", "claude", "--data", r.data}, "cut off")
	if status := tokenStatus(t, r, "GET", "api/terminals", secret); status != http.StatusUnauthorized {
		t.Errorf("status %d after it was revoked", status)
	}
	again := createToken(t, r.data, "claude", "terminals:read")
	if status := tokenStatus(t, r, "GET", "api/terminals", again); status != http.StatusOK {
		t.Errorf("status %d for a new one of the same name", status)
	}
	r.stop(t, syscall.SIGTERM)
	if log := r.stderr.String(); strings.Contains(log, "tandem_") || !strings.Contains(log, "tokens") {
		t.Errorf("the log holds a token, or nothing about tokens: %s", log)
	}
	wantRun(t, "", 0, []string{"token", "revoke", "claude", "--data", r.data}, "claude is revoked")
}

func TestTokenExpires(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	secret := createToken(t, r.data, "claude", "terminals:read", "--expires", "1s")
	if !eventually(func() bool { return tokenStatus(t, r, "GET", "api/terminals", secret) == http.StatusUnauthorized }) {
		t.Error("it goes on")
	}
	wantRun(t, "", 0, []string{"token", "list", "--data", r.data}, "no tokens")
}

// A script starts the server and makes a token right away: neither gets into the other's way, and the token counts.
func TestTokenIsMadeAsTheServerStarts(t *testing.T) {
	data := t.TempDir()
	var secrets [4]string
	var all sync.WaitGroup
	for i := range secrets {
		all.Go(func() { secrets[i] = createToken(t, data, string(rune('a'+i)), "terminals:read") })
	}
	r := start(t, data, nil)
	all.Wait()
	for _, secret := range secrets {
		if status := tokenStatus(t, r, "GET", "api/terminals", secret); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
}

func TestTokenIsRevokedAfterACrash(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	secret := createToken(t, r.data, "claude", "terminals:read")
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait()
	wantRun(t, "", 0, []string{"token", "revoke", "claude", "--data", r.data}, "claude is revoked")
	r = start(t, r.data, nil)
	if status := tokenStatus(t, r, "GET", "api/terminals", secret); status != http.StatusUnauthorized {
		t.Errorf("status %d", status)
	}
}

func TestTokenUsage(t *testing.T) {
	data := t.TempDir()
	create := []string{"token", "create", "--data", data}
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"token", "--data", data}, "create"},
		{create, "--name"},
		{append(create, "--name", "claude"), "--scope"},
		{append(create, "--name", "claude", "--scope", ""), "--scope"},
		{append(create, "--name", "claude", "--scope", "terminals:read,all"), "terminals:write"},
		{append(create, "--name", "", "--scope", "terminals:read"), "1 to 64"},
		{append(create, "--name", "a\nb", "--scope", "terminals:read"), "printable"},
		{append(create, "--name", "claude", "--scope", "terminals:read", "--expires", "30"), "--expires"},
		{append(create, "--name", "claude", "--scope", "terminals:read", "--expires", "-1h"), "--expires"},
		{append(create, "--name", "claude", "--scope", "terminals:read", "--expires", "0s"), "--expires"},
		{[]string{"token", "revoke", "--data", data}, "<name>"},
	} {
		wantRun(t, "", 2, test.args, test.says, "tandem --help")
	}
	wantRun(t, "", 0, []string{"token", "list", "--data", data}, "no tokens")
}
