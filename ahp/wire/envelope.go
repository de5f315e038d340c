package wire

import (
	"encoding/json"
	"strconv"
)

// Envelope is an action as the host tells it to the subscribers of a channel.
type Envelope struct {
	Channel         string
	Action          Action
	ServerSeq       int64   // one numbering for all channels of a host; gaps are normal
	Origin          *Origin // nil if the host did it by itself
	RejectionReason string  // not empty: the action of Origin was refused and changed nothing
}

// Origin is whose action it was.
type Origin struct {
	ClientID  string `json:"clientId"`
	ClientSeq int64  `json:"clientSeq"` // the client's own number for it
}

// AppendEnvelope appends the envelope's JSON.
func AppendEnvelope(dst []byte, e Envelope) []byte {
	dst = append(dst, `{"channel":`...)
	dst = appendText(dst, e.Channel)
	dst = append(dst, `,"action":`...)
	dst = AppendAction(dst, e.Action)
	dst = append(dst, `,"serverSeq":`...)
	dst = strconv.AppendInt(dst, e.ServerSeq, 10)
	if e.Origin != nil {
		dst = append(dst, `,"origin":{"clientId":`...)
		dst = appendText(dst, e.Origin.ClientID)
		dst = append(dst, `,"clientSeq":`...)
		dst = strconv.AppendInt(dst, e.Origin.ClientSeq, 10)
		dst = append(dst, '}')
	}
	if e.RejectionReason != "" {
		dst = append(dst, `,"rejectionReason":`...)
		dst = appendText(dst, e.RejectionReason)
	}
	return append(dst, '}')
}

// MarshalJSON is AppendEnvelope.
func (e Envelope) MarshalJSON() ([]byte, error) { return AppendEnvelope(nil, e), nil }

// UnmarshalJSON is as strict as UnmarshalAction, but for the action of one that was refused: that may be why it was.
func (e *Envelope) UnmarshalJSON(p []byte) error {
	o, err := parseObject(p)
	if err != nil {
		return err
	}
	read := action
	if optional(o, "rejectionReason", text) != nil {
		read = anyAction
	}
	*e = Envelope{
		Channel:         required(o, "channel", name),
		Action:          required(o, "action", read),
		ServerSeq:       required(o, "serverSeq", count),
		Origin:          optional(o, "origin", origin),
		RejectionReason: orZero(optional(o, "rejectionReason", text)),
	}
	return o.err
}

func action(raw json.RawMessage) (Action, error) { return UnmarshalAction(raw) }

// anyAction is action for what may be malformed.
func anyAction(raw json.RawMessage) (Action, error) {
	a, err := UnmarshalAction(raw)
	if err != nil {
		a, err = Unknown{Raw: raw}, nil
	}
	return a, err
}

func origin(raw json.RawMessage) (Origin, error) {
	o, err := parseObject(raw)
	if err != nil {
		return Origin{}, err
	}
	return Origin{ClientID: required(o, "clientId", text), ClientSeq: required(o, "clientSeq", count)}, o.err
}
