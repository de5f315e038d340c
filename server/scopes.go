package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"tandem/server/login"
)

// scopes says which scope a token needs for a route. What is not named here is for people only, so that a new route is
// closed to programs until somebody opens it. HEAD is as GET.
var scopes = map[string]login.Scope{
	"GET /api/terminals":               login.ReadTerminals,
	"GET /api/terminals/{id}":          login.ReadTerminals,
	"POST /api/terminals":              login.WriteTerminals,
	"PATCH /api/terminals/{id}":        login.WriteTerminals,
	"DELETE /api/terminals/{id}":       login.WriteTerminals,
	"POST /api/terminals/{id}/tickets": login.WriteTerminals,

	"GET /api/terminals/{id}/commands":                  login.ReadTerminals,
	"GET /api/terminals/{id}/commands/{command}/output": login.ReadTerminals,

	"GET " + byteLanePath: login.ReadTerminals, // typing needs more, which is decided with each frame
	"GET " + ahpPath:      login.ReadTerminals, // as above, with each message
	"GET /metrics":        login.ReadMetrics,
}

// checkScope refuses tokens that have not the scope for a route. People have no scopes, and what is public to read is so
// for programs too.
func (s *Server) checkScope(routes chi.Routes) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			token, ok := login.TokenFrom(r.Context())
			if !ok {
				next.ServeHTTP(w, r)
				return
			}
			method := readMethod(r.Method)
			scope, listed := scopes[method+" "+routes.Find(chi.NewRouteContext(), method, r.URL.Path)]
			switch {
			case listed && token.Has(scope), method == http.MethodGet && public(r):
				next.ServeHTTP(w, r)
			case listed:
				// RFC 6750 section 3.1.
				w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+string(scope)+`"`)
				problem(w, http.StatusForbidden, "the token has not the scope "+string(scope)+": make one that has with `tandem token create`")
			default:
				problem(w, http.StatusForbidden, "no token may do this, whatever its scopes: it takes a person's login")
			}
		})
	}
}

// readMethod is the method that a route is registered with: those for GET answer HEAD too.
func readMethod(method string) string {
	if method == http.MethodHead {
		return http.MethodGet
	}
	return method
}
