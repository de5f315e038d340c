package ptymgr

import "testing"

func TestPasswordPromptsAreSeen(t *testing.T) {
	m := manager(t, Config{})
	term := create(t, m, bash())
	p := attach(t, term)
	asks := func(when string, want bool) {
		t.Helper()
		eventually(t, when, func() bool { return term.AsksPassword() == want })
	}
	p.see(t, "$ ")
	if term.AsksPassword() {
		t.Fatal("a shell's prompt counts as one for a password")
	}
	p.types(t, "cat\n")
	p.see(t, "cat\r\n")
	p.types(t, "echoed\n")
	p.see(t, "echoed\r\nechoed")
	if term.AsksPassword() {
		t.Fatal("a program that reads lines counts")
	}
	p.types(t, "\x04")
	p.see(t, "$ ")
	p.types(t, "read -s -p 'Pass''word: ' secret; echo \"[${#secret}]\"\n")
	p.see(t, "Password: ")
	asks("at the prompt", true)
	p.types(t, "hunter2\n")
	p.see(t, "[7]")
	asks("after the prompt", false)
	p.types(t, "stty -echo; cat\n")
	asks("echo is off", true)
	p.types(t, "\x04stty echo; exit\n")
	p.ended(t)
	if term.AsksPassword() {
		t.Fatal("asked after the exit")
	}
}
