package ahp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"tandem/ahp/client"
	"tandem/ahp/wire"
)

// socket is a client that says what a test writes, to the letter, and hears what the host does, in the order in which it
// comes.
type socket struct {
	client.Mirror
	t      testing.TB
	conn   *websocket.Conn
	asked  int             // the last id
	acted  int             // the last clientSeq
	frames []string        // all that was heard
	seen   []wire.Envelope // the actions among it
}

// frame is one message of the host's. A member that is absent is nil, and one that is null is not.
type frame struct {
	Text   string          `json:"-"`
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// open connects a client of an identity. It has not said anything yet.
func (w *world) open(as string) *socket {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, w.url+"?as="+as, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	conn.SetReadLimit(32 << 20)
	w.t.Cleanup(func() { _ = conn.CloseNow() })
	return &socket{t: w.t, conn: conn}
}

// enter connects a client that speaks one version and subscribes to channels.
func (w *world) enter(as, clientID, version string, channels ...string) *socket {
	w.t.Helper()
	s := w.open(as)
	s.initialize(clientID, version, channels...)
	return s
}

// enterTight is enter for a client that soon holds up what it is sent when it does not read.
func (w *world) enterTight(as, clientID, channel string) *socket {
	w.t.Helper()
	return w.enter(as+"&tight", clientID, "1.0.0", channel)
}

func (s *socket) initialize(clientID, version string, channels ...string) wire.InitializeResult {
	s.t.Helper()
	var result wire.InitializeResult
	s.result(s.call("initialize", fmt.Sprintf(`{"channel":"ahp-root://","protocolVersions":[%q],"clientId":%q,"initialSubscriptions":%s}`,
		version, clientID, list(channels))), &result)
	for _, snapshot := range result.Snapshots {
		s.take(snapshot)
	}
	return result
}

// reconnect sends the request and returns the response.
func (s *socket) reconnect(clientID string, lastSeen int64, channels ...string) frame {
	s.t.Helper()
	return s.call("reconnect", fmt.Sprintf(`{"channel":"ahp-root://","clientId":%q,"lastSeenServerSeq":%d,"subscriptions":%s}`,
		clientID, lastSeen, list(channels)))
}

// list returns a JSON array.
func list(items []string) string {
	if items == nil {
		items = []string{}
	}
	text, _ := json.Marshal(items)
	return string(text)
}

// say sends one text frame.
func (s *socket) say(format string, args ...any) {
	s.t.Helper()
	s.write(websocket.MessageText, []byte(fmt.Sprintf(format, args...)))
}

func (s *socket) write(kind websocket.MessageType, p []byte) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.conn.Write(ctx, kind, p); err != nil {
		s.t.Fatal(err)
	}
}

// hear returns the next frame, and takes an action into the mirror.
func (s *socket) hear() frame {
	s.t.Helper()
	text := s.frame()
	s.frames = append(s.frames, text)
	return s.understand(text)
}

// frame returns the text of the next frame.
func (s *socket) frame() string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	kind, text, err := s.conn.Read(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	if kind != websocket.MessageText {
		s.t.Fatalf("the host sent a binary frame: %.200q", text)
	}
	return string(text)
}

func (s *socket) understand(text string) frame {
	s.t.Helper()
	f := frame{Text: text}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		s.t.Fatalf("%v in %.200s", err, text)
	}
	if f.Method == "action" {
		e := s.envelope(f)
		if e.ServerSeq <= s.LastSeen {
			s.t.Fatalf("number %d came after %d", e.ServerSeq, s.LastSeen)
		}
		s.seen = append(s.seen, e)
		s.Apply(e)
	}
	return f
}

// envelope reads an action. One that cannot be read is told to whoever sent it, and nobody else.
func (s *socket) envelope(f frame) (e wire.Envelope) {
	s.t.Helper()
	err := json.Unmarshal(f.Params, &e)
	if err == nil {
		return e
	}
	var refused struct {
		Channel, RejectionReason string
		Action                   json.RawMessage
		ServerSeq                int64
		Origin                   *wire.Origin
	}
	if json.Unmarshal(f.Params, &refused) != nil || refused.RejectionReason == "" {
		s.t.Fatalf("%v in %.200s", err, f.Text)
	}
	return wire.Envelope{
		Channel: refused.Channel, Action: wire.Unknown{Raw: refused.Action}, ServerSeq: refused.ServerSeq,
		Origin: refused.Origin, RejectionReason: refused.RejectionReason,
	}
}

// answer takes actions until the response to the request with this id, and returns that.
func (s *socket) answer(id string) frame {
	s.t.Helper()
	for {
		f := s.hear()
		switch {
		case f.Method == "action":
		case f.Method == "" && string(f.ID) == id:
			return f
		default:
			s.t.Fatalf("not the response to %s: %.300s", id, f.Text)
		}
	}
}

// call sends a request and returns the response.
func (s *socket) call(method, params string) frame {
	s.t.Helper()
	s.asked++
	s.say(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.asked, method, params)
	return s.answer(fmt.Sprint(s.asked))
}

// result reads the result of a response.
func (s *socket) result(f frame, into any) {
	s.t.Helper()
	if f.Error != nil {
		s.t.Fatalf("error: %s", f.Text)
	}
	if err := json.Unmarshal(f.Result, into); err != nil {
		s.t.Fatalf("%v in %.300s", err, f.Text)
	}
}

// refused expects an error with this code whose message contains the words.
func (s *socket) refused(f frame, code int, words string) {
	s.t.Helper()
	if f.Error == nil || f.Error.Code != code || !strings.Contains(f.Error.Message, words) || f.Result != nil {
		s.t.Errorf("%s, want error %d with %q", f.Text, code, words)
	}
}

// null expects the result null.
func (s *socket) null(f frame) {
	s.t.Helper()
	if string(f.Result) != "null" || f.Error != nil {
		s.t.Errorf("%s, want the result null", f.Text)
	}
}

func (s *socket) take(snapshot wire.Snapshot) {
	s.t.Helper()
	if err := s.Take(snapshot); err != nil {
		s.t.Fatal(err)
	}
}

// subscribe takes a channel into the mirror. Delivery is JSON, or "" for none.
func (s *socket) subscribe(channel, delivery string) wire.Snapshot {
	s.t.Helper()
	if delivery != "" {
		delivery = `,"delivery":` + delivery
	}
	var result wire.SubscribeResult
	s.result(s.call("subscribe", fmt.Sprintf(`{"channel":%q%s}`, channel, delivery)), &result)
	if result.Snapshot == nil {
		s.t.Fatalf("%s has no snapshot", channel)
	}
	s.take(*result.Snapshot)
	return *result.Snapshot
}

// dispatch sends an action, given as JSON, and returns its clientSeq.
func (s *socket) dispatch(channel, action string) int {
	s.t.Helper()
	s.acted++
	s.say(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":%q,"clientSeq":%d,"action":%s}}`, channel, s.acted, action)
	return s.acted
}

// input types text into a terminal.
func (s *socket) input(channel, text string) int {
	s.t.Helper()
	data, _ := json.Marshal(text)
	return s.dispatch(channel, fmt.Sprintf(`{"type":"terminal/input","data":%s}`, data))
}

// sync takes everything that happened before now.
func (s *socket) sync() {
	s.t.Helper()
	s.null(s.call("ping", `{"channel":"ahp-root://"}`))
}

// untilText takes actions until the terminal's text contains the words.
func (s *socket) untilText(channel, words string) {
	s.t.Helper()
	for !strings.Contains(s.Text(channel), words) {
		s.hear()
	}
}

// until takes actions until one of a type comes, and returns that.
func (s *socket) until(kind string) wire.Envelope {
	s.t.Helper()
	return s.await(func(e wire.Envelope) bool { return e.Action.Type() == kind })
}

// own takes actions until one is of a client, and returns that.
func (s *socket) own() wire.Envelope {
	s.t.Helper()
	return s.await(func(e wire.Envelope) bool { return e.Origin != nil })
}

func (s *socket) await(wanted func(wire.Envelope) bool) wire.Envelope {
	s.t.Helper()
	for {
		if f := s.hear(); f.Method != "action" {
			s.t.Fatalf("not an action: %.300s", f.Text)
		}
		if e := s.seen[len(s.seen)-1]; wanted(e) {
			return e
		}
	}
}
