package server

import (
	"fmt"
	"net/http"
	"strings"
)

// underBase serves next below a base path, which has a slash at each end. Outside of it there is nothing.
func underBase(base string, next http.Handler) http.Handler {
	prefix := strings.TrimSuffix(base, "/")
	if prefix == "" {
		return next
	}
	below := http.StripPrefix(prefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == prefix:
			http.Redirect(w, r, base, http.StatusPermanentRedirect)
		case strings.HasPrefix(r.URL.Path, base):
			below.ServeHTTP(w, r)
		default:
			problem(w, http.StatusNotFound, "nothing is here: this server is under "+base)
		}
	})
}

// checkBase refuses a base path that would have to be written differently in links, cookies and headers.
func checkBase(base string) error {
	for _, c := range base {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/", c) {
			return fmt.Errorf("base path %q: use letters, digits and -._~/ only, as in /tandem", base)
		}
	}
	return nil
}

// decodePath makes everything look at the decoded path, as the policy does. chi and StripPrefix prefer the raw one.
func decodePath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawPath = ""
		next.ServeHTTP(w, r)
	})
}
