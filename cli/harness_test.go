package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait in these tests; none is expected to last long.
const patience = 30 * time.Second

// binary is the path of the tandem that the tests run.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tandem-cli")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "tandem")
	build := exec.Command("go", "build", "-o", binary, "tandem")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "go build:", err)
		return 1
	}
	return m.Run()
}

// command is a tandem with nothing from this process's environment that would change what it does.
func command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience) // some tests wait for longer things
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.WaitDelay = patience
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	return cmd
}

// run runs tandem to its end.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := command(t, nil, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// wantRun runs tandem and checks its exit code, and that its messages contain the words.
func wantRun(t *testing.T, stdin string, code int, args []string, words ...string) (stdout string) {
	t.Helper()
	stdout, stderr, got := run(t, stdin, args...)
	if got != code {
		t.Errorf("tandem %q: exit code %d, want %d; it said: %s%s", args, got, code, stdout, stderr)
	}
	for _, word := range words {
		if !strings.Contains(stdout+stderr, word) {
			t.Errorf("tandem %q: does not say %q: %s%s", args, word, stdout, stderr)
		}
	}
	return stdout
}

// output is a buffer that one goroutine writes and another reads.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// running is a tandem that serves.
type running struct {
	cmd    *exec.Cmd
	data   string // its data directory
	link   string // the login link that it printed
	stdout output
	stderr output
}

var linkPattern = regexp.MustCompile(`https?://\S+#login=\S+`)

// start starts a server on a free port and a data directory, and waits for its link. The test's end ends it.
func start(t *testing.T, data string, env []string, args ...string) *running {
	t.Helper()
	r := &running{data: data}
	r.cmd = command(t, env, append([]string{"--data", data, "--listen", "127.0.0.1:0"}, args...)...)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r.cmd.ProcessState == nil {
			r.stop(t, syscall.SIGTERM)
		}
	})
	if !eventually(func() bool { return strings.Contains(r.stdout.String(), "Ctrl-C") }) {
		t.Fatalf("the server printed no greeting: %s%s", r.stdout.String(), r.stderr.String())
	}
	r.link = linkPattern.FindString(r.stdout.String())
	if r.link == "" {
		t.Fatalf("the server printed no link: %s", r.stdout.String())
	}
	return r
}

// stop sends a signal and expects the server to end well.
func (r *running) stop(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("after %v: %v; log: %s", signal, err, r.stderr.String())
	}
}

// eventually polls until done or out of patience.
func eventually(done func() bool) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if done() {
			return true
		}
	}
	return done()
}

// browser keeps cookies and says where its requests come from.
type browser struct {
	http   http.Client
	base   string // ends with a slash
	origin string
}

// browse returns a browser for the server that a login link leads to.
func browse(t *testing.T, link string) (b *browser, secret string) {
	t.Helper()
	base, secret, _ := strings.Cut(link, "#login=")
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{
		http:   http.Client{Transport: transport, Jar: jar, Timeout: patience},
		base:   base,
		origin: at.Scheme + "://" + at.Host,
	}, secret
}

// do sends body as JSON, decodes the answer into answer unless that is nil, and returns the status.
func (b *browser) do(t *testing.T, method, path string, body, answer any) int {
	t.Helper()
	var content io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, b.base+path, content)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Origin", b.origin)
	request.Header.Set("Content-Type", "application/json")
	response, err := b.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answer != nil {
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
			t.Errorf("%s %s: %v", method, path, err)
		}
	}
	return response.StatusCode
}

// want is do with an expected status.
func (b *browser) want(t *testing.T, status int, method, path string, body, answer any) {
	t.Helper()
	if got := b.do(t, method, path, body, answer); got != status {
		t.Errorf("%s %s: status %d, want %d", method, path, got, status)
	}
}

// openLink logs in by a link and returns the browser that did.
func openLink(t *testing.T, link string) *browser {
	t.Helper()
	b, secret := browse(t, link)
	b.want(t, http.StatusNoContent, "POST", "api/login/link", map[string]string{"secret": secret}, nil)
	return b
}

// created is the answer to a new terminal.
type created struct {
	Terminal struct {
		ID string `json:"id"`
	} `json:"terminal"`
	Ticket string `json:"ticket"`
}

// processesOf returns the ids of the processes that carry a terminal's id in their environment.
func processesOf(t *testing.T, terminal string) []string {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		t.Skip("needs /proc")
	}
	var found []string
	for _, path := range environs {
		environ, _ := os.ReadFile(path) // a process may end meanwhile
		if slices.Contains(strings.Split(string(environ), "\x00"), "TANDEM_TERMINAL="+terminal) {
			found = append(found, filepath.Base(filepath.Dir(path)))
		}
	}
	return found
}
