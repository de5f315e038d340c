package wire

import (
	"encoding/json"
	"reflect"
	"testing"
)

// parsers has what reads the parameters of each method, and returns the *Error only if there is one.
var parsers = map[string]func(json.RawMessage) (any, error){
	"initialize":      tripParams(ParseInitialize),
	"reconnect":       tripParams(ParseReconnect),
	"subscribe":       tripParams(ParseSubscribe),
	"unsubscribe":     tripParams(ParseChannel),
	"disposeTerminal": tripParams(ParseChannel),
	"dispatchAction":  tripParams(ParseDispatchAction),
	"createTerminal":  tripParams(ParseCreateTerminal),
}

func TestParamsAreStrict(t *testing.T) {
	for _, test := range []struct{ method, params, want string }{
		{"initialize", ``, "params must be an object"},
		{"initialize", `null`, "params must be an object"},
		{"initialize", `[]`, "params must be an object"},
		{"initialize", `"x"`, "params must be an object"},
		{"initialize", `{"clientId":"c"}`, "protocolVersions is missing"},
		{"initialize", `{"clientId":"c","protocolVersions":"1.0.0"}`, "protocolVersions must be a list"},
		{"initialize", `{"clientId":"c","protocolVersions":["1.0.0",1]}`, "protocolVersions[1] must be a string"},
		{"initialize", `{"clientId":"c","protocolVersions":[null]}`, "protocolVersions[0] must not be null"},
		{"initialize", `{"protocolVersions":["1.0.0"]}`, "clientId is missing"},
		{"initialize", `{"clientId":"","protocolVersions":["1.0.0"]}`, "clientId must not be empty"},
		{"initialize", `{"clientId":7,"protocolVersions":["1.0.0"]}`, "clientId must be a string"},
		{"initialize", `{"clientid":"c","protocolVersions":["1.0.0"]}`, "clientId is missing"},
		{"initialize", `{"channel":5,"clientId":"c","protocolVersions":["1.0.0"]}`, "channel must be a string"},
		{"initialize", `{"clientId":"c","protocolVersions":["1.0.0"],"clientInfo":"me"}`, "clientInfo must be an object"},
		{"initialize", `{"clientId":"c","protocolVersions":["1.0.0"],"clientInfo":{}}`, "clientInfo.name is missing"},
		{"initialize", `{"clientId":"c","protocolVersions":["1.0.0"],"clientInfo":{"name":"a","version":1}}`, "clientInfo.version must be a string"},
		{"initialize", `{"clientId":"c","protocolVersions":["1.0.0"],"initialSubscriptions":"ahp-root://"}`, "initialSubscriptions must be a list"},
		{"initialize", `{"clientId":"c","protocolVersions":["1.0.0"],"initialSubscriptions":[{}]}`, "initialSubscriptions[0] must be a string"},
		{"reconnect", `{"lastSeenServerSeq":1}`, "clientId is missing"},
		{"reconnect", `{"clientId":"c","subscriptions":["a"]}`, "lastSeenServerSeq is missing"},
		{"reconnect", `{"clientId":"c"}`, "lastSeenServerSeq is missing"},
		{"reconnect", `{"clientId":"c","lastSeenServerSeq":-1}`, "lastSeenServerSeq must be an integer of at least 0"},
		{"reconnect", `{"clientId":"c","lastSeenServerSeq":"1"}`, "lastSeenServerSeq must be an integer of at least 0"},
		{"reconnect", `{"clientId":"c","lastSeenServerSeq":1.5}`, "lastSeenServerSeq must be an integer of at least 0"},
		{"reconnect", `{"clientId":"c","lastSeenServerSeq":1,"subscriptions":{}}`, "subscriptions must be a list"},
		{"reconnect", `{"clientId":"c","lastSeenServerSeq":1,"subscriptions":["a",5]}`, "subscriptions[1] must be a string or an object"},
		{"reconnect", `{"clientId":"c","lastSeenServerSeq":1,"subscriptions":[null]}`, "subscriptions[0] must not be null"},
		{"reconnect", `{"clientId":"c","subscriptions":[{"channel":"a"}]}`, "subscriptions[0].lastSeenServerSeq is missing"},
		{"reconnect", `{"clientId":"c","subscriptions":["a",{"channel":"b","lastSeenServerSeq":1}]}`, "lastSeenServerSeq is missing"},
		{"subscribe", `{}`, "channel is missing"},
		{"subscribe", `{"channel":null}`, "channel is missing"},
		{"subscribe", `{"channel":""}`, "channel must not be empty"},
		{"subscribe", `{"channel":["a"]}`, "channel must be a string"},
		{"subscribe", `{"channel":"a","delivery":20}`, "delivery must be an object"},
		{"subscribe", `{"channel":"a","delivery":{"maxLatencyMs":"20"}}`, "delivery.maxLatencyMs must be an integer of at least 0"},
		{"subscribe", `{"channel":"a","delivery":{"maxLatencyMs":-1}}`, "delivery.maxLatencyMs must be an integer of at least 0"},
		{"unsubscribe", `{}`, "channel is missing"},
		{"disposeTerminal", `{"channel":1}`, "channel must be a string"},
		{"dispatchAction", `{"channel":"a","clientSeq":1}`, "action is missing"},
		{"dispatchAction", `{"channel":"a","clientSeq":1,"action":"terminal/cleared"}`, "action must be an object"},
		{"dispatchAction", `{"channel":"a","clientSeq":1,"action":[]}`, "action must be an object"},
		{"dispatchAction", `{"channel":"a","action":{}}`, "clientSeq is missing"},
		{"dispatchAction", `{"channel":"a","clientSeq":"1","action":{}}`, "clientSeq must be an integer of at least 0"},
		{"dispatchAction", `{"clientSeq":1,"action":{}}`, "channel is missing"},
		{"createTerminal", `{"channel":"a"}`, "claim is missing"},
		{"createTerminal", `{"channel":"a","claim":5}`, "claim must be an object"},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client"}}`, "claim.clientId is missing"},
		{"createTerminal", `{"claim":{"kind":"client","clientId":"c"}}`, "channel is missing"},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"name":5}`, "name must be a string"},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"cwd":{}}`, "cwd must be a string"},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"cols":0}`, "cols must be an integer of at least 1"},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"cols":"80"}`, "cols must be an integer of at least 1"},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"executionTarget":"elsewhere"}`, `executionTarget must be "server" or "client"`},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"executionTarget":true}`, `executionTarget must be "server" or "client"`},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"rows":-5}`, "rows must be an integer of at least 1"},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"rows":1.5}`, "rows must be an integer of at least 1"},
	} {
		params, err := parsers[test.method](raws(test.params))
		wireErr, ok := err.(*Error)
		switch {
		case !ok:
			t.Errorf("%s took %s as %+v, want: %s", test.method, test.params, params, test.want)
		case wireErr.Code != InvalidParams || wireErr.Message != test.want:
			t.Errorf("%s: got %v for %s, want %q", test.method, err, test.params, test.want)
		}
	}
}

func TestParamsAreLenient(t *testing.T) {
	me := Claim{Kind: ClaimClient, ClientID: "c"}
	for _, test := range []struct {
		method, params string
		want           any
	}{
		{"initialize", `{"clientId":"c","protocolVersions":[],"initialSubscriptions":null,"clientInfo":null,"extra":{"a":1}}`,
			InitializeParams{ClientID: "c", ProtocolVersions: []string{}}},
		{"initialize", `{"clientId":"c","protocolVersions":null}`, InitializeParams{ClientID: "c"}},
		{"initialize", `{"channel":"agenthost:/root","clientId":"c","protocolVersions":["x"],"initialSubscriptions":["a"],"clientInfo":{"name":"n","title":"t","x":1}}`,
			InitializeParams{Channel: "agenthost:/root", ClientID: "c", ProtocolVersions: []string{"x"}, InitialSubscriptions: []string{"a"},
				ClientInfo: &Implementation{Name: "n", Title: "t"}}},
		{"reconnect", `{"clientId":"c","lastSeenServerSeq":7,"subscriptions":null}`, ReconnectParams{ClientID: "c", LastSeenServerSeq: new(int64(7))}},
		{"reconnect", `{"clientId":"c","lastSeenServerSeq":7}`, ReconnectParams{ClientID: "c", LastSeenServerSeq: new(int64(7))}},
		{"subscribe", `{"channel":"a","delivery":null,"view":{"turns":3}}`, SubscribeParams{Channel: "a"}},
		{"subscribe", `{"channel":"a","delivery":{"maxLatencyMs":null}}`, SubscribeParams{Channel: "a", Delivery: &Delivery{}}},
		{"subscribe", `{"channel":"a","delivery":{"maxLatencyMs":0}}`, SubscribeParams{Channel: "a", Delivery: &Delivery{new(int64(0))}}},
		{"subscribe", `{"channel":"a","delivery":{"maxLatencyMs":9007199254740991}}`,
			SubscribeParams{Channel: "a", Delivery: &Delivery{new(MaxLatency.Milliseconds())}}},
		{"dispatchAction", `{"channel":"a","clientSeq":9007199254740991,"action":{"type":5},"origin":"x"}`,
			DispatchActionParams{"a", 9007199254740991, raws(`{"type":5}`)}},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"cols":null,"rows":30,"name":null,"shell":"/bin/sh"}`,
			CreateTerminalParams{Channel: "a", Claim: me, Rows: new(30)}},
		{"createTerminal", `{"channel":"a","claim":{"kind":"client","clientId":"c"},"executionTarget":"client"}`,
			CreateTerminalParams{Channel: "a", Claim: me, ExecutionTarget: ExecutedByClient}},
		{"disposeTerminal", `{"channel":"a","terminal":5}`, ChannelParams{"a"}},
	} {
		got, err := parsers[test.method](raws(test.params))
		if err != nil {
			t.Errorf("%s: %v for %s", test.method, err, test.params)
		} else if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v for %s, want %+v", test.method, got, test.params, test.want)
		}
	}
}

func TestReconnectNames(t *testing.T) {
	for _, test := range []struct {
		params   string
		names    []string
		lastSeen int64
	}{
		{`{"clientId":"c","lastSeenServerSeq":7}`, nil, 7},
		{`{"clientId":"c","lastSeenServerSeq":7,"subscriptions":["a","b"]}`, []string{"a", "b"}, 7},
		{`{"clientId":"c","subscriptions":[{"channel":"a","lastSeenServerSeq":9},{"channel":"b","lastSeenServerSeq":5}]}`, []string{"a", "b"}, 5},
		{`{"clientId":"c","subscriptions":[{"channel":"a","lastSeenServerSeq":9},{"channel":"b","lastSeenServerSeq":0}]}`, []string{"a", "b"}, 0},
		{`{"clientId":"c","lastSeenServerSeq":7,"subscriptions":["a",{"channel":"b","lastSeenServerSeq":5}]}`, []string{"a", "b"}, 5},
		{`{"clientId":"c","lastSeenServerSeq":7,"subscriptions":[{"channel":"b","lastSeenServerSeq":9}]}`, []string{"b"}, 7},
	} {
		p, err := ParseReconnect(raws(test.params))
		if err != nil {
			t.Errorf("%v for %s", err, test.params)
			continue
		}
		if names, lastSeen := p.Names(); !reflect.DeepEqual(names, test.names) || lastSeen != test.lastSeen {
			t.Errorf("got %v from %d for %s, want %v from %d", names, lastSeen, test.params, test.names, test.lastSeen)
		}
	}
}

// Whatever is taken can be written, and is taken again as the same.
func FuzzParams(f *testing.F) {
	for _, seed := range []string{
		`{"channel":"ahp-root://","protocolVersions":["0.6.0"],"clientId":"c","clientInfo":{"name":"n"},"initialSubscriptions":["ahp-root://"]}`,
		`{"channel":"ahp-root://","clientId":"c","lastSeenServerSeq":1,"subscriptions":["a",{"channel":"b","lastSeenServerSeq":5}],"windows":{}}`,
		`{"channel":"ahp-terminal:/t1","delivery":{"maxLatencyMs":20},"flowControl":{}}`,
		`{"channel":"ahp-terminal:/t1","clientSeq":3,"action":{"type":"terminal/resized","cols":100,"rows":40}}`,
		`{"channel":"a","claim":{"kind":"session","session":"s","turnId":"t"},"name":"build","cwd":"file:///srv","cols":120,"rows":30}`,
		`null`, `[]`, `{"channel":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		for method, parse := range parsers {
			first, err := parse(params)
			if err != nil {
				if wireErr, ok := err.(*Error); !ok || wireErr.Code != InvalidParams || wireErr.Message == "" {
					t.Errorf("%s: %v", method, err)
				}
				continue
			}
			written := encode(first)
			again, err := parse(written)
			if err != nil {
				t.Fatalf("%s: %v in %s", method, err, written)
			}
			if got := encode(again); string(got) != string(written) {
				t.Errorf("%s: %s became %s", method, written, got)
			}
		}
	})
}
