package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"tandem/server/privatefile"
)

const (
	// certificateName is the file in the data directory that holds the self-signed certificate and its key.
	certificateName = "self-signed.pem"

	// certificateLife is how long a new certificate is valid; Apple's systems refuse those of more than 398 days.
	certificateLife = 397 * 24 * time.Hour

	// certificateRenewal is how long before its end a certificate is replaced, at the next start.
	certificateRenewal = 30 * 24 * time.Hour
)

// hostName matches names that a certificate can be for.
var hostName = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*$`)

// certificateNames are the host names and addresses that a self-signed certificate is for: the listen address, this
// machine's name and loopback.
func certificateNames(listenHost, machine string) []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	for _, name := range []string{strings.ToLower(listenHost), strings.ToLower(machine)} {
		ip := net.ParseIP(name)
		usable := hostName.MatchString(name)
		if ip != nil {
			usable = !ip.IsUnspecified()
		}
		if usable && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// selfSigned returns the certificate kept in dir. It makes one when there is none, or when the one there is not for all
// of names or about to end. People have accepted its fingerprint, so it is not replaced for less, and an unreadable
// file is an error.
func selfSigned(dir string, names []string, now time.Time) (tls.Certificate, error) {
	path := filepath.Join(dir, certificateName)
	content, err := os.ReadFile(path)
	if err == nil {
		certificate, err := tls.X509KeyPair(content, content)
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("read %s: %w (remove it to have a new one made)", path, err)
		}
		if stillGood(certificate.Leaf, names, now) {
			return certificate, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, fmt.Errorf("read the self-signed certificate: %w", err)
	}

	content, err = newCertificate(names, now)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a self-signed certificate: %w", err)
	}
	if err := privatefile.Replace(path, content); err != nil {
		return tls.Certificate{}, fmt.Errorf("keep the self-signed certificate: %w", err)
	}
	return tls.X509KeyPair(content, content)
}

func stillGood(leaf *x509.Certificate, names []string, now time.Time) bool {
	if now.Before(leaf.NotBefore) || now.Add(certificateRenewal).After(leaf.NotAfter) {
		return false
	}
	for _, name := range names {
		if leaf.VerifyHostname(name) != nil {
			return false
		}
	}
	return true
}

// newCertificate returns a certificate for names and its key, in PEM.
func newCertificate(names []string, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // at most 20 octets: RFC 5280, 4.1.2.2
	if err != nil {
		return nil, err
	}
	template := x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "tandem"},
		NotBefore:             now.Add(-time.Hour), // for a browser whose clock is behind
		NotAfter:              now.Add(certificateLife - time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	content := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(content, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})...), nil
}

// fingerprintOf is the SHA-256 of the certificate, in the form in which browsers show it.
func fingerprintOf(certificate tls.Certificate) string {
	sum := sha256.Sum256(certificate.Certificate[0])
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}
