package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Endpoint is where a server can be reached.
type Endpoint struct {
	Addr        string // what is listened on, "host:port", with the port that was chosen if port 0 was asked for
	URL         string // what a person opens; ends with a slash
	Fingerprint string // SHA-256 of the self-signed certificate, as browsers show it; "" without one
}

// Listen opens the address of cfg, with TLS if cfg has it. The caller closes the listener, or leaves that to Serve.
//
// An address that other machines can reach is refused without TLS or cfg.BehindProxy. With cfg.SelfSigned, the data
// directory must exist. Errors say what to change.
func Listen(cfg Config) (net.Listener, Endpoint, error) {
	host, _, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return nil, Endpoint{}, fmt.Errorf("cannot listen on %q: give an address and a port, such as 127.0.0.1:8600", cfg.Listen)
	}
	encrypted, fingerprint, err := tlsConfig(cfg, host)
	if err != nil {
		return nil, Endpoint{}, err
	}

	// The address that was checked is the one that is opened: a name is looked up only once.
	addr, err := net.ResolveTCPAddr("tcp", cfg.Listen)
	if err != nil {
		return nil, Endpoint{}, fmt.Errorf("find the address to listen on: %w", err)
	}
	if !addr.IP.IsLoopback() && encrypted == nil && !cfg.BehindProxy {
		return nil, Endpoint{}, fmt.Errorf("refusing to listen on %s without encryption, since other machines can reach it: "+
			"use --tls self-signed, or --tls-cert and --tls-key, or --behind-proxy if a proxy in front of it does TLS", cfg.Listen)
	}

	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return nil, Endpoint{}, listenError(cfg.Listen, err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	at := Endpoint{
		Addr:        net.JoinHostPort(host, strconv.Itoa(port)),
		URL:         openURL(cfg, host, port, encrypted != nil),
		Fingerprint: fingerprint,
	}
	if encrypted != nil {
		return tls.NewListener(listener, encrypted), at, nil
	}
	return listener, at, nil
}

// tlsConfig returns nil without TLS.
func tlsConfig(cfg Config, host string) (config *tls.Config, fingerprint string, err error) {
	var certificate tls.Certificate
	switch {
	case (cfg.TLSCert == "") != (cfg.TLSKey == ""):
		return nil, "", errors.New("--tls-cert and --tls-key belong together: give both")
	case cfg.SelfSigned && cfg.TLSCert != "":
		return nil, "", errors.New("--tls self-signed and --tls-cert exclude each other: give one")
	case cfg.SelfSigned:
		name, err := os.Hostname()
		if err != nil {
			return nil, "", fmt.Errorf("find this machine's name: %w", err)
		}
		certificate, err = selfSigned(cfg.DataDir, certificateNames(host, name), time.Now())
		if err != nil {
			return nil, "", err
		}
		fingerprint = fingerprintOf(certificate)
	case cfg.TLSCert != "":
		certificate, err = tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
		if err != nil {
			return nil, "", fmt.Errorf("load the certificate and key of --tls-cert and --tls-key: %w", err)
		}
	default:
		return nil, "", nil
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"}, // a WebSocket upgrade needs it
	}, fingerprint, nil
}

// openURL is where a person finds the server. Behind a proxy, or listening on every address, that is the first trusted
// origin, if there is one.
func openURL(cfg Config, host string, port int, encrypted bool) string {
	base := cleanBase(cfg.BasePath)
	ip := net.ParseIP(host)
	everywhere := host == "" || ip != nil && ip.IsUnspecified()
	if (cfg.BehindProxy || everywhere) && len(cfg.TrustedOrigins) > 0 {
		return strings.TrimSuffix(cfg.TrustedOrigins[0], "/") + base
	}
	if everywhere {
		host = "localhost"
	}
	scheme := "http"
	if encrypted {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port)) + base
}

// listenError says what to do about the usual reasons for not getting an address.
func listenError(address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use by another program: stop that, or choose another port with --listen (port 0 takes a free one)", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this machine: choose another with --listen", address)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("this user may not listen on %s: choose a port from 1024 up with --listen", address)
	}
	return fmt.Errorf("listen: %w", err)
}
