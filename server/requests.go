package server

import (
	"net/http"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// logRequests logs each request by its route: never its query, headers, cookies or body, which hold secrets. Upgraded
// connections are logged when they end.
func (s *Server) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		seen := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		next.ServeHTTP(seen, r)
		s.log.Debug("request", "method", knownMethod(r.Method), "route", chi.RouteContext(r.Context()).RoutePattern(),
			"status", seen.Status(), "duration", time.Since(began), "address", s.source(r))
	})
}

// knownMethod keeps what a client made up out of the log.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// recoverPanics answers for a handler that panicked. The value may hold anything, so it is not logged.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v)
			default:
				s.log.Error("panic in a handler", "route", chi.RouteContext(r.Context()).RoutePattern(), "stack", string(debug.Stack()))
				if seen, ok := w.(middleware.WrapResponseWriter); ok && seen.Status() == 0 {
					problem(w, http.StatusInternalServerError, "the server made a mistake; its log says more")
				}
			}
		}()
		next.ServeHTTP(w, r)
	})
}
