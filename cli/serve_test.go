package cli

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestServeLeavesNothingBehindAndLogsNoSecret(t *testing.T) {
	dir := t.TempDir()
	r := start(t, t.TempDir(), nil, dir, "--log-level", "debug")
	b, secret := browse(t, r.link)
	b.want(t, http.StatusUnauthorized, "GET", "api/session", nil, nil)
	b.want(t, http.StatusNoContent, "POST", "api/login/link", map[string]string{"secret": secret}, nil)
	var session struct{ Dir string }
	b.want(t, http.StatusOK, "GET", "api/session", nil, &session)
	if session.Dir != dir {
		t.Errorf("shells start in %q, want %q", session.Dir, dir)
	}

	// A job in a session of its own, which no hangup reaches.
	var made created
	b.want(t, http.StatusCreated, "POST", "api/terminals", map[string]any{
		"command": "/bin/sh", "args": []string{"-c", "setsid sleep 1000 & exec sleep 1000"},
	}, &made)
	if !eventually(func() bool { return len(processesOf(t, made.Terminal.ID)) == 2 }) {
		t.Fatalf("processes of the terminal: %v, want 2", processesOf(t, made.Terminal.ID))
	}

	r.stop(t, syscall.SIGTERM)
	if left := processesOf(t, made.Terminal.ID); len(left) != 0 {
		t.Errorf("processes left behind: %v", left)
	}
	at, err := url.Parse(b.base)
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{secret, made.Ticket}
	for _, cookie := range b.http.Jar.Cookies(at) {
		secrets = append(secrets, cookie.Value)
	}
	if len(secrets) != 3 {
		t.Errorf("the login made %d cookies, want 1", len(secrets)-2)
	}
	log := r.stderr.String()
	if !strings.Contains(log, "/api/terminals") {
		t.Errorf("requests are not logged: %s", log)
	}
	for _, secret := range secrets {
		if secret == "" || strings.Contains(log, secret) {
			t.Errorf("the log contains the secret %q", secret)
		}
	}
}

func TestServeEndsOnSignals(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		r := start(t, t.TempDir(), nil, "serve")
		r.stop(t, signal)
	}
}

func TestServeSurvivesTheEndOfItsReaders(t *testing.T) {
	greeting, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, nil, "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--log-level", "debug")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	var said strings.Builder
	for buf := make([]byte, 4096); !strings.Contains(said.String(), "Ctrl-C"); {
		n, err := greeting.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, said.String())
		}
		said.Write(buf[:n])
	}
	_ = greeting.Close()

	b := openLink(t, linkPattern.FindString(said.String()))
	b.want(t, http.StatusOK, "GET", "api/terminals", nil, nil)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestServeRefusesToStart(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	at, err := url.Parse(r.link)
	if err != nil {
		t.Fatal(err)
	}
	free := []string{"--listen", "127.0.0.1:0"}
	wantRun(t, "", 1, append(free, "--data", r.data), "runs on the data directory", "--data")
	wantRun(t, "", 1, []string{"--data", t.TempDir(), "--listen", at.Host}, "in use", "--listen")
	wantRun(t, "", 1, []string{"--data", t.TempDir(), "--listen", "0.0.0.0:0"}, "--tls self-signed", "--behind-proxy")
	wantRun(t, "", 1, append(free, "--data", filepath.Join(t.TempDir(), strings.Repeat("d", 100))), "shorter")
	wantRun(t, "", 1, append(free, "--data", t.TempDir(), "--trusted-origin", "nonsense"), "https://tandem.example.org")
}

func TestServeTakesOptionsFromTheEnvironment(t *testing.T) {
	r := start(t, t.TempDir(), []string{"TANDEM_MAX_TERMINALS=1", "TANDEM_BASE_PATH=/sub/path", "TANDEM_LOG_FORMAT=json"})
	if !strings.Contains(r.link, "/sub/path/#login=") {
		t.Errorf("the link %s is not below the base path", r.link)
	}
	b := openLink(t, r.link)
	shell := map[string]string{"command": "/bin/cat"}
	b.want(t, http.StatusCreated, "POST", "api/terminals", shell, nil)
	b.want(t, http.StatusConflict, "POST", "api/terminals", shell, nil)
	if log := r.stderr.String(); !strings.HasPrefix(log, "{") {
		t.Errorf("the log is not JSON: %s", log)
	}
}

// The scripts for shells are put in the data directory when the first one starts, unless they are switched off.
func TestServeWithoutShellIntegration(t *testing.T) {
	for _, test := range []struct {
		env, args []string
		want      bool
	}{
		{nil, nil, true},
		{nil, []string{"--no-shell-integration"}, false},
		{[]string{"TANDEM_SHELL_INTEGRATION=false"}, nil, false},
	} {
		data := t.TempDir()
		r := start(t, data, test.env, append(test.args, "--shell", "/bin/bash")...)
		openLink(t, r.link).want(t, http.StatusCreated, "POST", "api/terminals", map[string]string{}, nil)
		if _, err := os.Stat(filepath.Join(data, "shell", "bash.sh")); (err == nil) != test.want {
			t.Errorf("%v %v: %v", test.env, test.args, err)
		}
	}
}

func TestServeWithSelfSignedCertificate(t *testing.T) {
	data := t.TempDir()
	fingerprint := func() string {
		r := start(t, data, nil, "--tls", "self-signed")
		openLink(t, r.link).want(t, http.StatusOK, "GET", "api/session", nil, nil)
		defer r.stop(t, syscall.SIGTERM)
		for line := range strings.Lines(r.stdout.String()) {
			if line = strings.TrimSpace(line); len(line) == 32*3-1 && strings.Count(line, ":") == 31 {
				return line
			}
		}
		t.Fatalf("no fingerprint printed: %s", r.stdout.String())
		return ""
	}
	if first, second := fingerprint(), fingerprint(); first != second {
		t.Errorf("the fingerprint changed from %s to %s", first, second)
	}
}
