package ahp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

// handle carries out one message of the client's.
func (c *connection) handle(ctx context.Context, p []byte) {
	m, malformed := wire.Parse(p)
	switch {
	case malformed != nil:
		c.respond(m.ID, nil, malformed)
	case m.Method == "": // a response to a request that was never sent
	case m.ID == nil:
		c.notified(m.Method, m.Params)
	default:
		result, err := c.call(ctx, m.Method, m.Params)
		c.respond(m.ID, result, err)
	}
}

// notified carries out a notification. Unknown ones are ignored, and so are all before the handshake.
func (c *connection) notified(method string, params json.RawMessage) {
	if c.client == nil {
		return
	}
	switch method {
	case "dispatchAction":
		c.dispatch(params)
	case "unsubscribe":
		c.unsubscribe(params)
	}
}

// call carries out a request.
func (c *connection) call(ctx context.Context, method string, params json.RawMessage) (any, *wire.Error) {
	switch method {
	case "ping":
		return nil, nil
	case "initialize":
		return c.initialize(params)
	case "reconnect":
		return c.reconnect(params)
	}
	if c.client == nil {
		return nil, &wire.Error{Code: wire.InvalidRequest, Message: "not initialized: send initialize or reconnect first"}
	}
	switch method {
	case "subscribe":
		return c.subscribe(params)
	case "createTerminal":
		return c.createTerminal(params)
	case "disposeTerminal":
		return c.disposeTerminal(ctx, params)
	case "listSessions":
		return wire.ListSessionsResult{Items: []json.RawMessage{}}, nil
	case "createSession":
		return nil, &wire.Error{Code: wire.ProviderNotFound, Message: "no agents run here: this host has terminals only"}
	}
	return nil, &wire.Error{Code: wire.MethodNotFound, Message: fmt.Sprintf("method %.64q is not served here", method)}
}

// notFound is the answer for a channel that does not exist or that the client may not see.
func notFound(uri string) *wire.Error {
	code := wire.NotFound
	if scheme, _, _ := strings.Cut(uri, ":"); strings.HasSuffix(scheme, "-session") || strings.HasSuffix(scheme, "-chat") {
		code = wire.SessionNotFound
	}
	return &wire.Error{Code: code, Message: fmt.Sprintf("resource not found: %.128s", uri)}
}

// failure returns the response for what packages below did not do.
func (c *connection) failure(uri string, err error) *wire.Error {
	var (
		refusal *sharing.Refusal
		limit   *ptymgr.LimitError
		spec    *ptymgr.SpecError
		claim   *sharing.InvalidClaimError
	)
	switch {
	case errors.Is(err, sharing.ErrNotFound):
		return notFound(uri)
	case errors.As(err, &refusal):
		return &wire.Error{Code: wire.PermissionDenied, Message: refusal.Reason}
	case errors.As(err, &limit):
		return &wire.Error{Code: wire.Internal, Message: limit.Error(), Data: map[string]int{"limit": limit.Limit}}
	case errors.As(err, &spec) && spec.Field == "cwd":
		return &wire.Error{Code: wire.NotFound, Message: "directory not found: " + spec.Err.Error()}
	case errors.As(err, &claim):
		return invalid("claim: " + claim.Reason)
	case errors.As(err, &spec):
		return &wire.Error{Code: wire.InvalidParams, Message: spec.Error()}
	}
	c.host.log.Error("serving an AHP request", "error", err)
	return &wire.Error{Code: wire.Internal, Message: "the host could not do that; its log says more"}
}
