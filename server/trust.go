package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ClientTLS returns how programs of the server's user connect to it: they trust the certificate that the server has made
// for itself in the data directory, if it has, like those that this machine trusts.
func ClientTLS(dataDir string) (*tls.Config, error) {
	content, err := os.ReadFile(filepath.Join(dataDir, certificateName))
	if errors.Is(err, fs.ErrNotExist) {
		return &tls.Config{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the server's certificate: %w", err)
	}
	trusted, err := x509.SystemCertPool()
	if err != nil {
		trusted = x509.NewCertPool()
	}
	trusted.AppendCertsFromPEM(content)
	return &tls.Config{RootCAs: trusted}, nil
}
