package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// hostile is a client that writes what it likes on a terminal's socket. Its login and ticket are good.
type hostile struct {
	t    *testing.T
	conn *net.TCPConn
	r    *bufio.Reader
}

// Opcodes of frames, with the bit that says that a frame is a message's last (RFC 6455 section 5.2).
const (
	wireContinuation = 0x0
	wireText         = 0x1
	wireBinary       = 0x2
	wireClose        = 0x8
	wirePing         = 0x9
	wireFin          = 0x80
)

// assault opens a terminal's socket by hand.
func (c *client) assault(t *testing.T, id string) *hostile {
	t.Helper()
	h := c.handshake(t, url.Values{"session_id": {id}, "ticket": {c.ticket(id)}}, nil)
	response, err := http.ReadResponse(h.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("status %d", response.StatusCode)
	}
	return h
}

// handshake sends the request for a terminal's socket, with headers changed as given: "" leaves one out.
func (c *client) handshake(t *testing.T, query url.Values, change map[string]string) *hostile {
	t.Helper()
	return c.upgradeByHand(t, "ws/terminal?"+query.Encode(), change)
}

// upgradeByHand sends the request for a socket, with headers changed as given: "" leaves one out.
func (c *client) upgradeByHand(t *testing.T, path string, change map[string]string) *hostile {
	t.Helper()
	conn, err := net.Dial("tcp", c.server.cfg.Listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	r, err := http.NewRequest("GET", c.server.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
		"Origin": c.origin,
	} {
		r.Header.Set(name, value)
	}
	for name, value := range change {
		if r.Header.Del(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	for _, cookie := range c.http.Jar.Cookies(r.URL) {
		r.AddCookie(cookie)
	}
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	return &hostile{t, conn.(*net.TCPConn), bufio.NewReader(conn)}
}

// wire is a frame as clients send it: masked, here by zeros.
func wire(first byte, payload string) string {
	return wireHead(first, uint64(len(payload))) + payload
}

// wireHead is the header of a masked frame that claims a length.
func wireHead(first byte, length uint64) string {
	head := []byte{first}
	switch {
	case length < 126:
		head = append(head, 0x80|byte(length))
	case length < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 0x80|126), uint16(length))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 0x80|127), length)
	}
	return string(append(head, 0, 0, 0, 0))
}

// sends writes bytes as they are. The server may have hung up already.
func (h *hostile) sends(bytes string) {
	h.t.Helper()
	_ = h.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(h.conn, bytes); errors.Is(err, os.ErrDeadlineExceeded) {
		h.t.Fatal("the server reads no more, and does not hang up")
	}
}

// next takes one frame from the server.
func (h *hostile) next() (opcode byte, payload []byte, err error) {
	_ = h.conn.SetReadDeadline(time.Now().Add(patience))
	var head [4]byte
	if _, err := io.ReadFull(h.r, head[:2]); err != nil {
		return 0, nil, err
	}
	length := int(head[1])
	if length == 126 {
		if _, err := io.ReadFull(h.r, head[2:]); err != nil {
			return 0, nil, err
		}
		length = int(binary.BigEndian.Uint16(head[2:]))
	}
	payload = make([]byte, length)
	_, err = io.ReadFull(h.r, payload)
	return head[0] &^ wireFin, payload, err
}

// ended waits until the server has hung up, and returns its close code, or 0 for none.
func (h *hostile) ended() (code int) {
	h.t.Helper()
	for {
		opcode, payload, err := h.next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			h.t.Error("the server does not hang up")
			return -1
		}
		if err != nil {
			return code
		}
		if opcode == wireClose && len(payload) >= 2 {
			code = int(binary.BigEndian.Uint16(payload))
		}
	}
}

// told waits for a text frame that contains text.
func (h *hostile) told(text string) {
	h.t.Helper()
	for {
		opcode, payload, err := h.next()
		if err != nil {
			h.t.Fatalf("waiting for %q: %v", text, err)
		}
		if opcode == wireText && bytes.Contains(payload, []byte(text)) {
			return
		}
	}
}

// usage is what a leak would make grow.
type usage struct {
	fds, goroutines int
	heap            uint64 // bytes in use
}

func (u usage) String() string {
	return fmt.Sprintf("%d fds, %d goroutines, %d bytes of heap", u.fds, u.goroutines, u.heap)
}

func measureUsage(t testing.TB) usage {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc")
	}
	runtime.GC()
	runtime.GC() // what pools keep goes with the second
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return usage{len(fds), runtime.NumGoroutine(), memory.HeapAlloc}
}

// fallsBackTo waits until there are no more descriptors and goroutines than before, nor more heap but for slack.
func fallsBackTo(t testing.TB, before usage, slack uint64) {
	t.Helper()
	var now usage
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		now = measureUsage(t)
		if now.fds <= before.fds && now.goroutines <= before.goroutines && now.heap <= before.heap+slack {
			return
		}
	}
	t.Errorf("from %v to %v", before, now)
}

// watched is a terminal that somebody else looks at while it is attacked.
type watched struct {
	t       *testing.T
	s       *instance
	c       *client
	id      string
	witness *lane
	asked   int
	before  usage
}

func watch(t *testing.T, change func(*Config)) *watched {
	s := serve(t, change)
	c := s.person(t)
	id, _ := c.create(bareBash)
	w := &watched{t: t, s: s, c: c, id: id, witness: c.attach(id, -1)}
	w.witness.see("$ ")
	w.unharmed("a start")
	w.c.http.CloseIdleConnections()
	w.before = measureUsage(t)
	return w
}

// unharmed checks that the other viewer types and sees, and that attackers are gone.
func (w *watched) unharmed(after string) {
	w.t.Helper()
	end := time.Now().Add(patience)
	for {
		w.asked++
		w.witness.types(fmt.Sprintf("echo still-$((%d+0))-here\n", w.asked))
		w.witness.see(fmt.Sprintf("still-%d-here", w.asked))
		viewers := w.s.terminals.Stats().Viewers
		if viewers == 1 {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("after %s there are %d viewers", after, viewers)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// viewersLeft polls until a server has want viewers, or out of patience, and returns how many it has.
func (s *instance) viewersLeft(want int) int {
	for end := time.Now().Add(patience); s.terminals.Stats().Viewers != want && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return s.terminals.Stats().Viewers
}

// leaksNothing is to be called when all attackers have been closed.
func (w *watched) leaksNothing() {
	w.t.Helper()
	w.c.http.CloseIdleConnections()
	fallsBackTo(w.t, w.before, 4<<20)
}

func TestFramesThatBreakTheProtocolEndTheSocket(t *testing.T) {
	w := watch(t, nil)
	type attack struct {
		name, bytes string
		code        int // 0: the server hangs up without a word
	}
	attacks := []attack{
		{"an unmasked frame", "\x82\x05rm -r", 0},
		{"a length of 2^63", wireHead(wireFin|wireBinary, 1<<63), 0},
		{"a ping of 126 bytes", wire(wireFin|wirePing, strings.Repeat("p", 126)), 1002},
		{"a ping of 2^62 bytes", wireHead(wireFin|wirePing, 1<<62), 1002},
		{"a ping in fragments", wire(wirePing, "p"), 1002},
		{"a continuation of nothing", wire(wireFin|wireContinuation, "x"), 1002},
		{"a message within a message", wire(wireText, "{") + wire(wireFin|wireText, "{}"), 1002},
		{"fragments without an end", wire(wireBinary, "") + strings.Repeat(wire(wireContinuation, strings.Repeat("x", 4<<10)), maxMessage>>12+1), 1009},
		{"a close of one byte", wire(wireFin|wireClose, "\x03"), 1002},
		{"a plain request", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 1002},
	}
	for _, reserved := range []byte{0x40, 0x20, 0x10} {
		attacks = append(attacks, attack{fmt.Sprintf("reserved bit %#x", reserved), wire(wireFin|wireText|reserved, "{}"), 1002})
	}
	for _, opcode := range []byte{3, 4, 5, 6, 7, 0xb, 0xc, 0xd, 0xe, 0xf} {
		attacks = append(attacks, attack{fmt.Sprintf("opcode %#x", opcode), wire(wireFin|opcode, "{}"), 1002})
	}
	for _, code := range []uint16{0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535} {
		attacks = append(attacks, attack{fmt.Sprintf("close code %d", code),
			wire(wireFin|wireClose, string(binary.BigEndian.AppendUint16(nil, code))), 1002})
	}
	for _, a := range attacks {
		h := w.c.assault(t, w.id)
		h.sends(a.bytes)
		if code := h.ended(); code != a.code {
			t.Errorf("%s: closed with %d, want %d", a.name, code, a.code)
		}
		h.conn.Close()
		w.unharmed(a.name)
	}
	w.leaksNothing()
}

func TestOddFramesAreIgnored(t *testing.T) {
	w := watch(t, nil)
	for name, bytes := range map[string]string{
		"text that is not UTF-8":     wire(wireFin|wireText, "\xff\xfe\xc0\x80"),
		"a type that is not UTF-8":   wire(wireFin|wireText, "{\"type\":\"\xff\"}"),
		"UTF-8 cut by a fragment":    wire(wireText, "{\"type\":\"\xc3") + wire(wireFin|wireContinuation, "\xa4\"}"),
		"empty frames":               strings.Repeat(wire(wireFin|wireBinary, "")+wire(wireFin|wireText, ""), 1000),
		"empty fragments":            wire(wireText, "") + strings.Repeat(wire(wireContinuation, ""), 10_000) + wire(wireFin|wireContinuation, "{}"),
		"pongs that nobody asked":    strings.Repeat(wire(wireFin|0xa, "tandem"), 1000),
		"pings within a message":     wire(wireText, "{") + strings.Repeat(wire(wireFin|wirePing, "p"), 100) + wire(wireFin|wireContinuation, "}"),
		"a length written too long":  "\x81\xff\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00{}",
		"more errors than are told":  strings.Repeat(wire(wireFin|wireText, "nonsense"), 5000),
		"sizes, one after the other": strings.Repeat(wire(wireFin|wireText, `{"type":"resize","cols":10,"rows":10}`)+wire(wireFin|wireText, `{"type":"resize","cols":11,"rows":11}`), 500),
	} {
		h := w.c.assault(t, w.id)
		// Written beside the reading: a client that takes no answers is another test. Pings go on until one is
		// answered, since answers are dropped while too many wait.
		told := make(chan struct{})
		var writer sync.WaitGroup
		writer.Go(func() {
			for more := bytes; ; more = wire(wireFin|wireText, `{"type":"ping"}`) {
				if _, err := io.WriteString(h.conn, more); err != nil {
					return
				}
				select {
				case <-told:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
		h.told(`"pong"`)
		close(told)
		writer.Wait()
		h.conn.Close()
		w.unharmed(name)
	}
	w.leaksNothing()
}

func TestClosesAreAnsweredInKind(t *testing.T) {
	w := watch(t, nil)
	for payload, want := range map[string]int{
		"": 0, "\x03\xe8": 1000, "\x03\xe9": 1001, "\x03\xe8\xff\xfe": 1000, "\x0b\xb8": 3000, "\x13\x87": 4999,
		"\x03\xe8" + strings.Repeat("r", 123): 1000,
	} {
		h := w.c.assault(t, w.id)
		h.sends(wire(wireFin|wireClose, payload) + wire(wireFin|wireBinary, "echo after the close\n"))
		if code := h.ended(); code != want {
			t.Errorf("%.8q: closed with %d, want %d", payload, code, want)
		}
		h.conn.Close()
		w.unharmed("a close")
	}
	if bytes.Contains(w.witness.log, []byte("after the close")) {
		t.Error("what came after a close was typed")
	}
	w.leaksNothing()
}

// Clients that stop in the middle of something, or hang up there.
func TestHalfOfAnythingIsHarmless(t *testing.T) {
	w := watch(t, nil)
	for name, bytes := range map[string]string{
		"nothing": "", "half a header": "\x82", "half a length": "\x82\xff\x00\x00", "half a mask": "\x82\x85\x00", "half a message": wireHead(wireFin|wireBinary, 1<<20) + "x",
		"a length of 2^63-1": wireHead(wireFin|wireBinary, 1<<63-1) + "x", "half a ping": wireHead(wireFin|wirePing, 100) + "x", "a fragment": wire(wireText, "{"),
	} {
		for how, hangUp := range map[string]func(*net.TCPConn) error{
			"half closed": (*net.TCPConn).CloseWrite,
			"closed":      (*net.TCPConn).Close,
			"reset":       func(c *net.TCPConn) error { return errors.Join(c.SetLinger(0), c.Close()) },
		} {
			h := w.c.assault(t, w.id)
			h.sends(bytes)
			if err := hangUp(h.conn); err != nil {
				t.Fatal(err)
			}
			if how == "half closed" {
				h.ended()
			}
			h.conn.Close()
			w.unharmed(name + ", " + how)
		}
	}
	w.leaksNothing()
}

// Clients that stay connected and answer nothing.
func TestClientsThatDoNotAnswerPingsAreGone(t *testing.T) {
	w := watch(t, func(cfg *Config) { cfg.pingEvery = 500 * time.Millisecond })
	var ends sync.WaitGroup
	for _, bytes := range []string{
		"", // no word
		wireHead(wireFin|wireBinary, 1<<20) + "x", // half a message
		wire(wireFin|0xa, "1000"),                 // wrong pongs
	} {
		h := w.c.assault(t, w.id)
		h.sends(bytes)
		ends.Go(func() {
			h.ended()
			h.conn.Close()
		})
	}
	w.unharmed("no answers to pings") // the witness answers them as it reads
	ends.Wait()
	w.leaksNothing()
}

// A client that reads nothing while its terminal floods: neither the shell nor anybody else waits for it, and it goes.
func TestClientsThatDoNotReadAreGone(t *testing.T) {
	s := serve(t, func(cfg *Config) { cfg.pingEvery = 500 * time.Millisecond })
	c := s.person(t)
	id, _ := c.create(script("yes 'a line of output, as long as they usually are'"))
	h := c.assault(t, id)
	_ = h.conn.SetReadBuffer(4 << 10)
	h.sends(wire(wireFin|wireText, `{"type":"ping"}`))
	for _, want := range []int{1, 0} {
		if viewers := s.viewersLeft(want); viewers != want {
			t.Fatalf("%d viewers, not %d", viewers, want)
		}
	}
}

// A client that pings, and never takes the answers.
func TestFloodOfPingsIsHarmless(t *testing.T) {
	w := watch(t, nil)
	h := w.c.assault(t, w.id)
	pings := strings.Repeat(wire(wireFin|wirePing, strings.Repeat("p", 125)), 1000)
	for {
		_ = h.conn.SetWriteDeadline(time.Now().Add(patience))
		if _, err := io.WriteString(h.conn, pings); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the server neither reads nor hangs up")
		} else if err != nil {
			break
		}
	}
	h.conn.Close()
	w.unharmed("a flood of pings")
	w.leaksNothing()
}

// What a client sends of a message of any length holds up neither the end of its login nor that of the server.
func TestMessageWithoutAnEndHoldsNothingUp(t *testing.T) {
	for name, end := range map[string]func(s *instance, c *client){
		"logout": func(_ *instance, c *client) {
			if a := c.do("POST", "api/logout", nil); a.status != http.StatusNoContent {
				t.Error(a)
			}
		},
		"shutdown": func(s *instance, _ *client) { s.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for a client that is given time
			s := serve(t, nil)
			c := s.person(t)
			id, _ := c.create(bareBash)
			h := c.assault(t, id)
			h.sends(wireHead(wireFin|wireText, 1<<62))
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				// A little at a time, for ever: never too big, and always something to wait for.
				for {
					if _, err := h.conn.Write(make([]byte, 512)); err != nil {
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
			}()
			end(s, c)
			select {
			case <-ended:
			case <-time.After(patience):
				h.conn.Close()
				t.Fatal("the socket goes on")
			}
		})
	}
}

func TestThousandAttachesAndDetachesLeakNothing(t *testing.T) {
	s := serve(t, nil)
	c := s.person(t)
	id, _ := c.create(bareBash)
	witness := c.attach(id, -1)
	witness.see("$ ")
	cycle := func(i int) {
		conn, status := c.upgrade(url.Values{"session_id": {id}, "ticket": {c.ticket(id)}})
		if conn == nil {
			t.Fatalf("status %d", status)
		}
		l := &lane{t: t, conn: conn}
		l.see("$ ")
		var err error
		if i%2 == 0 {
			err = conn.Close(websocket.StatusNormalClosure, "")
		} else {
			err = conn.CloseNow()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		cycle(i)
	}
	c.http.CloseIdleConnections()
	if viewers := s.viewersLeft(1); viewers != 1 {
		t.Fatalf("%d viewers", viewers)
	}
	before := measureUsage(t)
	for i := range 1000 {
		cycle(i)
	}
	c.http.CloseIdleConnections()
	fallsBackTo(t, before, 1<<20)
	witness.types("echo still-$((40+2))\n")
	witness.see("still-42")
}

func TestWrongHandshakesAreProblems(t *testing.T) {
	c := serve(t, nil).person(t)
	id, _ := c.create(bareBash)
	for name, try := range map[string]struct {
		change map[string]string
		status int
	}{
		"no upgrade":      {map[string]string{"Connection": "", "Upgrade": ""}, http.StatusUpgradeRequired},
		"another upgrade": {map[string]string{"Upgrade": "h2c"}, http.StatusUpgradeRequired},
		"version 8":       {map[string]string{"Sec-WebSocket-Version": "8"}, http.StatusBadRequest},
		"no key":          {map[string]string{"Sec-WebSocket-Key": ""}, http.StatusBadRequest},
		"a short key":     {map[string]string{"Sec-WebSocket-Key": "AAAA"}, http.StatusBadRequest},
	} {
		h := c.handshake(t, url.Values{"session_id": {id}, "ticket": {c.ticket(id)}}, try.change)
		response, err := http.ReadResponse(h.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		isProblem(t, answer{response.StatusCode, response.Header, body}, try.status)
	}
}
