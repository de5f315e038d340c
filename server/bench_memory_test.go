package server

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkMemory reports the resident memory of the real program, in MiB: after a login by password with ten idle
// tabs, each shown by a viewer, and after 1 GB through each of them.
func BenchmarkMemory(b *testing.B) {
	const tabs, through = 10, 1_000_000_000
	for b.Loop() {
		dir := b.TempDir()
		c, pid := startProgram(b)
		var ids []string
		var viewers sync.WaitGroup
		for range tabs {
			id, _ := c.create(bareBash)
			ids = append(ids, id)
			v := c.viewer(b, id, 0)
			viewers.Go(func() {
				for {
					if _, _, err := v.read(); err != nil {
						return // the terminal is gone
					}
				}
			})
		}
		time.Sleep(3 * time.Second) // what a login leaves behind is given back
		idle := resident(b, pid)
		var floods sync.WaitGroup
		for _, id := range ids {
			l := c.attach(id, -1)
			floods.Go(func() {
				// Typed by a second viewer, which leaves again at once: its window is not to matter.
				finished := filepath.Join(dir, id)
				l.types(fmt.Sprintf("yes 'a line of output, as long as they usually are' | head -c %d; echo > %s\n", through, finished))
				_ = l.conn.CloseNow()
				for {
					if _, err := os.Stat(finished); err == nil {
						return
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		floods.Wait()
		time.Sleep(3 * time.Second)
		b.ReportMetric(idle, "MiB-idle")
		b.ReportMetric(resident(b, pid), "MiB-after-1GB-each")
		b.ReportMetric(0, "ns/op")
		for _, id := range ids {
			c.do("DELETE", "api/terminals/"+id, nil)
		}
		viewers.Wait()
	}
}

// startProgram builds and starts the program and logs in to it by password.
func startProgram(b *testing.B) (*client, int) {
	b.Helper()
	dir := b.TempDir()
	program := filepath.Join(dir, "tandem")
	if out, err := exec.Command("go", "build", "-o", program, "tandem").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"))
	cmd.Env = append(os.Environ(), "TANDEM_PASSWORD=correct horse battery")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			b.Errorf("program ended: %v", err)
		}
	})
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if base := address.FindString(lines.Text()); base != "" {
			go func() {
				for lines.Scan() {
				}
			}()
			jar, err := cookiejar.New(nil)
			if err != nil {
				b.Fatal(err)
			}
			u, err := url.Parse(base)
			if err != nil {
				b.Fatal(err)
			}
			c := &client{b, &instance{url: base}, &http.Client{Jar: jar}, u.Scheme + "://" + u.Host}
			if a := c.do("POST", "api/login", map[string]string{"password": "correct horse battery"}); a.status != http.StatusNoContent {
				b.Fatal(a)
			}
			return c, cmd.Process.Pid
		}
	}
	b.Fatal("the program printed no link")
	return nil, 0
}

// resident returns the resident memory of a process in MiB.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				b.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	b.Fatal("no VmRSS")
	return 0
}
