package server

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestCertificateNames(t *testing.T) {
	for _, test := range []struct {
		listen, machine string
		further         []string
	}{
		{"127.0.0.1", "desk", []string{"desk"}},
		{"0.0.0.0", "desk", []string{"desk"}},
		{"::", "", nil},
		{"", "Desk.Example.Org", []string{"desk.example.org"}},
		{"192.0.2.7", "desk", []string{"192.0.2.7", "desk"}},
		{"desk", "desk", []string{"desk"}},
		{"fe80::1%eth0", "no_host name", nil},
	} {
		want := append([]string{"localhost", "127.0.0.1", "::1"}, test.further...)
		if got := certificateNames(test.listen, test.machine); !slices.Equal(got, want) {
			t.Errorf("certificateNames(%q, %q) = %q, want %q", test.listen, test.machine, got, want)
		}
	}
}

func TestSelfSignedCertificateLasts(t *testing.T) {
	dir := t.TempDir()
	names := []string{"localhost", "127.0.0.1", "::1", "desk"}
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(names []string, now time.Time) tls.Certificate {
		t.Helper()
		certificate, err := selfSigned(dir, names, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := certificate.Leaf.VerifyHostname(name); err != nil {
				t.Error(err)
			}
		}
		return certificate
	}
	first := at(names, start)
	wantMode(t, filepath.Join(dir, certificateName), 0o600)
	if life := first.Leaf.NotAfter.Sub(first.Leaf.NotBefore); life != certificateLife {
		t.Errorf("valid for %v, want %v", life, certificateLife)
	}

	same := fingerprintOf(first)
	if got := fingerprintOf(at(names, start.AddDate(1, 0, 0))); got != same {
		t.Error("a good certificate was replaced after a year")
	}
	if got := fingerprintOf(at(names[:3], start)); got != same {
		t.Error("a certificate was replaced though it is for all names")
	}
	renewed := fingerprintOf(at(names, start.AddDate(1, 0, 5)))
	if renewed == same {
		t.Error("a certificate was kept that ends in less than 30 days")
	}
	if got := fingerprintOf(at(append(names, "192.0.2.7"), start.AddDate(1, 0, 5))); got == renewed {
		t.Error("a certificate was kept that is not for the new address")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %d files (%v), want 1", len(entries), err)
	}
}

func TestSelfSignedCertificateThatIsDamagedIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, certificateName)
	if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := selfSigned(dir, []string{"localhost"}, time.Now()); err == nil {
		t.Error("a damaged certificate was accepted")
	}
	if content, _ := os.ReadFile(path); string(content) != "damaged" {
		t.Error("a damaged certificate was replaced")
	}
}
