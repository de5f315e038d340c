package ptymgr

import "time"

// Command is one command that a shell ran, as its marks (OSC 633 or OSC 133) tell. It is a copy that never changes.
type Command struct {
	ID       string        // "c1", "c2", …: unique in the terminal, in the order of the commands
	Line     string        // command line: valid UTF-8, with newlines but no other controls; "" if unknown
	Dir      string        // directory it was started in, an absolute path; "" if unknown
	Start    int64         // its output is [Start, End) of the log
	End      int64         // -1 while it runs
	Started  time.Time     // when the shell started it, by the server's clock
	Duration time.Duration // 0 while it runs
	Exit     *int          // exit status; nil while it runs, and if unknown. Never changed
}

// Commands returns the newest 1000 commands, oldest first, but for those whose output was cleared. Output of older ones
// may not be in the log any more.
func (t *Terminal) Commands() []Command { return nil }

// Command returns the command with this id, if Commands has it.
func (t *Terminal) Command(id string) (Command, bool) { return Command{}, false }
