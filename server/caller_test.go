package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tandem/server/login"
	"tandem/sharing"
)

// seenAs is whom a request with these headers comes from.
func seenAs(s *instance, cookies []*http.Cookie, authorization string) (who sharing.Identity, client string, done <-chan struct{}, ok bool) {
	r := httptest.NewRequest("GET", "/", nil)
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	s.findLogin(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		who, done, ok = s.caller(r)
		client = clientID(r)
	})).ServeHTTP(httptest.NewRecorder(), r)
	return who, client, done, ok
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func TestCallerIsWhoWasAuthenticated(t *testing.T) {
	s := serve(t, nil)
	person := s.person(t)
	var session struct {
		Login  loginJSON
		Client string `json:"client_id"`
	}
	person.do("GET", "api/session", nil).into(t, &session)
	request, err := http.NewRequest("GET", s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	cookies := person.http.Jar.Cookies(request.URL)

	who, client, done, ok := seenAs(s, cookies, "")
	want := sharing.Identity{Kind: sharing.Person, ID: session.Login.ID, Name: session.Login.Device, Read: true, Write: true}
	if !ok || who != want || client != "login-"+who.ID || client != session.Client || over(done) {
		t.Errorf("a person is %+v, client %q (the page is told %q)", who, client, session.Client)
	}

	secret, made, err := s.logins.CreateToken("claude", []login.Scope{login.ReadTerminals}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	// The person's cookie beside it changes nothing.
	who, client, ended, ok := seenAs(s, cookies, "Bearer "+secret)
	if want := (sharing.Identity{Kind: sharing.Program, ID: made.ID, Name: "claude", Read: true}); !ok || who != want || client != "" || over(ended) {
		t.Errorf("a program is %+v, client %q", who, client)
	}
	writer := s.token(t, "writer", login.WriteTerminals, login.ReadMetrics)
	if who, _, _, _ := seenAs(s, nil, "Bearer "+writer); who.Read || !who.Write {
		t.Errorf("one that only writes is %+v", who)
	}

	for _, cookies := range [][]*http.Cookie{nil, cookies} {
		if who, client, done, ok := seenAs(s, cookies, "Bearer wrong"); ok || who != (sharing.Identity{}) || client != "" || done != nil {
			t.Errorf("nobody is %+v, client %q", who, client)
		}
	}
	if err := s.logins.RevokeToken("claude"); err != nil || !over(ended) {
		t.Errorf("the program goes on after its token (%v)", err)
	}
	person.do("POST", "api/logout", nil)
	if !over(done) {
		t.Error("the person goes on after the logout")
	}
}
