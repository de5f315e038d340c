// Package wire is what Agent Host Protocol peers say to each other: messages, versions, states, actions, and the
// reducers that apply actions to states. It knows no sockets and keeps nothing.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Message is a JSON-RPC 2.0 message. With a Method it is a request, or, without an ID, a notification; else it is a
// response.
type Message struct {
	ID     json.RawMessage // as the sender wrote it, a number, a string or null; nil when absent
	Method string
	Params json.RawMessage // nil when absent
	Result json.RawMessage // nil when absent
	Error  *Error
}

// Parse returns the message in p, one frame. The Error it returns is the answer to what is no message; the Message then
// still has the ID, if that can be read. Nothing in the Message shares memory with p.
func Parse(p []byte) (Message, *Error) {
	if !utf8.Valid(p) {
		return Message{}, &Error{Code: ParseError, Message: "the message is not UTF-8"}
	}
	o, err := parseObject(p)
	if err != nil && !json.Valid(p) {
		return Message{}, &Error{Code: ParseError, Message: "the message is not JSON"}
	}
	if err != nil {
		return Message{}, &Error{Code: InvalidRequest, Message: "the message must be an object; batches are not taken"}
	}
	m := Message{ID: o.members["id"], Params: o.members["params"], Result: o.members["result"]}
	if !validID(m.ID) {
		return Message{}, &Error{Code: InvalidRequest, Message: "id must be a number or a string"}
	}
	if version := required(o, "jsonrpc", text); o.err == nil && version != "2.0" {
		o.fail("jsonrpc", errMust(`be "2.0"`))
	}
	if method := optional(o, "method", text); method != nil {
		m.Method = *method
		if m.Method == "" {
			o.fail("method", errMust("not be empty"))
		}
	} else {
		m.Error = optional(o, "error", decoded[Error])
		if m.ID == nil || m.Result == nil && m.Error == nil {
			o.fail("method", errMissing)
		}
	}
	if o.err != nil {
		return Message{ID: m.ID}, &Error{Code: InvalidRequest, Message: o.err.Error()}
	}
	return m, nil
}

// validID reports whether an id, which is valid JSON or absent, is of a type that ids have.
func validID(id json.RawMessage) bool {
	if len(id) == 0 {
		return true
	}
	switch id[0] {
	case '{', '[', 't', 'f':
		return false
	}
	return true
}

// MarshalJSON writes the members that are there.
func (m Message) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitzero"`
		Method  string          `json:"method,omitempty"`
		Params  json.RawMessage `json:"params,omitzero"`
		Result  json.RawMessage `json:"result,omitzero"`
		Error   *Error          `json:"error,omitempty"`
	}{"2.0", m.ID, m.Method, m.Params, m.Result, m.Error})
}

// UnmarshalJSON is Parse.
func (m *Message) UnmarshalJSON(p []byte) error {
	parsed, err := Parse(p)
	if err != nil {
		return err
	}
	*m = parsed
	return nil
}

// Request returns a request, or without an id a notification, as one frame. It panics if params are nothing that JSON can
// say.
func Request(id json.RawMessage, method string, params any) []byte {
	return encode(Message{ID: id, Method: method, Params: encode(params)})
}

// Response returns the response to the request with this id as one frame: err, or without one the result, which may be
// nil. An id that could not be read is nil. It panics if the result is nothing that JSON can say.
func Response(id json.RawMessage, result any, err *Error) []byte {
	m := Message{ID: id, Error: err}
	if id == nil {
		m.ID = json.RawMessage("null")
	}
	if err == nil {
		m.Result = encode(result)
	}
	return encode(m)
}

// marshal is json.Marshal without the escapes that are only of use inside HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encode is marshal for values that this program made.
func encode(v any) []byte {
	p, err := marshal(v)
	if err != nil {
		panic(fmt.Sprintf("wire: encoding a %T: %v", v, err))
	}
	return p
}
