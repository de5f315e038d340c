package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// loginStatus tries a password and returns the status, and the browser that tried.
func loginStatus(t *testing.T, r *running, password string) (*browser, int) {
	t.Helper()
	b, _ := browse(t, r.link)
	return b, b.do(t, "POST", "api/login", map[string]string{"password": password}, nil)
}

func TestPasswordCommand(t *testing.T) {
	data := filepath.Join(t.TempDir(), "not", "there", "yet")
	set := []string{"password", "--data", data}
	wantRun(t, "short\n", 1, set, "8 characters")
	wantRun(t, strings.Repeat("p", 1100), 1, set, "too long")
	wantRun(t, "first password\n", 0, set, "next start")

	r := start(t, data, nil)
	if _, status := loginStatus(t, r, "wrong password"); status != http.StatusUnauthorized {
		t.Errorf("wrong password: status %d, want 401", status)
	}
	b, status := loginStatus(t, r, "first password")
	if status != http.StatusNoContent {
		t.Fatalf("status %d, want 204", status)
	}

	wantRun(t, "second password", 0, set, "All logins have ended")
	b.want(t, http.StatusUnauthorized, "GET", "api/session", nil, nil)
	if _, status := loginStatus(t, r, "first password"); status != http.StatusUnauthorized {
		t.Errorf("old password: status %d, want 401", status)
	}
	if _, status := loginStatus(t, r, "second password"); status != http.StatusNoContent {
		t.Errorf("new password: status %d, want 204", status)
	}
}

func TestLoginLinkCommand(t *testing.T) {
	data := t.TempDir()
	ask := []string{"login-link", "--data", data}
	wantRun(t, "", 1, ask, "no server runs", "--data")

	r := start(t, data, nil)
	link := strings.TrimSpace(wantRun(t, "", 0, ask))
	if link == r.link || !linkPattern.MatchString(link) {
		t.Fatalf("got %q, want a new link", link)
	}
	openLink(t, link).want(t, http.StatusOK, "GET", "api/session", nil, nil)
	again, secret := browse(t, link)
	again.want(t, http.StatusUnauthorized, "POST", "api/login/link", map[string]string{"secret": secret}, nil)
	openLink(t, r.link)
}

func TestPasswordInTheEnvironmentIsHidden(t *testing.T) {
	const password = "a password to be hidden"
	r := start(t, t.TempDir(), []string{"TANDEM_PASSWORD=" + password})
	b, status := loginStatus(t, r, password)
	if status != http.StatusNoContent {
		t.Fatalf("status %d, want 204", status)
	}

	proc := filepath.Join("/proc", strconv.Itoa(r.cmd.Process.Pid))
	for _, name := range []string{"environ", "cmdline"} {
		content, err := os.ReadFile(filepath.Join(proc, name))
		if err != nil {
			t.Skip("needs /proc")
		}
		if len(content) == 0 || strings.Contains(string(content), password) {
			t.Errorf("%s is %q", name, content)
		}
	}

	// Nor does a shell get it, or the descriptor that it came through.
	out := filepath.Join(t.TempDir(), "out")
	var made created
	b.want(t, http.StatusCreated, "POST", "api/terminals", map[string]any{
		"command": "/bin/sh", "args": []string{"-c", "env > $0.part; mv $0.part $0", out},
	}, &made)
	if !eventually(func() bool { _, err := os.Stat(out); return err == nil }) {
		t.Fatal("the terminal's command did not run")
	}
	environ, err := os.ReadFile(out)
	if err != nil || strings.Contains(string(environ), "TANDEM_PASSWORD") {
		t.Errorf("the environment of a shell is %q (%v)", environ, err)
	}
	r.stop(t, syscall.SIGTERM)
	if strings.Contains(r.stderr.String()+r.stdout.String(), password) {
		t.Error("the password was printed")
	}
}

func TestPasswordInTheEnvironmentMustBeGood(t *testing.T) {
	for password, says := range map[string]string{"short": "8 characters", strings.Repeat("p", 1025): "1024 bytes"} {
		cmd := command(t, []string{"TANDEM_PASSWORD=" + password}, "--data", t.TempDir(), "--listen", "127.0.0.1:0")
		said, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(said), says) {
			t.Errorf("got %v and %q, want exit code 1 and %q", err, said, says)
		}
	}
}

func TestPasswordFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("password in a file\r\nand a note\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, t.TempDir(), nil, "--password-file", file)
	if _, status := loginStatus(t, r, "password in a file"); status != http.StatusNoContent {
		t.Errorf("status %d, want 204", status)
	}

	free := []string{"--listen", "127.0.0.1:0", "--data", t.TempDir()}
	wantRun(t, "", 1, append(free, "--password-file", "/no/such/file"), "/no/such/file")
	if err := os.WriteFile(file, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRun(t, "", 1, append(free, "--password-file", file), "first line")
	if err := os.WriteFile(file, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRun(t, "", 1, append(free, "--password-file", file), "8 characters")
}
