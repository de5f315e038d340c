package login

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// What the login adds to every request.
func BenchmarkMiddleware(b *testing.B) {
	s, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	w := httptest.NewRecorder()
	if _, err := s.LogInByLink(w, httptest.NewRequest("POST", "/", nil), "", s.NewLink()); err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(w.Result().Cookies()[0])
	handler := s.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, ok := From(r.Context()); !ok {
			b.Fatal("not logged in")
		}
	}), unavailable)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(w, r)
	}
}

func BenchmarkCheckPassword(b *testing.B) {
	s, err := Open(b.TempDir(), Options{Password: "correct horse"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		if err := s.checkPassword(b.Context(), "192.0.2.1", "correct horse"); err != nil {
			b.Fatal(err)
		}
	}
}
