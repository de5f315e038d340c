package wire

import "encoding/json"

// Kinds of claims.
const (
	ClaimClient  = "client"
	ClaimSession = "session"
)

// Claim says who drives a terminal: a client, or a session of an agent.
type Claim struct {
	Kind string `json:"kind"`

	ClientID string `json:"clientId,omitempty"` // of a client's claim, where it is required

	// Of a session's claim. With a turn and a tool call the session is using the terminal, without it only owns it.
	Session    string `json:"session,omitempty"` // URI; required
	Chat       string `json:"chat,omitempty"`    // URI; required from version 0.9 on, unknown before
	TurnID     string `json:"turnId,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
}

// UnmarshalJSON takes a claim of one of the two kinds with what is required of it. A session's claim may lack the chat.
func (c *Claim) UnmarshalJSON(p []byte) error {
	o, err := parseObject(p)
	if err != nil {
		return err
	}
	switch kind := required(o, "kind", text); kind {
	case ClaimClient:
		*c = Claim{Kind: kind, ClientID: required(o, "clientId", name)}
	case ClaimSession:
		*c = Claim{
			Kind: kind, Session: required(o, "session", name), Chat: orZero(optional(o, "chat", text)),
			TurnID: orZero(optional(o, "turnId", text)), ToolCallID: orZero(optional(o, "toolCallId", text)),
		}
	default:
		o.fail("kind", errMust(`be "client" or "session"`))
	}
	return o.err
}

func claim(raw json.RawMessage) (Claim, error) {
	var c Claim
	err := c.UnmarshalJSON(raw)
	return c, err
}
