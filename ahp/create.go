package ahp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

// maxURI is the longest name of a terminal, in bytes.
const maxURI = 256

// createTerminal starts a shell in a new terminal, under the URI that the client chose.
func (c *connection) createTerminal(params json.RawMessage) (any, *wire.Error) {
	p, err := wire.ParseCreateTerminal(params)
	if err != nil {
		return nil, err
	}
	if reason := checkURI(p.Channel); reason != "" {
		return nil, invalid("channel: " + reason)
	}
	if p.Claim.Kind == wire.ClaimClient && p.Claim.ClientID != c.client.ID() {
		return nil, invalid("claim: a terminal is made for the client itself or for a session")
	}
	claim, _ := claimOf(p.Claim)
	spec := ptymgr.Spec{Name: p.Name, Size: ptymgr.Size{Cols: 80, Rows: 24}}
	if p.Cols != nil {
		spec.Size.Cols = *p.Cols
	}
	if p.Rows != nil {
		spec.Size.Rows = *p.Rows
	}
	if p.Cwd != "" {
		dir, cwdErr := pathOf(p.Cwd)
		if cwdErr != nil {
			return nil, invalid("cwd: " + cwdErr.Error())
		}
		spec.Dir = dir
	}
	h := c.host
	h.mu.Lock()
	taken := h.channels[p.Channel]
	for client, name := range h.naming {
		if name == p.Channel && client != c.client {
			h.mu.Unlock()
			return nil, alreadyExists(p.Channel)
		}
	}
	if taken == nil {
		h.naming[c.client] = p.Channel
	}
	h.mu.Unlock()
	switch {
	case taken == nil:
	case taken.sees(c.identity):
		return nil, alreadyExists(p.Channel)
	default:
		return nil, invalid("channel: this URI cannot be used, choose another")
	}
	by := sharing.By{Client: c.client}
	var createErr error
	if p.ExecutionTarget == wire.ExecutedByClient {
		remote := ptymgr.RemoteSpec{Name: spec.Name, Dir: spec.Dir, Size: spec.Size}
		_, createErr = h.cfg.Sharing.CreateRemote(by, remote, &claim)
	} else {
		_, createErr = h.cfg.Sharing.Create(by, spec, &claim)
	}
	h.mu.Lock()
	delete(h.naming, c.client)
	h.mu.Unlock()
	if createErr != nil {
		return nil, c.failure(p.Channel, createErr)
	}
	return nil, nil
}

// disposeTerminal ends a terminal. It is as well with one that is not there.
func (c *connection) disposeTerminal(ctx context.Context, params json.RawMessage) (any, *wire.Error) {
	p, err := wire.ParseChannel(params)
	if err != nil {
		return nil, err
	}
	h := c.host
	h.mu.Lock()
	ch := c.lookUp(p.Channel)
	h.mu.Unlock()
	if ch == nil {
		return nil, nil
	}
	if ch.terminal == nil {
		return nil, invalid("channel: this is no terminal")
	}
	disposeErr := h.cfg.Sharing.Dispose(ctx, sharing.By{Client: c.client}, ch.terminal.shared.ID())
	if disposeErr != nil && !errors.Is(disposeErr, sharing.ErrNotFound) {
		return nil, c.failure(p.Channel, disposeErr)
	}
	return nil, nil
}

// checkURI returns why a terminal cannot be named so, or "".
func checkURI(uri string) string {
	scheme, rest, ok := strings.Cut(uri, ":")
	switch {
	case !ok || scheme == "" || rest == "":
		return "not a URI"
	case len(uri) > maxURI:
		return "longer than 256 bytes"
	case strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\uFFFD' }):
		return "contains spaces or control characters"
	case wire.IsRoot(uri), scheme == "ahp-root", scheme == "ahp-tandem", strings.HasSuffix(scheme, "-session"),
		strings.HasSuffix(scheme, "-chat"):
		return "the scheme is that of something else: use ahp-terminal"
	}
	return ""
}

// pathOf returns the absolute path that a file URI names (RFC 8089). A plain absolute path is taken as well, which some
// clients send.
func pathOf(uri string) (string, error) {
	if filepath.IsAbs(uri) {
		return uri, nil
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
		return "", errors.New("not a file URI, as in file:///home/me")
	}
	return u.Path, nil
}

func invalid(message string) *wire.Error {
	return &wire.Error{Code: wire.InvalidParams, Message: message}
}

func alreadyExists(uri string) *wire.Error {
	return &wire.Error{Code: wire.AlreadyExists, Message: "terminal already exists: " + uri}
}
