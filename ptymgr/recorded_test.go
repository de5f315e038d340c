package ptymgr

import (
	"bytes"
	"regexp"
	"testing"
)

// notText are the sequences that text leaves out, as far as real sessions have them: shell integration, and the queries of
// shells and editors.
var notText = regexp.MustCompile(`\x1b\](?:633|133|7);[^\x07\x1b]*(?:\x07|\x1b\\)|` +
	`\x1b\[(?:[>=?]?\d*c|\??[56]n|\?\d+\$p|>\d*q|\?u|1[4-9]t|2[01]t)|` +
	`\x1b\](?:4;\d+|1\d);\?(?:\x07|\x1b\\)|\x1bP(?:\+q|\$q)[^\x1b]*\x1b\\|\x1b\[\?(?:996n|1004h)`)

// TestTextOfRecordedSessionsAtEverySplit records what real shells with integration print, and gives it to a log in two
// reads, split at each byte.
func TestTextOfRecordedSessionsAtEverySplit(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			term, _ := integrated(t, name)
			term.typesUntilRun(t, "echo one")
			for _, line := range []string{"echo 'zwei €' | cat", "false", "cd /tmp", "printf '\\033[31mred\\033[0m\\n'"} {
				if err := term.Input([]byte(line + "\r")); err != nil {
					t.Fatal(err)
				}
				term.ends(t, line)
			}
			raw := term.printed()
			want := string(notText.ReplaceAll(raw, nil))
			if removed := len(raw) - len(want); removed < 500 {
				t.Fatalf("only %d bytes of the recording are sequences: %q", removed, raw)
			}
			for at := range raw {
				replay := bench(MinLogBytes)
				replay.feed(raw[:at], len(raw))
				replay.feed(raw[at:], len(raw))
				replay.seal(Exit{})
				_, head := replay.Bounds()
				got, err := replay.Text(nil, 0, head)
				if err != nil || string(got) != want {
					t.Fatalf("split at %d: %v, text\n%q, want\n%q", at, err, got, want)
				}
				replay.log.mu.Lock()
				replay.log.free()
				replay.log.mu.Unlock()
			}
		})
	}
}

// printed returns a copy of what is in the log.
func (t *Terminal) printed() []byte {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	var all bytes.Buffer
	for _, seg := range t.log.segs {
		all.Write(seg.data[:seg.n])
	}
	return all.Bytes()
}
