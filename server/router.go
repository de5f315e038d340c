package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"tandem/static"
)

// byteLanePath is where sockets to terminals are opened, below the base path.
const byteLanePath = "/ws/terminal"

// ahpPath is where agent hosts' clients connect, below the base path.
const ahpPath = "/ahp"

// pageCompression is the gzip level for the page's files: a third of the bytes for a phone, some milliseconds of work.
const pageCompression = 5

// publicRoutes are what is served without a login beside the page, which is the same for everybody: how to log in, and
// whether the server lives.
var publicRoutes = map[string]bool{
	"POST /api/login":      true,
	"POST /api/login/link": true,
	"GET /healthz":         true,
	"GET /readyz":          true,
}

// public reports whether a request needs no login. Paths are compared as they are, never cleaned, as the router does.
func public(r *http.Request) bool {
	method := readMethod(r.Method)
	return publicRoutes[method+" "+r.URL.Path] || method == http.MethodGet && static.Has(r.URL.Path)
}

// handler returns everything that the server serves, under its base path.
func (s *Server) handler() http.Handler {
	return decodePath(s.secureHeaders(underBase(s.base, s.routes())))
}

// routes returns the router for what is below the base path. The order of its middleware is the order in which requests
// are refused: login or token, name of the server, origin, scope of the token. Whatever a route's handler refuses comes after that.
func (s *Server) routes() chi.Router {
	r := chi.NewRouter()
	r.Use(s.logRequests, s.recoverPanics, s.findLogin, s.requireLogin, s.checkHost, s.checkOrigin,
		s.checkScope(r), middleware.GetHead)
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) { problem(w, http.StatusNotFound, "nothing is here") })
	r.MethodNotAllowed(methodNotAllowed(r))

	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	r.Get("/readyz", s.ready)
	r.Get("/metrics", s.metrics.ServeHTTP)
	r.Get(byteLanePath, s.serveByteLane)
	r.Get(ahpPath, s.serveAHP)
	r.Route("/api", func(r chi.Router) {
		r.Post("/login", s.loginByPassword)
		r.Post("/login/link", s.loginByLink)
		r.Post("/logout", s.logout)
		r.Get("/session", s.getSession)
		r.Get("/logins", s.listLogins)
		r.Delete("/logins/{id}", s.deleteLogin)
		r.Get("/terminals", s.listTerminals)
		r.Post("/terminals", s.createTerminal)
		r.Get("/terminals/{id}", s.getTerminal)
		r.Patch("/terminals/{id}", s.patchTerminal)
		r.Delete("/terminals/{id}", s.deleteTerminal)
		r.Post("/terminals/{id}/tickets", s.createTicket)
		r.Get("/terminals/{id}/commands", s.listCommands)
		r.Get("/terminals/{id}/commands/{command}/output", s.commandOutput)
	})
	page := middleware.Compress(pageCompression)(static.Handler())
	for _, path := range static.Paths() {
		r.Method(http.MethodGet, path, page)
	}
	return r
}

// methodNotAllowed answers with the methods that a resource does take (RFC 9110 section 15.5.6).
func methodNotAllowed(routes chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
			if routes.Match(chi.NewRouteContext(), method, r.URL.Path) {
				w.Header().Add("Allow", method)
			}
		}
		problem(w, http.StatusMethodNotAllowed, "the method is not for this resource: the header Allow names those that are")
	}
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.closing:
		problem(w, http.StatusServiceUnavailable, "shutting down")
	default:
		_, _ = w.Write([]byte("ready\n"))
	}
}
