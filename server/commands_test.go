package server

import (
	"net/http"
	"strings"
	"testing"

	"tandem/server/login"
)

func TestCommandsOverREST(t *testing.T) {
	s := serve(t, nil)
	c := s.person(t)
	// The marks are those of a shell that has integration of its own.
	id, _ := c.create(map[string]any{"command": "sh", "args": []string{"-c",
		`printf 'prompt\033]133;C\007one\n\033]133;D;3\007between\033]133;C\007two\n'; read x`}})
	path := "api/terminals/" + id + "/commands"
	var list []commandJSON
	eventually(t, "two commands", func() bool {
		list = nil
		c.do("GET", path, nil).into(t, &list)
		return len(list) == 2
	})
	if first := list[0]; first.Running || first.ExitCode == nil || *first.ExitCode != 3 || first.DurationMs == nil {
		t.Errorf("the first: %+v", first)
	}
	if second := list[1]; !second.Running || second.ExitCode != nil || second.DurationMs != nil {
		t.Errorf("the second: %+v", second)
	}
	for i, want := range []string{"one\r\n", "two\r\n"} {
		a := c.do("GET", path+"/"+list[i].ID+"/output", nil)
		if string(a.body) != want || a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
			t.Errorf("output %d: %v", i, a)
		}
	}
	if a := c.do("GET", path+"/c99/output", nil); a.status != http.StatusNotFound {
		t.Errorf("an unknown command: %v", a)
	}
	program := s.program(t, s.token(t, "reader", login.ReadTerminals))
	if a := program.do("GET", path, nil); a.status != http.StatusOK {
		t.Errorf("a program that reads: %v", a)
	}
}
