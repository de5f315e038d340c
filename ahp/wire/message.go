// Package wire is the Agent Host Protocol as it is written: messages, actions, states, and how actions change states.
package wire

import (
	"bytes"
	"encoding/json"
)

// Message is one JSON-RPC 2.0 message of either direction.
type Message struct {
	ID     json.RawMessage // nil for a notification
	Method string          // "" for a response
	Params json.RawMessage
	Result json.RawMessage // of a response that succeeded
	Error  *Error          // of a response that failed
}

// Parse reads one message. Its error is the response to what is none; Message.ID is then set if it could be read.
func Parse(p []byte) (Message, *Error) {
	if !json.Valid(p) {
		return Message{}, &Error{Code: ParseError, Message: "Parse error: not JSON"}
	}
	var m struct {
		JSONRPC json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   *Error          `json:"error"`
	}
	p = bytes.TrimLeft(p, " \t\r\n")
	if p[0] != '{' || json.Unmarshal(p, &m) != nil {
		return Message{}, &Error{Code: InvalidRequest, Message: "Invalid Request: not a JSON-RPC object"}
	}
	message := Message{Params: m.Params, Result: m.Result, Error: m.Error}
	if validID(m.ID) {
		message.ID = m.ID
	}
	if string(m.JSONRPC) != `"2.0"` {
		return message, &Error{Code: InvalidRequest, Message: `Invalid Request: "jsonrpc" must be "2.0"`}
	}
	if m.ID != nil && message.ID == nil && m.Error == nil {
		return message, &Error{Code: InvalidRequest, Message: `Invalid Request: "id" must be a number or a string`}
	}
	if m.Method == nil {
		if m.Result == nil && m.Error == nil {
			return message, &Error{Code: InvalidRequest, Message: `Invalid Request: "method" is missing`}
		}
		return message, nil
	}
	if json.Unmarshal(m.Method, &message.Method) != nil || message.Method == "" {
		return message, &Error{Code: InvalidRequest, Message: `Invalid Request: "method" must be a string`}
	}
	return message, nil
}

// validID reports whether a response can carry this id.
func validID(id json.RawMessage) bool {
	return len(id) > 0 && len(id) <= 256 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// Response returns the response to a request: the result, which may be nil, or the error. A nil id is written as null.
func Response(id json.RawMessage, result any, err *Error) []byte {
	b := []byte(`{"jsonrpc":"2.0","id":`)
	if id == nil {
		id = json.RawMessage("null")
	}
	b = append(b, id...)
	if err != nil {
		b = append(b, `,"error":`...)
		return append(appendJSON(b, err), '}')
	}
	b = append(b, `,"result":`...)
	return append(appendJSON(b, result), '}')
}

// Request returns a request, or for a nil id a notification.
func Request(id json.RawMessage, method string, params any) []byte {
	b := []byte(`{"jsonrpc":"2.0",`)
	if id != nil {
		b = append(b, `"id":`...)
		b = append(append(b, id...), ',')
	}
	b = append(b, `"method":`...)
	b = append(AppendString(b, []byte(method)), `,"params":`...)
	return append(appendJSON(b, params), '}')
}

// appendJSON appends v without escaping for HTML. A value that does not marshal is a mistake in this program.
func appendJSON(dst []byte, v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("wire: value does not marshal: " + err.Error())
	}
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
