package vt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"reflect"
	"testing"
)

// oracleRuns is how many outputs at random are compared with xterm.js, always the same ones.
const oracleRuns = 500

// xterm is a node process with headless xterm.js terminals.
type xterm struct {
	in  *json.Encoder
	out *bufio.Scanner
}

// startXterm starts the process, which ends with the test. It skips the test without node or the module.
func startXterm(t *testing.T) *xterm {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node in the PATH")
	}
	cmd := exec.Command(node, "testdata/xterm.cjs")
	var failure bytes.Buffer
	cmd.Stderr = &failure
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x := &xterm{json.NewEncoder(stdin), bufio.NewScanner(stdout)}
	x.out.Buffer(nil, 16<<20)
	t.Cleanup(func() {
		stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil && !t.Skipped() {
			t.Errorf("node: %v\n%s", err, failure.Bytes())
		}
	})
	if err := x.in.Encode([]string{}); err != nil || !x.out.Scan() {
		err := cmd.Wait()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 3 {
			t.Skip("needs @xterm/headless in node_modules; run npm ci")
		}
		t.Fatalf("node: %v\n%s", err, failure.Bytes())
	}
	return x
}

// states returns the states of fresh terminals after one output each.
func (x *xterm) states(t interface{ Fatalf(string, ...any) }, outputs ...[]byte) []map[string]any {
	if err := x.in.Encode(outputs); err != nil {
		t.Fatalf("node: %v", err)
	}
	if !x.out.Scan() {
		t.Fatalf("node ended: %v", x.out.Err())
	}
	var states []map[string]any
	if err := json.Unmarshal(x.out.Bytes(), &states); err != nil {
		t.Fatalf("node: %v", err)
	}
	return states
}

// compareStates fails the test where two states differ, but for the answers and for focus mode, which a preamble leaves
// out.
func compareStates(t interface{ Errorf(string, ...any) }, output, preamble []byte, got, want map[string]any) {
	for key := range want {
		if key == "modes" {
			delete(want[key].(map[string]any), "sendFocus")
			delete(got[key].(map[string]any), "sendFocus")
		}
		if key != "answers" && key != "focus" && !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("after %q, of which is made %q: %s is %v, want %v", output, preamble, key, got[key], want[key])
		}
	}
}

func TestPreambleBringsXtermIntoState(t *testing.T) {
	x := startXterm(t)
	for seed := range uint64(oracleRuns) {
		o := scanPieces(t, randomOutput(seed), nil)
		output := []byte(o.output[:len(o.output)-o.rest])
		preamble := o.state.Preamble(24)
		states := x.states(t, output, preamble)
		compareStates(t, output, preamble, states[1], states[0])
	}
}

func TestMaskedQueriesGetNoAnswer(t *testing.T) {
	x := startXterm(t)
	for _, query := range []string{
		"\x1b[c", "\x1b[0c", "\xc2\x9bc", "\x1b[>c", "\x1b[>0c", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[6;1n", "\x1b[2$p", "\x1b[?2026$p", "\x1b[?1;2$p",
		"\x1b[14t", "\x1b[16t", "\x1b[18t", "\x1b[18;1t", "\x1bP$qm\x1b\\", "\x1bP$qr\xc2\x9c", "\x1bP1$q q\x1b\\", "\x1bP$q\x1b\\", "\xc2\x90$q\"p\xc2\x9c", "\x1bP$qm\x1b[1m",
		"\x1b]4;1;?\a", "\x1b]4;1;#fff;2;?\x1b\\", "\x1b]10;?\a", "\x1b]11;?\xc2\x9c", "\x1b]12;?\x1b\\", "\x1b]10;#fff;?\a", "\x1b]10;?\x1b[1m", "\xc2\x9d10;?\a", "\x1b]0010;?\a",
		"\x1b[?1004h", "\x1b[?1;1004;7h",
		"\x1b[\nc", "\x1b[\x00c", "\x1b[\xffc", "\x1b[\x7fc", "\x1b\x00[c", "\x1b]10;\x01?\a", "\x1b]1\x010;?\a", "\x1b]10;\xff?\a", "\x1b]11;\ufeff?\a", "\x1b]10;?\x00\a",
		"\x1b[?1\x1b[c", "\x1b]0;\x18\x1b[c", "\x1b_\x1b[6n", "\x1b_é\x1b[c", "\x1b[1\x1ax\x1b[c", "\x1b]\xc2\x84\x1b[c", "\x1b]\xc2\x9b6n", "\x1bP\xc2\x9b5n", "\x1b[é\x1b[c",
	} {
		asked := []byte("before" + query + "after")
		var s Scanner
		var found Findings
		s.Scan(asked, 0, &found)
		masked := mask(asked, found.Queries)
		states := x.states(t, asked, masked)
		if answers := states[0]["answers"].([]any); len(answers) == 0 {
			t.Errorf("%q is no query", query)
		}
		if answers := states[1]["answers"].([]any); len(answers) > 0 {
			t.Errorf("%q, masked as %q, is answered %q", query, masked, answers)
		}
	}
}

// mask returns output as somebody sees it who must not answer.
func mask(output []byte, queries []Query) []byte {
	masked := bytes.Clone(output)
	for _, q := range queries {
		clear(masked[q.From:q.To])
		masked[q.From] = can
	}
	return masked
}

func TestXtermAnswersNothingThatIsNotFound(t *testing.T) {
	x := startXterm(t)
	for seed := range uint64(oracleRuns) {
		o := scanPieces(t, randomOutput(seed), nil)
		masked := mask([]byte(o.output[:len(o.output)-o.rest]), o.queries)
		if answers := x.states(t, masked)[0]["answers"].([]any); len(answers) > 0 {
			t.Errorf("%q, which hides the queries of %q, is answered %q", masked, o.output, answers)
		}
	}
}
