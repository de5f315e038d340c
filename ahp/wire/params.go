package wire

import "encoding/json"

// The functions here read the parameters of a request. They are strict about types and about what must be there, and the
// Error says InvalidParams and names the member. Members that are not known are ignored, and null is as good as absent.
// Nothing they return shares memory with what they read.

// ParseInitialize reads the parameters of initialize. ProtocolVersions are for Negotiate to check.
func ParseInitialize(params json.RawMessage) (InitializeParams, *Error) {
	return parse(params, func(o *object) InitializeParams {
		p := InitializeParams{
			Channel:              orZero(optional(o, "channel", text)),
			ClientID:             required(o, "clientId", name),
			ClientInfo:           optional(o, "clientInfo", implementation),
			InitialSubscriptions: orZero(optional(o, "initialSubscriptions", listOf(text))),
			ProtocolVersions:     orZero(optional(o, "protocolVersions", listOf(text))),
		}
		if _, ok := o.members["protocolVersions"]; !ok {
			o.fail("protocolVersions", errMissing)
		}
		return p
	})
}

// ParseReconnect reads the parameters of reconnect.
func ParseReconnect(params json.RawMessage) (ReconnectParams, *Error) {
	return parse(params, func(o *object) ReconnectParams {
		p := ReconnectParams{
			Channel:           orZero(optional(o, "channel", text)),
			ClientID:          required(o, "clientId", name),
			LastSeenServerSeq: optional(o, "lastSeenServerSeq", count),
			Subscriptions:     orZero(optional(o, "subscriptions", listOf(subscription))),
			Windows:           orZero(optional(o, "windows", raw)),
		}
		own := len(p.Subscriptions) > 0
		for _, s := range p.Subscriptions {
			own = own && s.LastSeenServerSeq != nil
		}
		if p.LastSeenServerSeq == nil && !own {
			o.fail("lastSeenServerSeq", errMissing)
		}
		return p
	})
}

// ParseSubscribe reads the parameters of subscribe.
func ParseSubscribe(params json.RawMessage) (SubscribeParams, *Error) {
	return parse(params, func(o *object) SubscribeParams {
		return SubscribeParams{
			Channel:     required(o, "channel", name),
			Delivery:    optional(o, "delivery", delivery),
			FlowControl: orZero(optional(o, "flowControl", raw)),
		}
	})
}

// ParseChannel reads the parameters of unsubscribe and disposeTerminal.
func ParseChannel(params json.RawMessage) (ChannelParams, *Error) {
	return parse(params, func(o *object) ChannelParams {
		return ChannelParams{required(o, "channel", name)}
	})
}

// ParseDispatchAction reads the parameters of dispatchAction.
func ParseDispatchAction(params json.RawMessage) (DispatchActionParams, *Error) {
	return parse(params, func(o *object) DispatchActionParams {
		return DispatchActionParams{
			Channel: required(o, "channel", name), ClientSeq: required(o, "clientSeq", count),
			Action: required(o, "action", rawObject),
		}
	})
}

// ParseCreateTerminal reads the parameters of createTerminal.
func ParseCreateTerminal(params json.RawMessage) (CreateTerminalParams, *Error) {
	return parse(params, func(o *object) CreateTerminalParams {
		return CreateTerminalParams{
			Channel: required(o, "channel", name),
			Claim:   required(o, "claim", claim),
			Name:    orZero(optional(o, "name", text)),
			Cwd:     orZero(optional(o, "cwd", text)),
			Cols:    optional(o, "cols", cells),
			Rows:    optional(o, "rows", cells),

			ExecutionTarget: orZero(optional(o, "executionTarget", executionTarget)),
		}
	})
}

func parse[T any](params json.RawMessage, read func(*object) T) (T, *Error) {
	var none T
	o, err := parseObject(params)
	if err != nil {
		return none, &Error{Code: InvalidParams, Message: inside("params", err).Error()}
	}
	p := read(o)
	if o.err != nil {
		return none, &Error{Code: InvalidParams, Message: o.err.Error()}
	}
	return p, nil
}

func implementation(raw json.RawMessage) (Implementation, error) {
	o, err := parseObject(raw)
	if err != nil {
		return Implementation{}, err
	}
	return Implementation{
		Name: required(o, "name", text), Version: orZero(optional(o, "version", text)), Title: orZero(optional(o, "title", text)),
	}, o.err
}

func delivery(raw json.RawMessage) (Delivery, error) {
	o, err := parseObject(raw)
	if err != nil {
		return Delivery{}, err
	}
	latency := optional(o, "maxLatencyMs", count)
	if latency != nil {
		*latency = min(*latency, MaxLatency.Milliseconds())
	}
	return Delivery{latency}, o.err
}

// executionTarget is where a terminal's program runs.
func executionTarget(raw json.RawMessage) (string, error) {
	target, err := text(raw)
	if err != nil || target != "server" && target != ExecutedByClient {
		return "", errMust(`be "server" or "client"`)
	}
	return target, nil
}

// cells is the width or height of a terminal.
func cells(raw json.RawMessage) (int, error) {
	n, err := integer(raw)
	if err != nil || n < 1 {
		return 0, errMust("be an integer of at least 1")
	}
	return n, nil
}

func subscription(raw json.RawMessage) (Subscription, error) {
	var s Subscription
	err := s.UnmarshalJSON(raw)
	return s, err
}

// UnmarshalJSON takes a string, or an object with the channel's own number.
func (s *Subscription) UnmarshalJSON(p []byte) error {
	if channel, err := text(p); err == nil {
		*s = Subscription{Channel: channel}
		return nil
	}
	o, err := parseObject(p)
	if err != nil {
		return errMust("be a string or an object")
	}
	*s = Subscription{Channel: required(o, "channel", name), LastSeenServerSeq: new(required(o, "lastSeenServerSeq", count))}
	return o.err
}

// MarshalJSON writes the form that it is of.
func (s Subscription) MarshalJSON() ([]byte, error) {
	if s.LastSeenServerSeq == nil {
		return marshal(s.Channel)
	}
	return marshal(struct {
		Channel           string `json:"channel"`
		LastSeenServerSeq int64  `json:"lastSeenServerSeq"`
	}{s.Channel, *s.LastSeenServerSeq})
}
