package cli

import (
	"strings"
	"testing"
)

func TestHelpTeaches(t *testing.T) {
	wantRun(t, "", 0, []string{"--help"},
		"tandem ~/project", "--tls self-signed", "tandem login-link", "tandem password", "tandem token create", "tandem share", "tandem serve --help", "TANDEM_MAX_TERMINALS=20")
	wantRun(t, "", 0, []string{"serve", "--help"},
		"TANDEM_DATA", "TANDEM_LISTEN", "TANDEM_SHELL", "TANDEM_MAX_TERMINALS", "TANDEM_LOG_BYTES", "TANDEM_PASSWORD_FILE", "TANDEM_PASSWORD ",
		"TANDEM_TLS", "TANDEM_TLS_CERT", "TANDEM_TLS_KEY", "TANDEM_BEHIND_PROXY", "TANDEM_TRUSTED_ORIGIN", "TANDEM_BASE_PATH",
		"TANDEM_LOG_LEVEL", "TANDEM_LOG_FORMAT")
}

func TestShareHelp(t *testing.T) {
	wantRun(t, "", 0, []string{"share", "--help"}, "TANDEM_TO", "TANDEM_TOKEN ", "TANDEM_TOKEN_FILE", "TANDEM_FINGERPRINT", "--name")
}

func TestVersion(t *testing.T) {
	out := wantRun(t, "", 0, []string{"version"})
	if name, version, ok := strings.Cut(strings.TrimSpace(out), " "); name != "tandem" || !ok || version == "" {
		t.Errorf("got %q, want the name and a version", out)
	}
}

func TestWrongUsageExitsWith2(t *testing.T) {
	data := t.TempDir()
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"--nope"}, "--nope"},
		{[]string{"pasword"}, "pasword is neither a command nor a directory"},
		{[]string{"--listen", "8600"}, "127.0.0.1:8600"},
		{[]string{"--max-terminals", "0"}, "1 or more"},
		{[]string{"--max-terminals", "many"}, "--max-terminals"},
		{[]string{"--log-bytes", "4096"}, "1048576 or more"},
		{[]string{"--log-level", "loud"}, "--log-level"},
		{[]string{"--log-format", "xml"}, "json"},
		{[]string{"--tls", "always"}, "self-signed"},
		{[]string{"--base-path", "/a?b"}, "--base-path"},
		{[]string{"--shell", "/no/such/shell"}, "/no/such/shell"},
		{[]string{"version", "extra"}, "extra"},
		{[]string{"--data", ""}, "--data"},
	} {
		wantRun(t, "", 2, append([]string{"--data", data}, test.args...), test.says, "tandem --help")
	}
}
