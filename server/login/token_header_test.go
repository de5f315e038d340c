package login

import (
	"net/http"
	"strings"
	"testing"
)

func TestBearer(t *testing.T) {
	for _, test := range []struct {
		values []string
		secret string
		ok     bool
	}{
		{nil, "", false},
		{[]string{""}, "", false},
		{[]string{"Bearer abc"}, "abc", true},
		{[]string{"bEARER   abc"}, "abc", true},
		{[]string{"Bearer"}, "", true},
		{[]string{"Bearer "}, "", true},
		{[]string{"Bearer a b"}, "a b", true}, // which is no token's
		{[]string{" Bearer abc"}, "", false},  // net/http has cut such spaces off
		{[]string{"Bearer\tabc"}, "", false},
		{[]string{"Bearerabc"}, "", false},
		{[]string{"Basic Bearer abc"}, "", false},
		{[]string{"Basic abc", "Bearer def"}, "def", true},
		{[]string{"Bearer abc", "Bearer def"}, "abc", true},
		{[]string{"Bearer", "Bearer def"}, "", true},
	} {
		secret, ok := bearer(http.Header{"Authorization": test.values})
		if secret != test.secret || ok != test.ok {
			t.Errorf("%q: got %q, %v", test.values, secret, ok)
		}
	}
}

// Whatever the header holds, it is ours only by its scheme, and only the very secret lets in.
func FuzzBearer(f *testing.F) {
	for _, seed := range []string{"Bearer abc", "bearer  abc ", "Bearer", "Basic abc", "", "Bearer\x00", "Bearer \xff", "ſcheme", "ＢEARER x"} {
		f.Add(seed, "Bearer later")
	}
	dir := f.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, first, second string) {
		secret, ok := bearer(http.Header{"Authorization": {first}})
		scheme, _, _ := strings.Cut(first, " ")
		if ours := len(scheme) == len("Bearer") && strings.ToLower(scheme) == "bearer"; ok != ours {
			t.Fatalf("%q is ours: %v", first, ok)
		}
		if !strings.HasSuffix(first, secret) || strings.HasPrefix(secret, " ") {
			t.Fatalf("%q has the secret %q", first, secret)
		}
		if again, _ := bearer(http.Header{"Authorization": {first, second}}); ok && again != secret {
			t.Fatalf("%q: another header after it changes the secret to %q", first, again)
		}
		if s.useToken(secret) != nil {
			t.Fatalf("%q lets in, and there is no token", first)
		}
	})
}
