package server

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"tandem/static"
)

// publicRoutes are what is served without a login beside the page, which is the same for everybody: how to log in, and
// whether the server lives.
var publicRoutes = map[string]bool{
	"POST /api/login":      true,
	"POST /api/login/link": true,
	"GET /healthz":         true,
	"GET /readyz":          true,
}

// public reports whether a request needs no login.
func (s *Server) public(r *http.Request) bool {
	path := strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(s.base, "/"))
	if path == "" {
		path = "/" // the redirect to the base path
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return publicRoutes[method+" "+path] || method == http.MethodGet && static.Has(path)
}

// routes returns the router. The order of its middleware is the order in which requests are refused: name of the
// server, login, origin. Whatever a route's handler refuses comes after that.
func (s *Server) routes() chi.Router {
	top := chi.NewRouter()
	top.Use(s.logRequests, s.recoverPanics, s.secureHeaders, s.checkHost, s.logins.Middleware, s.requireLogin, s.checkOrigin)
	r := chi.Router(top)
	if s.base != "/" {
		r = chi.NewRouter()
		top.Mount(s.base, r)
		top.Get(strings.TrimSuffix(s.base, "/"), http.RedirectHandler(s.base, http.StatusMovedPermanently).ServeHTTP)
	}
	for _, router := range []chi.Router{top, r} {
		router.NotFound(func(w http.ResponseWriter, _ *http.Request) { problem(w, http.StatusNotFound, "nothing is here") })
		router.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
			problem(w, http.StatusMethodNotAllowed, r.Method+" is not for this resource")
		})
	}
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	r.Get("/readyz", s.ready)
	r.Get("/metrics", s.metrics.ServeHTTP)
	r.Get("/ws/terminal", s.serveByteLane)
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
	})
	page := http.StripPrefix(strings.TrimSuffix(s.base, "/"), static.Handler())
	for _, path := range static.Paths() {
		r.Method(http.MethodGet, path, page)
		r.Method(http.MethodHead, path, page)
	}
	return top
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.closing:
		problem(w, http.StatusServiceUnavailable, "shutting down")
	default:
		_, _ = w.Write([]byte("ready\n"))
	}
}
