package login

import (
	"net/http"
	"strings"
)

// bearer returns the secret that a request's header Authorization carries (RFC 6750 section 2.1), and whether the
// header is there for us: then it alone counts, and a wrong one is not made good by a cookie. A header of another scheme
// is not for us but for a proxy that asks for a password of its own.
func bearer(header http.Header) (secret string, ok bool) {
	values := header.Values("Authorization")
	for _, value := range values {
		scheme, rest, _ := strings.Cut(value, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			continue
		}
		if len(values) > 1 {
			return "", true // which of them counts, nobody can say
		}
		return strings.TrimLeft(rest, " "), true
	}
	return "", false
}
