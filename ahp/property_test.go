package ahp

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"pgregory.net/rapid"

	"tandem/ahp/client"
	"tandem/ahp/wire"
	"tandem/ptymgr"
	"tandem/sharing"
)

// witness is a client that takes everything in the order of the wire, as one that has no buffers would, and holds the
// host to what it promised: numbers rise, nothing comes for channels that it has no state of, and everything is in the
// form of its version.
type witness struct {
	w               *world
	as, id, version string
	conn            *websocket.Conn // nil while it has none
	over            chan struct{}   // closed when conn is read no more
	slow            bool            // it does not read as it comes

	mu        sync.Mutex // guards what follows
	reads     int        // messages that it reads before it stops; negative for no end
	until     int64      // it stops when it has seen this number; 0 for none
	more      *sync.Cond // reads has changed
	mirror    client.Mirror
	subs      map[string]int64 // the channels whose state it has, and since which number
	leaving   map[string]int   // channels that it has left, until the host has heard that
	latest    map[string]int64 // number of the last action on each channel
	last      int64            // number of the last action of this connection
	calls     map[string]*call
	lastID    int64
	clientSeq int64
	failure   error
	recent    []string // the messages that came last, shortened
	seen      tally
}

// call is a request that has no answer yet.
type call struct {
	method   string
	channels []string
	lastSeen int64
	done     chan struct{} // closed after the answer, or the end of the connection
	failed   *wire.Error
	answered bool
	left     bool // the witness unsubscribed before the answer came
}

// tally counts what witnesses have met, for people to see that the story had it all.
type tally struct {
	actions, refused, restarts, replays, replayed, snapshots, missing, unknown int
}

func (t *tally) add(o tally) {
	t.actions += o.actions
	t.refused += o.refused
	t.restarts += o.restarts
	t.replays += o.replays
	t.replayed += o.replayed
	t.snapshots += o.snapshots
	t.missing += o.missing
	t.unknown += o.unknown
}

func newWitness(w *world, as, id, version string) *witness {
	x := &witness{
		w: w, as: as, id: id, version: version, reads: -1, subs: map[string]int64{}, leaving: map[string]int{}, latest: map[string]int64{},
		calls: map[string]*call{},
	}
	x.more = sync.NewCond(&x.mu)
	return x
}

// GoString is the name by which the record of a story tells of the witness.
func (x *witness) GoString() string { return x.id }

// connect opens a socket with little room for what is not read yet.
func (x *witness) connect() error {
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 32<<10) })
	}}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, x.w.url+"?as="+x.as, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}},
	})
	if err != nil {
		return err
	}
	conn.SetReadLimit(32 << 20)
	x.conn, x.over = conn, make(chan struct{})
	x.mu.Lock()
	x.last = 0
	clear(x.leaving)
	x.mu.Unlock()
	go x.read(conn, x.over)
	return nil
}

func (x *witness) read(conn *websocket.Conn, over chan struct{}) {
	defer close(over)
	for {
		x.mu.Lock()
		for x.reads == 0 {
			x.more.Wait()
		}
		if x.reads > 0 {
			x.reads--
		}
		x.mu.Unlock()
		_, p, err := conn.Read(context.Background())
		x.mu.Lock()
		if err == nil && x.failure == nil {
			x.recent = append(x.recent[max(0, len(x.recent)-9):], fmt.Sprintf("%.150s … %s", p, p[max(0, len(p)-60):]))
			if err := x.take(p); err != nil {
				x.failure = fmt.Errorf("%s: %w; what came last:\n%s", x.id, err, strings.Join(x.recent, "\n"))
			}
		}
		if x.until > 0 && (x.mirror.LastSeen >= x.until || err != nil) {
			x.until, x.reads = 0, 0
			x.more.Broadcast()
		}
		if err != nil || x.failure != nil {
			for id, c := range x.calls {
				close(c.done)
				delete(x.calls, id)
			}
		}
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// cut ends the connection without a word.
func (x *witness) cut() {
	if x.conn == nil {
		return
	}
	_ = x.conn.CloseNow()
	x.readOn(-1)
	<-x.over
	x.conn = nil
}

// readOn makes the witness read so many messages, or negative for all that come.
func (x *witness) readOn(messages int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reads = messages
	x.slow = messages >= 0
	x.more.Broadcast()
}

// readUntil makes the witness read until it has seen a number, and no further.
func (x *witness) readUntil(number int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.until = number
	x.reads = -1
	x.more.Broadcast()
	for x.reads < 0 {
		x.more.Wait()
	}
}

func (x *witness) write(p []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return x.conn.Write(ctx, websocket.MessageText, p)
}

// begin sends a request.
func (x *witness) begin(method string, params any, c *call) (*call, error) {
	c.method, c.done = method, make(chan struct{})
	x.mu.Lock()
	x.lastID++
	id := strconv.FormatInt(x.lastID, 10)
	x.calls[id] = c
	failure := x.failure
	x.mu.Unlock()
	if failure != nil {
		return c, failure
	}
	return c, x.write(wire.Request(json.RawMessage(id), method, params))
}

// finish waits for the answer to a request.
func (x *witness) finish(c *call, err error) error {
	if err != nil {
		return err
	}
	select {
	case <-c.done:
	case <-time.After(patience):
		return fmt.Errorf("no answer to %s", c.method)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure == nil && !c.answered {
		return fmt.Errorf("the connection ended before the answer to %s", c.method)
	}
	return x.failure
}

func (x *witness) initialize(channels ...string) error {
	c, err := x.begin("initialize", wire.InitializeParams{
		Channel: RootChannel, ProtocolVersions: []string{x.version}, ClientID: x.id, InitialSubscriptions: channels,
	}, &call{channels: channels})
	if err := x.finish(c, err); err != nil {
		return err
	}
	if c.failed != nil {
		return c.failed
	}
	return nil
}

// reconnect resumes where the last connection was cut.
func (x *witness) reconnect() error {
	if err := x.connect(); err != nil {
		return err
	}
	x.mu.Lock()
	channels := slices.Sorted(maps.Keys(x.subs))
	lastSeen := x.mirror.LastSeen
	x.mu.Unlock()
	params := wire.ReconnectParams{Channel: RootChannel, ClientID: x.id, LastSeenServerSeq: &lastSeen}
	for _, name := range channels {
		params.Subscriptions = append(params.Subscriptions, wire.Subscription{Channel: name})
	}
	c, err := x.begin("reconnect", params, &call{channels: channels, lastSeen: lastSeen})
	if err := x.finish(c, err); err != nil {
		return err
	}
	if c.failed != nil {
		return x.initialize(channels...)
	}
	return nil
}

func (x *witness) subscribe(channel string, latency int64) (*call, error) {
	return x.begin("subscribe", wire.SubscribeParams{Channel: channel, Delivery: &wire.Delivery{MaxLatencyMs: &latency}}, &call{channels: []string{channel}})
}

// unsubscribe leaves a channel. Until a ping has come back, actions on it may still come.
func (x *witness) unsubscribe(channel string) error {
	x.mu.Lock()
	delete(x.subs, channel)
	delete(x.mirror.Terminals, channel)
	x.leaving[channel]++
	for _, c := range x.calls {
		c.left = c.left || slices.Contains(c.channels, channel)
	}
	x.mu.Unlock()
	if err := x.write(wire.Request(nil, "unsubscribe", wire.ChannelParams{Channel: channel})); err != nil {
		return err
	}
	_, err := x.begin("ping", wire.ChannelParams{Channel: RootChannel}, &call{channels: []string{channel}})
	return err
}

func (x *witness) dispatch(channel string, a wire.Action) error {
	x.clientSeq++
	return x.write(wire.Request(nil, "dispatchAction", wire.DispatchActionParams{
		Channel: channel, ClientSeq: x.clientSeq, Action: wire.AppendAction(nil, a),
	}))
}

// take takes one message. mu is held.
func (x *witness) take(p []byte) error {
	m, malformed := wire.Parse(p)
	switch {
	case malformed != nil:
		return malformed
	case m.Method == "action":
		return x.takeAction(m.Params)
	case m.Method != "":
		return fmt.Errorf("an unknown %s came", m.Method)
	}
	c := x.calls[string(m.ID)]
	if c == nil {
		return fmt.Errorf("an answer to nothing: %.100s", p)
	}
	delete(x.calls, string(m.ID))
	defer close(c.done)
	c.failed, c.answered = m.Error, true
	switch c.method {
	case "initialize", "subscribe":
		return x.takeSnapshots(c, m.Result)
	case "reconnect":
		return x.takeReconnect(c, m.Result)
	case "ping":
		for _, name := range c.channels {
			x.leaving[name]--
		}
	}
	return nil
}

// takeAction takes an action that comes by itself.
func (x *witness) takeAction(params json.RawMessage) error {
	var e wire.Envelope
	if err := json.Unmarshal(params, &e); err != nil {
		return err
	}
	if e.ServerSeq <= x.last {
		return fmt.Errorf("number %d came after %d", e.ServerSeq, x.last)
	}
	x.last = e.ServerSeq
	_, typed := e.Action.(wire.TerminalInput)
	if (typed || e.RejectionReason != "") && (e.Origin == nil || e.Origin.ClientID != x.id) {
		return fmt.Errorf("this is somebody else's: %.200s", params)
	}
	if e.RejectionReason != "" {
		x.seen.refused++
		x.mirror.Apply(e)
		return nil
	}
	since, subscribed := x.subs[e.Channel]
	switch {
	case !subscribed && x.leaving[e.Channel] > 0:
		x.mirror.LastSeen = max(x.mirror.LastSeen, e.ServerSeq)
		return nil
	case !subscribed:
		return fmt.Errorf("number %d came on %s, whose state was not told", e.ServerSeq, e.Channel)
	case e.ServerSeq <= since:
		return fmt.Errorf("number %d came on %s after a snapshot at %d", e.ServerSeq, e.Channel, since)
	}
	return x.apply(e, params)
}

// apply takes an action into the mirror.
func (x *witness) apply(e wire.Envelope, raw json.RawMessage) error {
	if _, output := e.Action.(wire.TerminalData); !output {
		if err := x.checkForm(raw); err != nil {
			return err
		}
	}
	if _, cleared := e.Action.(wire.TerminalCleared); cleared && e.Origin == nil {
		x.seen.restarts++
	}
	x.seen.actions++
	x.latest[e.Channel] = e.ServerSeq
	x.mirror.Apply(e)
	return nil
}

// takeSnapshots takes the answer to initialize or subscribe.
func (x *witness) takeSnapshots(c *call, result json.RawMessage) error {
	switch {
	case c.failed == nil:
	case c.failed.Code == wire.PermissionDenied: // programs are paused
		return nil
	case c.failed.Code == wire.NotFound && c.method == "subscribe":
		x.forget(c.channels...)
		return nil
	default:
		return c.failed
	}
	var r struct {
		Snapshot  *wire.Snapshot
		Snapshots []wire.Snapshot
	}
	if err := json.Unmarshal(result, &r); err != nil || c.left {
		return err
	}
	if r.Snapshot != nil {
		r.Snapshots = append(r.Snapshots, *r.Snapshot)
	}
	return x.restate(c, r.Snapshots)
}

// restate takes snapshots, of all of the channels that are there.
func (x *witness) restate(c *call, snapshots []wire.Snapshot) error {
	x.forget(c.channels...)
	for _, s := range snapshots {
		if !slices.Contains(c.channels, s.Resource) {
			return fmt.Errorf("a snapshot of %s in answer to %s of %v", s.Resource, c.method, c.channels)
		}
		if s.FromSeq < x.latest[s.Resource] {
			return fmt.Errorf("a snapshot of %s at %d after number %d", s.Resource, s.FromSeq, x.latest[s.Resource])
		}
		if err := x.checkForm(s.State); err != nil {
			return err
		}
		x.subs[s.Resource] = s.FromSeq
		if err := x.mirror.Take(s); err != nil {
			return err
		}
	}
	return nil
}

func (x *witness) forget(channels ...string) {
	for _, name := range channels {
		delete(x.subs, name)
		delete(x.mirror.Terminals, name)
	}
}

func (x *witness) takeReconnect(c *call, result json.RawMessage) error {
	if c.failed != nil {
		if c.failed.Code != wire.NotFound && c.failed.Code != wire.PermissionDenied {
			return c.failed
		}
		x.seen.unknown++
		return nil
	}
	var r struct {
		Type      string
		Actions   []json.RawMessage
		Missing   []string
		Snapshots []wire.Snapshot
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	if r.Type == "snapshot" {
		x.seen.snapshots++
		return x.restate(c, r.Snapshots)
	}
	x.seen.replays++
	x.seen.missing += len(r.Missing)
	x.forget(r.Missing...)
	seq := c.lastSeen
	for _, raw := range r.Actions {
		var e wire.Envelope
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		_, subscribed := x.subs[e.Channel]
		_, typed := e.Action.(wire.TerminalInput)
		if e.ServerSeq <= seq || !subscribed || typed || e.RejectionReason != "" {
			return fmt.Errorf("in a replay after %d, behind number %d: %.200s", c.lastSeen, seq, raw)
		}
		seq = e.ServerSeq
		x.seen.replayed++
		if err := x.apply(e, raw); err != nil {
			return err
		}
	}
	x.last = max(x.last, seq)
	return nil
}

// checkForm reports what in a message is not as the witness's version has it.
func (x *witness) checkForm(raw json.RawMessage) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return checkForm(v, x.version != "0.6.0", raw)
}

func checkForm(v any, recent bool, raw []byte) error {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := checkForm(item, recent, raw); err != nil {
				return err
			}
		}
	case map[string]any:
		_, lives := v["lifecycle"]
		_, exited := v["exitCode"]
		_, titled := v["title"]
		_, claimed := v["claim"]
		_, chats := v["chat"]
		_, session := v["session"]
		switch {
		case titled && claimed && lives != recent, titled && claimed && recent && exited:
			return fmt.Errorf("how a terminal lives is not in the form of the version: %.300s", raw)
		case v["kind"] == wire.ClaimSession && session && chats != recent:
			return fmt.Errorf("a session's claim is not in the form of the version: %.300s", raw)
		}
		for _, item := range v {
			if err := checkForm(item, recent, raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// story is random doings of several witnesses at several terminals.
type story struct {
	*rapid.T
	w         *world
	witnesses []*witness
	channels  []string // of terminals that may be there
}

// generation makes the names of each story's terminals its own.
var generation int

func (s *story) must(err error) {
	if err != nil {
		s.Helper()
		s.Fatalf("%v", err)
	}
}

func newStory(t *rapid.T, w *world) *story {
	generation++
	s := &story{T: t, w: w}
	for _, as := range [][3]string{
		{"person", "desk", "1.0.0"}, {"person", "phone", "0.6.0"}, {"claude", "c1", "0.6.0"}, {"claude", "c2", "1.0.0"}, {"other", "o1", "1.0.0"},
	} {
		x := newWitness(w, as[0], as[1], as[2])
		s.witnesses = append(s.witnesses, x)
		s.must(x.connect())
		channels := []string{RootChannel}
		if x.as == "person" {
			channels = append(channels, SharingChannel)
		}
		s.must(x.initialize(channels...))
	}
	s.create(s.witnesses[0])
	s.create(s.witnesses[2])
	return s
}

// end leaves nothing of the story behind.
func (s *story) end(all *tally) {
	for _, x := range s.witnesses {
		x.cut()
		all.add(x.seen)
	}
	desk, err := s.w.sharing.Join(identities["person"], "end")
	if err != nil {
		s.Fatalf("%v", err)
	}
	defer desk.Leave()
	by := sharing.By{Client: desk}
	s.must(s.w.sharing.SetPaused(by, false))
	left, err := s.w.sharing.List(desk)
	s.must(err)
	for _, t := range left {
		s.must(s.w.sharing.Dispose(context.Background(), by, t.ID()))
	}
}

// create makes a terminal and has its maker subscribe to it.
func (s *story) create(x *witness) {
	uri := fmt.Sprintf("%s:/story%d-%d", wire.TerminalScheme, generation, len(s.channels))
	c, err := x.begin("createTerminal", wire.CreateTerminalParams{Channel: uri, Claim: wire.Claim{Kind: wire.ClaimClient, ClientID: x.id}}, &call{})
	s.must(err)
	s.channels = append(s.channels, uri)
	_, err = x.subscribe(uri, 0)
	s.must(err)
	if !x.slow {
		s.must(x.finish(c, nil))
	}
}

// keys are what is typed at shells.
var keys = rapid.OneOf(
	rapid.Map(rapid.IntRange(1, 2000), func(n int) string { return fmt.Sprintf("seq -s' – ' %d\r", n) }),
	rapid.Map(rapid.IntRange(1, 500_000), func(n int) string { return fmt.Sprintf("seq %d 500000\r", 500_000-n) }), // up to 4 MB
	rapid.Map(rapid.IntRange(1, 99), func(n int) string { return fmt.Sprintf(`printf '\033]0;title %d\a'`+"\r", n) }),
	rapid.SampledFrom([]string{
		`printf 'caf\303\251 \377 \033[6n\033]633;A\a日本 \342\202\n'` + "\r",
		`printf '\033]633;E;make;x\a\033]633;C\a'; seq 3; printf '\033]633;D;1\a'` + "\r", `printf '\033]133;C\a'` + "\r", `printf '\033]633;D\a'` + "\r",
		"cd /\r", "cd /tmp\r", `printf '\033]7;file:///usr\a'` + "\r", "\x03", "\r",
	}),
)

// step is one random thing that happens.
func (s *story) step() {
	x := rapid.SampledFrom(s.witnesses).Draw(s.T, "witness")
	kind := rapid.SampledFrom([]string{
		"type", "type", "type", "type", "subscribe", "subscribe", "subscribe", "unsubscribe", "cut", "reconnect", "slow", "slow", "fast",
		"resize", "claim", "claim", "rename", "clear", "mode", "pause", "create", "dispose", "exit",
	}).Draw(s.T, "what")
	if x.conn == nil {
		if kind == "reconnect" || kind == "subscribe" || kind == "type" {
			s.must(x.reconnect())
		}
		return
	}
	uri := rapid.SampledFrom(s.channels).Draw(s.T, "terminal")
	switch kind {
	case "type":
		s.must(x.dispatch(uri, wire.TerminalInput{Data: keys.Draw(s.T, "keys")}))
	case "subscribe":
		if rapid.IntRange(0, 9).Draw(s.T, "root") == 0 {
			uri = RootChannel
		}
		_, err := x.subscribe(uri, rapid.Int64Range(0, 60).Draw(s.T, "latency"))
		s.must(err)
	case "unsubscribe":
		s.must(x.unsubscribe(uri))
	case "cut":
		x.cut()
	case "slow":
		x.readOn(rapid.IntRange(0, 30).Draw(s.T, "messages"))
	case "fast":
		x.readOn(-1)
	case "resize":
		s.must(x.dispatch(uri, wire.TerminalResized{Cols: rapid.IntRange(10, 200).Draw(s.T, "cols"), Rows: rapid.IntRange(5, 60).Draw(s.T, "rows")}))
	case "claim":
		s.must(x.dispatch(uri, wire.TerminalClaimed{Claim: rapid.SampledFrom([]wire.Claim{
			{Kind: wire.ClaimClient, ClientID: x.id}, {Kind: wire.ClaimClient, ClientID: x.id}, {Kind: wire.ClaimClient, ClientID: "desk"},
			{Kind: wire.ClaimClient, ClientID: "c1"}, {Kind: wire.ClaimSession, Session: "ahp-session:/s1"},
			{Kind: wire.ClaimSession, Session: "ahp-session:/s1", Chat: "ahp-chat:/s1/main", TurnID: "t", ToolCallID: "k"},
		}).Draw(s.T, "claim")}))
	case "rename":
		s.must(x.dispatch(uri, wire.TerminalTitleChanged{Title: rapid.SampledFrom([]string{"", "build", "é日本"}).Draw(s.T, "title")}))
	case "clear":
		s.must(x.dispatch(uri, wire.TerminalCleared{}))
	case "mode":
		s.must(x.dispatch(SharingChannel, wire.SharingModeSet{Resource: uri, Mode: rapid.SampledFrom([]string{"watch", "ask", "share"}).Draw(s.T, "mode")}))
	case "pause":
		s.must(x.dispatch(SharingChannel, wire.SharingPausedSet{Paused: rapid.Bool().Draw(s.T, "paused")}))
	case "create":
		if len(s.channels) < 4 {
			s.create(x)
		}
	case "dispose":
		if rapid.IntRange(0, 2).Draw(s.T, "really") == 0 {
			_, err := x.begin("disposeTerminal", wire.ChannelParams{Channel: uri}, &call{})
			s.must(err)
		}
	case "exit":
		if rapid.IntRange(0, 2).Draw(s.T, "really") == 0 {
			s.must(x.dispatch(uri, wire.TerminalInput{Data: "exit 3\r"}))
		}
	}
}

// settle brings all witnesses back and holds what each has made of the actions against what newcomers are told.
func (s *story) settle() {
	for _, x := range s.witnesses {
		x.readOn(-1)
		if x.conn == nil {
			s.must(x.reconnect())
		}
		s.ping(x)
	}
	desk := s.witnesses[0]
	s.must(desk.dispatch(SharingChannel, wire.SharingPausedSet{Paused: false}))
	s.ping(desk)
	late := time.Now().Add(2 * patience)
	for {
		err := s.compare()
		if err == nil {
			return
		}
		if !errors.Is(err, errMoving) || time.Now().After(late) {
			s.Fatalf("%v", err)
		}
		time.Sleep(10 * time.Millisecond) // output still comes
	}
}

func (s *story) ping(x *witness) {
	s.Helper()
	s.must(x.finish(x.begin("ping", wire.ChannelParams{Channel: RootChannel}, &call{})))
}

// errMoving reports that something has happened after the snapshot that states were compared with.
var errMoving = errors.New("the terminals have not come to rest")

// compare holds the states of all witnesses against snapshots that are made now.
func (s *story) compare() error {
	fresh := map[[2]string]*witness{}
	defer func() {
		for _, x := range fresh {
			x.cut()
		}
	}()
	for _, x := range s.witnesses {
		key := [2]string{x.as, x.version}
		now := fresh[key]
		if now == nil {
			now = newWitness(s.w, x.as, "fresh-"+x.as+x.version, x.version)
			fresh[key] = now
			s.must(now.connect())
			s.must(now.initialize(append([]string{RootChannel, SharingChannel}, s.channels...)...))
		}
		s.ping(x)
		x.mu.Lock()
		now.mu.Lock()
		err := x.sameAs(now)
		now.mu.Unlock()
		x.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// sameAs compares the witness's states with those of one that has just come. mu of both is held.
func (x *witness) sameAs(now *witness) error {
	for _, name := range slices.Sorted(maps.Keys(x.subs)) {
		since, there := now.subs[name]
		switch {
		case !there && (name == RootChannel || name == SharingChannel):
			return fmt.Errorf("%s has no state of %s", now.id, name)
		case !there:
			continue // disposed of
		case x.latest[name] > since || now.latest[name] > since:
			return errMoving
		}
		var err error
		switch name {
		case RootChannel:
			err = equal(x.mirror.Root, now.mirror.Root)
		case SharingChannel:
			err = equal(x.mirror.Sharing, now.mirror.Sharing)
		default:
			err = x.sameTerminal(name, now)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", x.id, name, err)
		}
	}
	return nil
}

func (x *witness) sameTerminal(name string, now *witness) error {
	reduced, snapshot := *x.mirror.Terminals[name], *now.mirror.Terminals[name]
	got, want := x.mirror.Text(name), now.mirror.Text(name)
	if got == want {
		return equal(reduced, snapshot)
	}
	reduced.Content, snapshot.Content = nil, nil
	if err := equal(reduced, snapshot); err != nil {
		return err
	}
	// Nobody trims but the host: a snapshot, and what a subscriber that was overtaken is told, are the newest output.
	for _, text := range []string{got, want} {
		if err := x.w.isNewest(name, text, now.subs[name]); err != nil {
			return err
		}
	}
	trimmed := len(want) < len(got) && len(want) > contentBytes/2
	restarted := len(got) < len(want) && len(got) > restartBytes/2 && x.seen.restarts > 0
	if !trimmed && !restarted {
		return fmt.Errorf("reduced to %d bytes of text, the snapshot has %d", len(got), len(want))
	}
	return nil
}

// isNewest reports where text is not the newest that is in a terminal's log as of a number.
func (w *world) isNewest(name, text string, seq int64) error {
	w.host.mu.Lock()
	defer w.host.mu.Unlock()
	channel := w.host.channels[name]
	if later, _ := channel.after(seq); len(later) > 0 {
		return errMoving
	}
	tail, _ := channel.terminal.pty.Bounds()
	kept, err := channel.terminal.pty.Text(nil, tail, channel.terminal.cut)
	if err != nil {
		return err
	}
	n := min(len(text), len(kept))
	newest, last := string(kept[len(kept)-n:]), text[len(text)-n:]
	if newest == last {
		return nil
	}
	at := n
	for newest[at-1] == last[at-1] {
		at--
	}
	return fmt.Errorf("%d bytes before its end the text is %.80q, not %.80q", n-at, last[max(at-40, 0):], newest[max(at-40, 0):])
}

// equal compares states by their JSON.
func equal(got, want any) error {
	a, err := json.Marshal(got)
	if err != nil {
		return err
	}
	b, err := json.Marshal(want)
	if err != nil {
		return err
	}
	if string(a) != string(b) {
		return fmt.Errorf("reduced to %s, the snapshot is %s", a, b)
	}
	return nil
}

// checksOf sets how many cases a property is tried with, unless the caller of the tests says.
func checksOf(t *testing.T, n int) {
	t.Helper()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "rapid.checks" })
	if said {
		return
	}
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	if err := checks.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Value.Set(before) })
}

// Whatever happens, and whenever a client comes, goes, or is slow: the snapshot it was given and the actions that came
// are what a later snapshot says.
func TestSnapshotAndActionsMakeALaterSnapshot(t *testing.T) {
	checksOf(t, 25)
	w := newWorld(t, func(cfg *sharing.Config) { cfg.Terminals.LogBytes = ptymgr.MinLogBytes })
	var all tally
	rapid.Check(t, func(rt *rapid.T) {
		s := newStory(rt, w)
		defer s.end(&all)
		for range rapid.IntRange(5, 100).Draw(rt, "steps") {
			s.step()
		}
		s.settle()
	})
	t.Logf("%+v, overtaken %d times", all, w.host.Stats().Resyncs)
}

// A program that is told of a number while it is paused has not been told what came before, so its connection is not
// resumed from there.
func TestReconnectAfterAPauseMissesNothing(t *testing.T) {
	const uri = wire.TerminalScheme + ":/a"
	w := newWorld(t, nil)
	desk := w.join("person", "desk", RootChannel, SharingChannel)
	desk.create(uri, "desk")
	desk.subscribe(uri)
	for _, tells := range []func(p *peer){
		func(p *peer) { p.input(uri, "refused") },
		func(p *peer) {
			if _, err := p.Subscribe(p.within(), uri, -1); err == nil {
				t.Error("subscribed while paused")
			}
		},
	} {
		p := w.join("claude", "c1", RootChannel, uri)
		desk.dispatch(SharingChannel, wire.SharingPausedSet{Paused: true})
		desk.dispatch(uri, wire.TerminalTitleChanged{Title: "missed"})
		desk.sync()
		tells(p)
		p.sync()
		p.Close()
		desk.dispatch(SharingChannel, wire.SharingPausedSet{Paused: false})
		desk.sync()
		back := w.dial("claude", "c1")
		back.Mirror = p.Mirror
		r, err := back.Reconnect(back.within(), p.LastSeen, RootChannel, uri)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Snapshots {
			back.take(s)
		}
		for _, e := range r.Actions {
			back.Apply(e)
		}
		if title := back.Terminals[uri].Title; title != "missed" {
			t.Errorf("the title is %q", title)
		}
		if title := back.Root.Terminals[0].Title; title != "missed" {
			t.Errorf("the title in the list is %q", title)
		}
		back.Close()
		desk.dispatch(uri, wire.TerminalTitleChanged{Title: ""})
		desk.sync()
	}
}

// Of a channel that is subscribed again nothing is sent before the new snapshot, while other channels go on. Who is cut
// off between them has seen numbers that do not cover that channel.
func TestReconnectBeforeASecondSnapshotMissesNothing(t *testing.T) {
	const busy, quiet = wire.TerminalScheme + ":/busy", wire.TerminalScheme + ":/quiet"
	w := newWorld(t, nil)
	desk := w.join("person", "desk", RootChannel)
	desk.create(busy, "desk")
	desk.create(quiet, "desk")
	desk.subscribe(busy)
	x := newWitness(w, "person", "slow", "1.0.0")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(x.cut)
	must(x.connect())
	must(x.initialize(busy, quiet))
	prints := func(lines int) {
		desk.input(busy, fmt.Sprintf("seq %d; echo end''%d\r", lines, lines))
		desk.untilText(busy, fmt.Sprint("end", lines))
	}
	x.readOn(0)
	prints(100_000) // more than sockets take
	desk.dispatch(quiet, wire.TerminalTitleChanged{Title: "missed"})
	desk.sync()
	w.host.mu.Lock()
	renamed := w.host.seq
	w.host.mu.Unlock()
	prints(2000) // less than would make a replay too long
	_, err := x.subscribe(quiet, 20)
	must(err)
	prints(2001)
	x.readUntil(renamed + 1)
	x.cut()
	must(x.reconnect())
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.seen.replays+x.seen.snapshots != 1 {
		t.Error("the connection was not resumed")
	}
	if title := x.mirror.Terminals[quiet].Title; title != "missed" {
		t.Errorf("the title is %q", title)
	}
}
