package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// reducerFixture is a fixture of the protocol for a reducer.
type reducerFixture struct {
	Reducer  string
	Initial  json.RawMessage
	Actions  []json.RawMessage
	Expected json.RawMessage
}

// reduce returns the JSON of the fixture's state after its actions.
func (f reducerFixture) reduce() ([]byte, error) {
	switch f.Reducer {
	case "root":
		return reduceAll(f, ReduceRoot)
	case "terminal":
		return reduceAll(f, ReduceTerminal)
	}
	return nil, fmt.Errorf("no reducer for %q", f.Reducer)
}

func reduceAll[S any](f reducerFixture, reduce func(*S, Action)) ([]byte, error) {
	var state S
	if err := json.Unmarshal(f.Initial, &state); err != nil {
		return nil, err
	}
	for _, raw := range f.Actions {
		action, err := UnmarshalAction(raw)
		if err != nil {
			return nil, err
		}
		reduce(&state, action)
	}
	return marshal(state)
}

func TestReducersPassTheFixtures(t *testing.T) {
	for _, folder := range []string{"reducers", "reducers-1.x/derived"} {
		t.Run(folder, func(t *testing.T) {
			eachFixture(t, folder, func(t *testing.T, _ string, f reducerFixture) {
				got, err := f.reduce()
				if err != nil {
					t.Fatal(err)
				}
				sameJSON(t, got, f.Expected)
			})
		})
	}
}

// What a 1.x fixture expects, rendered for 0.6, is what the 0.6 fixture of the same name expects.
func TestRenderingBetweenTheFixtures(t *testing.T) {
	older := map[string]reducerFixture{}
	eachFixture(t, "reducers", func(_ *testing.T, name string, f reducerFixture) { older[name] = f })
	eachFixture(t, "reducers-1.x/derived", func(t *testing.T, name string, f reducerFixture) {
		old, ok := older[name]
		if !ok {
			t.Skip("there is none for 0.6")
		}
		got, err := f.render(Version{0, 6, 0})
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, got, old.Expected)
		same, err := f.render(Version{1, 0, 0})
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, same, f.Expected)
	})
}

// render returns the JSON of what the fixture expects as the version has it.
func (f reducerFixture) render(v Version) ([]byte, error) {
	if f.Reducer == "root" {
		var root RootState
		if err := json.Unmarshal(f.Expected, &root); err != nil {
			return nil, err
		}
		return marshal(root.For(v))
	}
	var terminal TerminalState
	if err := json.Unmarshal(f.Expected, &terminal); err != nil {
		return nil, err
	}
	return marshal(terminal.For(v))
}

// trips has what reads and writes each type that a round-trip fixture names.
var trips = map[string]func(input json.RawMessage) (any, error){
	"ActionEnvelope":   trip[Envelope],
	"Implementation":   trip[Implementation],
	"InitializeResult": trip[InitializeResult],
	"JsonRpcMessage":   trip[Message],
	"ReconnectResult":  trip[ReconnectResult],
	"SessionSummary":   trip[SessionSummary],
	"SubscribeResult":  trip[SubscribeResult],
	"SessionAddedParams": trip[struct {
		Channel string         `json:"channel"`
		Summary SessionSummary `json:"summary"`
	}],
	"ReconnectParams":     tripParams(ParseReconnect),
	"SubscribeParams":     tripParams(ParseSubscribe),
	"ChannelFrameParams":  tripNotification("channel/frame"),
	"ChannelCreditParams": tripNotification("channel/credit"),
	"StateAction": func(input json.RawMessage) (any, error) {
		action, err := UnmarshalAction(input)
		if err != nil {
			return nil, err
		}
		return json.RawMessage(AppendAction(nil, action)), nil
	},
}

func trip[T any](input json.RawMessage) (any, error) {
	var value T
	err := json.Unmarshal(input, &value)
	return value, err
}

func tripParams[T any](parse func(json.RawMessage) (T, *Error)) func(json.RawMessage) (any, error) {
	return func(input json.RawMessage) (any, error) {
		params, err := parse(input)
		if err != nil {
			return nil, err
		}
		return params, nil
	}
}

// tripNotification is for parameters of methods that are not spoken here: they go through as those of a Message.
func tripNotification(method string) func(json.RawMessage) (any, error) {
	return func(input json.RawMessage) (any, error) {
		m, err := Parse(Request(nil, method, input))
		if err != nil {
			return nil, err
		}
		if m.ID != nil || m.Method != method {
			return nil, fmt.Errorf("not a notification of %s: %+v", method, m)
		}
		return m.Params, nil
	}
}

func TestRoundTripsPassTheFixtures(t *testing.T) {
	type fixture struct {
		Type              string
		Input             json.RawMessage
		AcceptableOutputs []json.RawMessage
	}
	for _, folder := range []string{"round-trips", "round-trips-1.x"} {
		t.Run(folder, func(t *testing.T) {
			eachFixture(t, folder, func(t *testing.T, _ string, f fixture) {
				trip := trips[f.Type]
				if trip == nil {
					t.Fatalf("nothing reads a %s", f.Type)
				}
				value, err := trip(f.Input)
				if err != nil {
					t.Fatal(err)
				}
				got, err := marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				for _, output := range f.AcceptableOutputs {
					if reflect.DeepEqual(anyJSON(t, got), anyJSON(t, output)) {
						return
					}
				}
				t.Errorf("got %s, want one of %s", got, f.AcceptableOutputs)
			})
		})
	}
}

// eachFixture runs a subtest for each file in a folder of the protocol's shared test data.
func eachFixture[F any](t *testing.T, folder string, test func(t *testing.T, name string, f F)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(protocolData(t), folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no fixtures in %s", folder)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			p, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var f F
			if err := json.Unmarshal(p, &f); err != nil {
				t.Fatal(err)
			}
			test(t, name, f)
		})
	}
}

// protocolData returns the folder of the protocol's shared test data: TANDEM_PROTOCOL_DATA, or one beside a folder that
// this package is in. Without any the test is skipped.
func protocolData(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("TANDEM_PROTOCOL_DATA"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		data := filepath.Join(filepath.Dir(dir), "shared", "protocol", "ahp-data")
		if _, err := os.Stat(data); err == nil {
			return data
		}
	}
	t.Skip("the protocol's shared test data is not here; set TANDEM_PROTOCOL_DATA")
	return ""
}

func sameJSON(t *testing.T, got, want []byte) {
	t.Helper()
	if !reflect.DeepEqual(anyJSON(t, got), anyJSON(t, want)) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// anyJSON returns what p says, with numbers as they were written.
func anyJSON(t *testing.T, p []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(p))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, p)
	}
	return v
}
