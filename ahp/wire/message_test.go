package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, frame string
		want        Message
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1}}`,
			Message{ID: raws("1"), Method: "ping", Params: raws(`{"a":1}`)}},
		{"request with a string for an id", `{"jsonrpc":"2.0","id":"x\u0031","method":"ping"}`,
			Message{ID: raws(`"x\u0031"`), Method: "ping"}},
		{"request with a null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
			Message{ID: raws("null"), Method: "ping"}},
		{"request with a large id", `{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}`,
			Message{ID: raws("18446744073709551615"), Method: "ping"}},
		{"notification", `{"jsonrpc":"2.0","method":"unsubscribe","params":{}}`,
			Message{Method: "unsubscribe", Params: raws("{}")}},
		{"members that are not known", `{"jsonrpc":"2.0","method":"x","Method":5,"extra":[]}`, Message{Method: "x"}},
		{"response", `{"jsonrpc":"2.0","id":4,"result":null}`, Message{ID: raws("4"), Result: raws("null")}},
		{"error", `{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"}}`,
			Message{ID: raws("4"), Error: &Error{Code: -32601, Message: "no"}}},
		{"error without a request", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`,
			Message{ID: raws("null"), Error: &Error{Code: -32700, Message: "no"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse([]byte(test.frame))
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, encode(got), encode(test.want))
			if (got.ID == nil) != (test.want.ID == nil) || (got.Result == nil) != (test.want.Result == nil) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestParseAnswersWhatIsNoMessage(t *testing.T) {
	for _, test := range []struct {
		name, frame string
		code        int
		id          string
		message     string
	}{
		{"nothing", "", ParseError, "", "the message is not JSON"},
		{"broken", `{"jsonrpc":"2.0","id":1,`, ParseError, "", "the message is not JSON"},
		{"two", `{} {}`, ParseError, "", "the message is not JSON"},
		{"not UTF-8", "\"\xff\"", ParseError, "", "the message is not UTF-8"},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, InvalidRequest, "", "the message must be an object; batches are not taken"},
		{"null", `null`, InvalidRequest, "", "the message must be an object; batches are not taken"},
		{"no version", `{"id":1,"method":"ping"}`, InvalidRequest, "1", "jsonrpc is missing"},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, InvalidRequest, "1", `jsonrpc must be "2.0"`},
		{"a number for a version", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, InvalidRequest, "1", "jsonrpc must be a string"},
		{"a number for a method", `{"jsonrpc":"2.0","id":"a","method":1}`, InvalidRequest, `"a"`, "method must be a string"},
		{"an empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, InvalidRequest, "1", "method must not be empty"},
		{"no method", `{"jsonrpc":"2.0","id":1}`, InvalidRequest, "1", "method is missing"},
		{"a response to nothing", `{"jsonrpc":"2.0","result":1}`, InvalidRequest, "", "method is missing"},
		{"an object for an id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, InvalidRequest, "", "id must be a number or a string"},
		{"a list for an id", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, InvalidRequest, "", "id must be a number or a string"},
		{"true for an id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, InvalidRequest, "", "id must be a number or a string"},
		{"a number for an error", `{"jsonrpc":"2.0","id":1,"error":5}`, InvalidRequest, "1", "error must not be a number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := Parse([]byte(test.frame))
			if err == nil {
				t.Fatalf("got %+v, want an error", m)
			}
			if err.Code != test.code || err.Message != test.message || string(m.ID) != test.id {
				t.Errorf("got id %s, %v; want id %s, %s (%d)", m.ID, err, test.id, test.message, test.code)
			}
		})
	}
}

func TestParseSharesNoMemory(t *testing.T) {
	frame := []byte(`{"jsonrpc":"2.0","id":7,"method":"dispatchAction","params":{"channel":"c","clientSeq":1,"action":{"type":"x/y"}}}`)
	m, err := Parse(frame)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParseDispatchAction(m.Params)
	if err != nil {
		t.Fatal(err)
	}
	action, unmarshalErr := UnmarshalAction(p.Action)
	if unmarshalErr != nil {
		t.Fatal(unmarshalErr)
	}
	clear(frame)
	clear(m.Params)
	clear(p.Action)
	if string(m.ID) != "7" || action.Type() != "x/y" || p.Channel != "c" {
		t.Errorf("what was read has changed: id %s, channel %s, action %s", m.ID, p.Channel, AppendAction(nil, action))
	}
}

func TestResponse(t *testing.T) {
	for _, test := range []struct {
		got  []byte
		want string
	}{
		{Response(raws("1"), nil, nil), `{"jsonrpc":"2.0","id":1,"result":null}`},
		{Response(raws(`"a"`), ChannelParams{"<&>"}, nil), `{"jsonrpc":"2.0","id":"a","result":{"channel":"<&>"}}`},
		{Response(nil, nil, &Error{Code: ParseError, Message: "no"}), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`},
		{Response(raws("1"), 5, &Error{Code: Internal, Message: "full", Data: map[string]int{"limit": 10}}),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"full","data":{"limit":10}}}`},
		{Request(raws("1"), "ping", ChannelParams{RootChannel}), `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`},
		{Request(nil, "unsubscribe", ChannelParams{"c"}), `{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"c"}}`},
	} {
		if string(test.got) != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://"}}`,
		`{"jsonrpc":"2.0","method":"action","params":{}}`,
		`{"jsonrpc":"2.0","id":"a","result":null}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x","data":{"a":[1,null]}}}`,
		`[]`, `{"jsonrpc":"2.0","id":{}}`, "\xff", strings.Repeat("[", 20000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := Parse(frame)
		if err != nil {
			if err.Message == "" || err.Code != ParseError && err.Code != InvalidRequest {
				t.Errorf("the answer says %v", err)
			}
			if answer := Response(m.ID, nil, err); !json.Valid(answer) {
				t.Errorf("the answer is %s", answer)
			}
			return
		}
		written := encode(m)
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("%v in %s", err, written)
		}
		if got := encode(again); string(got) != string(written) {
			t.Errorf("%s became %s", written, got)
		}
	})
}

func raws(s string) json.RawMessage { return json.RawMessage(s) }
