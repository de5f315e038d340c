package login

import (
	"net/http"
	"strings"
)

// bearer returns the secret that a request's header Authorization carries (RFC 6750 section 2.1), and whether the
// header is there for us: then it alone counts, and a wrong one is not made good by a cookie. A header of another scheme
// is not for us but for a proxy that asks for a password of its own.
func bearer(header http.Header) (secret string, ok bool) {
	for _, value := range header.Values("Authorization") {
		if scheme, rest, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "Bearer") {
			return strings.TrimLeft(rest, " "), true
		}
	}
	return "", false
}
