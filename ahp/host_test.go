package ahp

import (
	"testing"

	"tandem/ahp/wire"
)

func TestProgramRunsACommandInATerminalOfItsOwn(t *testing.T) {
	w := newWorld(t, nil)
	watcher := w.join("person", "desk", RootChannel, SharingChannel)
	p := w.join("claude", "c1", RootChannel)
	p.create("ahp-terminal:/build", "c1")
	watcher.until(func(e wire.Envelope) bool { return e.Channel == RootChannel })
	if got := watcher.Root.Terminals; len(got) != 1 || got[0].Resource != "ahp-terminal:/build" {
		t.Errorf("the person is shown %v", got)
	}
	p.subscribe("ahp-terminal:/build")
	p.input("ahp-terminal:/build", "echo $((6*7))-done; exit 3\r")
	p.untilText("ahp-terminal:/build", "42-done")
	exited := p.until(func(e wire.Envelope) bool { _, ok := e.Action.(wire.TerminalExited); return ok })
	if code := exited.Action.(wire.TerminalExited).ExitCode; code == nil || *code != 3 {
		t.Errorf("exit code %v", code)
	}
	if err := p.DisposeTerminal(p.within(), "ahp-terminal:/build"); err != nil {
		t.Error(err)
	}
	p.sync()
	if len(p.Root.Terminals) != 0 {
		t.Errorf("after disposal: %v", p.Root.Terminals)
	}
}
