package shell

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// prompts of these tests, the same in all shells.
var promptFiles = map[string]string{
	".bash_profile":            "PS1='ready> '; PROMPT_COMMAND='x=1'\n",
	".zshrc":                   "PS1='ready> '; precmd() { x=1 }\n",
	".config/fish/config.fish": "function fish_prompt; echo 'ready> '; end\n",
}

// TestManyCommands types far more commands than fit anywhere, as fast as the shell takes them.
func TestManyCommands(t *testing.T) {
	total := 10_000
	if testing.Short() {
		total = 500
	}
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, find(t, name), newHome(t, promptFiles, "HISTFILE=/dev/null"), true)
			s.prompts(1)
			const batch = 20 // lines typed ahead, less than a terminal holds
			for n := 0; n < total; n += batch {
				for i := n; i < n+batch; i++ {
					s.write(fmt.Sprintf("test %d -gt 5\r", i%10))
				}
				s.at("\x1b]633;D;", n+batch)
			}
			s.write("exit\r")
			s.exit()
			got := s.commands()
			if len(got) != total+1 {
				t.Fatalf("%d commands, want %d", len(got), total+1)
			}
			for i, c := range got[:total] {
				code := "1"
				if i%10 > 5 {
					code = "0"
				}
				c.output = "" // which holds what was typed ahead, as the terminal echoes it
				if want := (command{fmt.Sprintf("test %d -gt 5", i%10), "", code}); c != want {
					t.Fatalf("command %d is %q, want %q", i, c, want)
				}
			}
		})
	}
}

// TestPaste pastes several lines at once.
func TestPaste(t *testing.T) {
	for _, name := range []string{"bash", "zsh"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, find(t, name), newHome(t, map[string]string{".zshrc": ""}), true)
			s.prompts(1)
			s.write("\x1b[200~echo one\necho two; false\nif true\nthen echo three\nfi\x1b[201~\r")
			s.at("\x1b]633;D;", map[string]int{"bash": 3, "zsh": 1}[name])
			s.write("exit\r")
			s.exit()
			want := []command{{"echo one", "one\n", "0"}, {"echo two; false", "two\n", "1"}, {"if true; then echo three; fi", "three\n", "0"}, {"exit", anything, ""}}
			if name == "zsh" { // where it is one line
				want = []command{{"echo one\necho two; false\nif true\nthen echo three\nfi", "one\ntwo\nthree\n", "0"}, {"exit", anything, ""}}
			}
			s.compare(want)
		})
	}
}

// round types a command and returns how long it took to the next prompt.
func (s *session) round() time.Duration {
	n := bytes.Count(s.output(), []byte(ready))
	from := time.Now()
	s.write("true\r")
	s.at(ready, n+1)
	return time.Since(from)
}

// cost returns the median of how long a command takes, prompt to prompt, without the integration and with it.
func cost(t testing.TB, path string, rounds int) (plain, integrated time.Duration) {
	sessions := [2]*session{}
	for i := range sessions {
		sessions[i] = start(t, path, newHome(t, promptFiles), i == 1)
		sessions[i].at(ready, 1)
	}
	var times [2][]time.Duration
	for range rounds {
		for i, s := range sessions {
			times[i] = append(times[i], s.round())
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	return times[0][rounds/2], times[1][rounds/2]
}

// TestCost finds hooks that have become slow by far, as those that start a process are. What they cost on a machine that
// does nothing else is what BenchmarkPrompt tells; the aim is less than 5 ms.
func TestCost(t *testing.T) {
	const limit = 50 * time.Millisecond
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			least := time.Hour
			for range 5 { // the machine may be busy with other tests
				plain, integrated := cost(t, find(t, name), 60)
				t.Logf("%v a prompt, %v without", integrated, plain)
				if least = min(least, integrated-plain); least < limit {
					return
				}
			}
			t.Errorf("the integration costs %v a prompt, more than %v", least, limit)
		})
	}
}

// BenchmarkPrompt reports what the integration costs at each prompt, as the difference of two medians.
func BenchmarkPrompt(b *testing.B) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		b.Run(name, func(b *testing.B) {
			path := find(b, name)
			for b.Loop() {
				plain, integrated := cost(b, path, 300)
				b.ReportMetric(float64(plain.Microseconds()), "plain-µs")
				b.ReportMetric(float64((integrated - plain).Microseconds()), "added-µs")
			}
		})
	}
}

// TestEscape has each shell tell of a directory with every byte that a name can have.
func TestEscape(t *testing.T) {
	var name strings.Builder
	for b := byte(1); b < 0x80; b++ {
		if b != '/' {
			name.WriteByte(b)
		}
	}
	name.WriteString("é€\u0080\u0085\u009c\u009f🙂")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{".bash_profile": "PS1='$ '\n", ".zshrc": "PS1='$ '\n", "odd/" + name.String() + "/file": ""})
			s := start(t, find(t, shell), h, true)
			s.prompts(1)
			s.run("cd odd/*")
			s.run("cd /")
			want := []string{h.dir, h.dir + "/odd/" + name.String(), "/"}
			if got := s.directories(); !slices.Equal(got, want) {
				t.Errorf("directories:\n got %q\nwant %q", got, want)
			}
			s.commands()
		})
	}
}
