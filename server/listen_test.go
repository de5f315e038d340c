package server

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func listen(t *testing.T, cfg Config) (net.Listener, Endpoint) {
	t.Helper()
	listener, at, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener, at
}

func TestListenRefusesWhatOthersCanReachWithoutTLS(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.7:0"} {
		listener, _, err := Listen(Config{Listen: address})
		if err == nil {
			listener.Close()
			t.Errorf("%s: no error", address)
			continue
		}
		for _, way := range []string{"--tls self-signed", "--tls-cert", "--behind-proxy"} {
			if !strings.Contains(err.Error(), way) {
				t.Errorf("%s: error %q does not name %s", address, err, way)
			}
		}
	}
}

func TestListenSaysWhatToDo(t *testing.T) {
	_, at := listen(t, Config{Listen: "127.0.0.1:0"})
	for _, test := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"no port", Config{Listen: "127.0.0.1"}, "127.0.0.1:8600"},
		{"port in use", Config{Listen: at.Addr}, "in use by another program"},
		{"foreign address", Config{Listen: "192.0.2.7:0", BehindProxy: true}, "no address of this machine"},
		{"certificate without key", Config{Listen: "127.0.0.1:0", TLSCert: "c.pem"}, "--tls-key"},
		{"two certificates", Config{Listen: "127.0.0.1:0", TLSCert: "c.pem", TLSKey: "k.pem", SelfSigned: true}, "give one"},
		{"missing certificate", Config{Listen: "127.0.0.1:0", TLSCert: "c.pem", TLSKey: "k.pem"}, "c.pem"},
	} {
		listener, _, err := Listen(test.cfg)
		if err == nil {
			listener.Close()
			t.Errorf("%s: no error", test.name)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %q does not say %q", test.name, err, test.want)
		}
	}
}

func TestOpenURL(t *testing.T) {
	proxied := Config{BehindProxy: true, BasePath: "/tandem/", TrustedOrigins: []string{"https://desk.example.org/"}}
	for _, test := range []struct {
		cfg       Config
		host      string
		encrypted bool
		want      string
	}{
		{Config{}, "127.0.0.1", false, "http://127.0.0.1:8600/"},
		{Config{}, "::1", false, "http://[::1]:8600/"},
		{Config{BasePath: "/a/b"}, "localhost", true, "https://localhost:8600/a/b/"},
		{Config{}, "0.0.0.0", true, "https://localhost:8600/"},
		{Config{TrustedOrigins: []string{"https://desk:8600"}}, "", true, "https://desk:8600/"},
		{Config{TrustedOrigins: []string{"https://desk:8600"}}, "127.0.0.1", false, "http://127.0.0.1:8600/"},
		{proxied, "127.0.0.1", false, "https://desk.example.org/tandem/"},
	} {
		if got := openURL(test.cfg, test.host, 8600, test.encrypted); got != test.want {
			t.Errorf("openURL(%+v, %q) = %q, want %q", test.cfg, test.host, got, test.want)
		}
	}
}

func TestListenWithSelfSignedCertificate(t *testing.T) {
	listener, at := listen(t, Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), SelfSigned: true})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})

	// The printed fingerprint is all that a client needs to know this server from another.
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			sum := sha256.Sum256(state.PeerCertificates[0].Raw)
			if got := strings.ReplaceAll(at.Fingerprint, ":", ""); got != fmt.Sprintf("%X", sum[:]) {
				return fmt.Errorf("fingerprint %s was printed for %X", got, sum[:])
			}
			return nil
		},
	}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get(at.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); string(body) != "HTTP/1.1" {
		t.Errorf("served %q (%v), want HTTP/1.1", body, err)
	}

	_, err = tls.Dial("tcp", at.Addr, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11})
	if err == nil {
		t.Error("TLS 1.1 was accepted")
	}
}
