package server

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tandem/ptymgr"
)

func TestCommandFrames(t *testing.T) {
	started := time.Date(2026, 11, 21, 9, 5, 7, 123_456_789, time.FixedZone("", 3600))
	for _, test := range []struct {
		command ptymgr.Command
		want    string
	}{
		{
			ptymgr.Command{ID: "c1", Line: "echo \"é\"\nls", Dir: "/a b", Start: 120, End: -1, Started: started},
			`{"type":"command","id":"c1","line":"echo \"é\"\nls","cwd":"/a b","started":"2026-11-21T08:05:07.123Z","offset":120}`,
		},
		{
			ptymgr.Command{ID: "c1", Line: "ls", Start: 120, End: 150, Started: started, Duration: 1_234_567 * time.Microsecond, Exit: new(0)},
			`{"type":"command","id":"c1","exit_code":0,"duration_ms":1234,"offset":150}`,
		},
		{
			ptymgr.Command{ID: "c2", Start: 120, End: 120, Started: started},
			`{"type":"command","id":"c2","exit_code":null,"duration_ms":0,"offset":120}`,
		},
	} {
		frame, err := json.Marshal(eventFrame(ptymgr.Event{Kind: ptymgr.EventCommand, Command: &test.command}))
		if err != nil || string(frame) != test.want {
			t.Errorf("frame %s, %v, want %s", frame, err, test.want)
		}
	}
}

func TestCommandsOnTheByteLane(t *testing.T) {
	s := serve(t, func(cfg *Config) { cfg.ShellIntegration = true })
	c := s.person(t)
	id, _ := c.create(map[string]any{"env": map[string]string{"HOME": t.TempDir()}})
	l := c.attach(id, -1)
	l.see("\x1b]633;B;") // the end of the prompt
	l.types("echo on''e; sh -c 'exit 3'\n")
	from := l.frame("command").Offset
	if l.offset != from {
		t.Fatalf("a command starts at %d, told at %d", from, l.offset)
	}
	l.log = nil
	to := l.frame("command").Offset
	if l.offset != to || !strings.HasPrefix(string(l.log), "one\r\n") || int64(len(l.log)) != to-from {
		t.Fatalf("a command ends at %d, told at %d, and printed %q since %d", to, l.offset, l.log, from)
	}
	var list []commandJSON
	c.do("GET", "api/terminals/"+id+"/commands", nil).into(t, &list)
	if len(list) != 1 || list[0].Line != "echo on''e; sh -c 'exit 3'" || list[0].ExitCode == nil || *list[0].ExitCode != 3 {
		t.Fatalf("commands %+v", list)
	}
}
