package server

import "net/http"

// contentSecurityPolicy allows the page nothing but its own files and sockets. xterm.js writes style elements for its
// colors and cell sizes, and its DOM renderer style attributes, so styles may be inline; scripts may not. Trusted types
// keep text from ever becoming HTML: innerHTML and the like throw.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"font-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// httpsPort is where a server with a certificate may ask browsers to use nothing but TLS (RFC 6797): they do so for the
// whole host, whatever else is served there on other ports. With a self-signed certificate it would lock people out.
const httpsPort = "443"

// secureHeaders sets what every answer carries.
func (s *Server) secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cache-Control", "no-store") // static files set their own
		if s.cfg.TLSCert != "" && s.origins.port == httpsPort {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}
