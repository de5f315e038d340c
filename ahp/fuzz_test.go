package ahp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

// Of the terminals that are there while messages are fuzzed, one is for everybody and one is private.
const (
	fuzzedTab  = "ahp-terminal:/tab"
	privateTab = "ahp-terminal:/hidden"
)

// inbound is a host with terminals, whose connections have no sockets.
type inbound struct {
	host   *Host
	owner  *sharing.Client
	secret string // title of the private terminal
}

// newInbound starts a host. What is typed at its terminals goes to a program that does nothing with it.
func newInbound(f *testing.F) *inbound {
	dir := f.TempDir()
	shell := filepath.Join(dir, "shell")
	if err := os.WriteFile(shell, []byte("#!/bin/sh\nexec cat\n"), 0o700); err != nil {
		f.Fatal(err)
	}
	manager := sharing.New(sharing.Config{
		Terminals: ptymgr.Config{Shell: shell, Dir: dir, MaxTerminals: 5, Logger: slog.New(slog.DiscardHandler)},
	})
	in := &inbound{host: NewHost(Config{Sharing: manager, Version: "test", Logger: slog.New(slog.DiscardHandler)}), secret: rand.Text()}
	var err error
	if in.owner, err = manager.Join(identities["person"], ""); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := manager.Close(context.Background()); err != nil {
			f.Error(err)
		}
		in.host.Wait()
	})
	return in
}

// connect is a connection that has no socket.
func (in *inbound) connect(as string) *connection {
	return &connection{
		host: in.host, identity: identities[as], wake: make(chan struct{}, 1), room: make(chan struct{}, 1),
		replace: make(chan struct{}, 1), left: make(chan struct{}), stops: map[string]func(){}, subs: map[*subscription]struct{}{},
	}
}

// reset makes the terminals what they are to be.
func (in *inbound) reset(t *testing.T) {
	h, by := in.host, sharing.By{Client: in.owner}
	manager := h.cfg.Sharing
	if err := manager.SetPaused(by, false); err != nil {
		t.Fatal(err)
	}
	list, err := manager.List(in.owner)
	if err != nil {
		t.Fatal(err)
	}
	for _, terminal := range list {
		if name := h.Resource(terminal); name == fuzzedTab || name == privateTab {
			continue
		}
		if err := manager.Dispose(context.Background(), by, terminal.ID()); err != nil {
			t.Fatal(err)
		}
	}
	maker := in.connect("person")
	defer maker.leave()
	maker.handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersions":["1.0.0"],"clientId":"owner"}}`))
	for _, name := range []string{fuzzedTab, privateTab} { // if they are not there
		maker.handle(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{"channel":%q,"claim":{"kind":"client","clientId":"owner"}}}`, name))
	}
	h.mu.Lock()
	tab, private := h.channels[fuzzedTab].terminal.shared, h.channels[privateTab].terminal.shared
	h.mu.Unlock()
	if err := errors.Join(tab.SetMode(by, sharing.Share), private.SetMode(by, sharing.Private), private.Rename(by, in.secret)); err != nil {
		t.Fatal(err)
	}
}

// takeAll takes everything that there is to send, as messages.
func (c *connection) takeAll(t *testing.T) [][]byte {
	var messages [][]byte
	for {
		c.host.mu.Lock()
		p, _, ok := c.next(time.Now().Add(2 * wire.MaxLatency))
		c.host.mu.Unlock()
		if !ok {
			return messages
		}
		message := p.message
		if message == nil {
			var err error
			if message, err = c.render(nil, &p); err != nil {
				c.host.mu.Lock()
				p.sub.stale = true
				c.host.mu.Unlock()
			}
		}
		if len(message) > 0 {
			messages = append(messages, message)
		}
		if len(messages) > 10_000 {
			t.Fatal("there is always something more to send")
		}
	}
}

// Whatever anybody sends, one message to a line, the host answers in proper messages, whose numbers rise, and tells
// programs nothing of a private terminal.
func FuzzInbound(f *testing.F) {
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersions":["%s"],"clientId":"me","initialSubscriptions":["ahp-root://","ahp-terminal:/tab","ahp-terminal:/hidden","ahp-tandem:/sharing"]}}` + "\n"
	dispatch := `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"%s","clientSeq":%d,"action":%s}}` + "\n"
	seeds := []string{
		"nonsense\n[]\n{}\n", `{"jsonrpc":"2.0","id":"x","method":"ping"}`,
		`{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{"channel":"ahp-terminal:/tab","delivery":{"maxLatencyMs":0}}}` + "\n" + `{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"agenthost:/root"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"createTerminal","params":{"channel":"ahp-terminal:/new","claim":{"kind":"client","clientId":"me"},"name":"n","cwd":"file:///","cols":1,"rows":1000}}` + "\n" +
			`{"jsonrpc":"2.0","id":4,"method":"disposeTerminal","params":{"channel":"ahp-terminal:/new"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"listSessions"}` + "\n" + `{"jsonrpc":"2.0","id":5,"method":"createSession","params":{}}`,
		`{"jsonrpc":"2.0","id":6,"method":"reconnect","params":{"clientId":"me","lastSeenServerSeq":0,"subscriptions":[{"channel":"ahp-terminal:/tab","lastSeenServerSeq":5}]}}`,
		`{"jsonrpc":"2.0","id":7,"method":"disposeTerminal","params":{"channel":"ahp-terminal:/hidden"}}`,
	}
	for _, on := range []struct {
		channel string
		actions []string
	}{
		{fuzzedTab, []string{
			`{"type":"terminal/claimed","claim":{"kind":"client","clientId":"me"}}`, `{"type":"terminal/input","data":"echo\n"}`, `{"type":"terminal/resized","cols":9,"rows":9}`,
			`{"type":"terminal/titleChanged","title":"t"}`, `{"type":"terminal/cleared"}`, `{"type":"terminal/data","data":"forged"}`, `{"type":"terminal/exited"}`, `{"type":"unknown"}`,
			`{"type":"terminal/claimed","claim":{"kind":"session","session":"ahp-session:/s","turnId":"t","toolCallId":"c"}}`, `{"type":"terminal/claimed","claim":{"kind":"client","clientId":"owner"}}`,
		}},
		{privateTab, []string{`{"type":"terminal/input","data":"x"}`, `{"type":"terminal/claimed","claim":{"kind":"client","clientId":"me"}}`}},
		{RootChannel, []string{`{"type":"root/configChanged","config":{}}`, `{"type":"root/terminalsChanged","terminals":[]}`}},
		{SharingChannel, []string{
			`{"type":"sharing/modeSet","resource":"ahp-terminal:/tab","mode":"ask"}`, `{"type":"sharing/pausedSet","paused":true}`, `{"type":"sharing/requestAnswered","request":"r","answer":"once"}`,
		}},
	} {
		all := ""
		for i, action := range on.actions {
			all += fmt.Sprintf(dispatch, on.channel, i+1, action)
		}
		seeds = append(seeds, all)
	}
	names := []string{"person", "claude", "readonly", "other"}
	for as := range names {
		for i, seed := range seeds {
			f.Add(byte(as), []byte(fmt.Sprintf(hello, []string{"1.0.0", "0.6.0"}[i%2])+seed))
			f.Add(byte(as), []byte(seed))
		}
	}
	in := newInbound(f)
	f.Fuzz(func(t *testing.T, as byte, lines []byte) {
		hang := time.AfterFunc(patience, func() { panic(fmt.Sprintf("no end of %q", lines)) })
		defer hang.Stop()
		in.reset(t)
		c := in.connect(names[int(as)%len(names)])
		defer c.leave()
		last := int64(0)
		for i, line := range bytes.Split(lines, []byte("\n")) {
			if i == 64 {
				break // enough happens by then
			}
			c.handle(t.Context(), line)
			for _, message := range c.takeAll(t) {
				var m struct {
					JSONRPC string
					Method  string
					Params  struct{ ServerSeq int64 }
				}
				if err := json.Unmarshal(message, &m); err != nil || m.JSONRPC != "2.0" {
					t.Fatalf("%q is answered by %q: %v", line, message, err)
				}
				if m.Method == "action" {
					if m.Params.ServerSeq <= last {
						t.Fatalf("number %d came after %d", m.Params.ServerSeq, last)
					}
					last = m.Params.ServerSeq
				}
				if c.identity.Kind == sharing.Program && bytes.Contains(message, []byte(in.secret)) {
					t.Fatalf("%q is answered by %q", line, message)
				}
			}
			if c.waiting != 0 || len(c.answers)+len(c.private) != 0 {
				t.Fatalf("after %q there are %d answers, %d events and %d bytes left", line, len(c.answers), len(c.private), c.waiting)
			}
		}
	})
}
