package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// subscriber reads a terminal's channel as fast as it is told to.
type subscriber struct {
	conn  *websocket.Conn
	buf   []byte
	text  []byte
	rate  int64 // bytes of messages a second; 0 for no limit
	began time.Time
	taken int64 // bytes of messages
	got   int64 // bytes of output
}

// subscribes connects an AHP client and subscribes it to a terminal. Its answers come among what read returns.
func (c *client) subscribes(b testing.TB, clientID, id string, rate int64) *subscriber {
	b.Helper()
	header := http.Header{"Origin": {c.origin}}
	conn, _, err := websocket.Dial(context.Background(), c.server.url+"ahp", &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if err != nil {
		b.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	err = conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":%q,`+
			`"initialSubscriptions":["ahp-terminal:/%s"]}}`, clientID, id))
	if err != nil {
		b.Fatal(err)
	}
	s := &subscriber{conn: conn, buf: make([]byte, 512<<10)}
	if p, err := s.read(); err != nil || !bytes.Contains(p, []byte(`"content"`)) {
		b.Fatalf("no snapshot: %.200s, %v", p, err)
	}
	s.rate, s.began, s.taken = rate, time.Now(), 0
	return s
}

// read takes one message, which is valid until the next call.
func (s *subscriber) read() ([]byte, error) {
	_, r, err := s.conn.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	n := 0
	for err == nil { // io.EOF is the end
		var k int
		k, err = r.Read(s.buf[n:])
		n += k
	}
	s.taken += int64(n)
	if s.rate > 0 {
		time.Sleep(time.Until(s.began.Add(time.Duration(float64(s.taken) / float64(s.rate) * float64(time.Second)))))
	}
	return s.buf[:n], nil
}

// untilExit reads output until the terminal exits.
func (s *subscriber) untilExit() error {
	for {
		p, err := s.read()
		if err != nil {
			return err
		}
		if _, data, ok := bytes.Cut(p, []byte(`"terminal/data","data":"`)); ok {
			s.text = unquoted(s.text[:0], data)
			s.got += int64(len(s.text))
		} else if bytes.Contains(p, []byte(`"terminal/exited"`)) {
			return nil
		}
	}
}

// unquoted appends what a JSON string says, of which p is what follows the first quotation mark.
func unquoted(dst, p []byte) []byte {
	for {
		n := bytes.IndexAny(p, `\"`)
		if n < 0 || p[n] == '"' {
			return append(dst, p[:max(n, 0)]...)
		}
		dst = append(dst, p[:n]...)
		switch p[n+1] {
		case 'u':
			dst = append(dst, p[n+5]) // control characters
			p = p[n+6:]
			continue
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		default:
			dst = append(dst, p[n+1])
		}
		p = p[n+2:]
	}
}

// held returns a command that prints a file once the second result was called.
func held(b *testing.B, name string) (spec map[string]any, start func()) {
	at := filepath.Join(b.TempDir(), "start")
	return script("until [ -e " + at + " ]; do sleep 0.01; done; exec cat " + name), func() {
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// ahpRead returns how long it takes until an AHP client has been sent a file's output to its end, and how much of it that
// was: nothing paces the terminal. beside is the rate of a second one, or 0 for none.
func (c *client) ahpRead(b *testing.B, name string, beside int64) (time.Duration, int64) {
	spec, start := held(b, name)
	id, _ := c.create(spec)
	s := c.subscribes(b, "fast", id, 0)
	stop := c.besideAHP(b, id, beside)
	start()
	began := time.Now()
	if err := s.untilExit(); err != nil {
		b.Error(err)
	}
	took := time.Since(began)
	stop()
	_ = s.conn.CloseNow()
	c.do("DELETE", "api/terminals/"+id, nil)
	return took, s.got
}

// besideAHP lets an AHP client read along at a rate until stop is called.
func (c *client) besideAHP(b *testing.B, id string, rate int64) (stop func()) {
	if rate == 0 {
		return func() {}
	}
	s := c.subscribes(b, "slow", id, rate)
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			if _, err := s.read(); err != nil {
				return
			}
		}
	})
	return func() {
		_ = s.conn.CloseNow()
		reading.Wait()
	}
}

// laneReadBesideAHP is how long a viewer takes to read a file's output beside an AHP client that takes rate bytes a
// second, or none.
func (c *client) laneReadBesideAHP(b *testing.B, name string, rate int64) time.Duration {
	spec, start := held(b, name)
	id, _ := c.create(spec)
	v := c.viewer(b, id, 0)
	stop := c.besideAHP(b, id, rate)
	start()
	began := time.Now()
	if err := v.untilExit(); err != nil {
		b.Error(err)
	}
	took := time.Since(began)
	stop()
	c.leave(id, v)
	return took
}

// How fast a program is sent output that nobody paces, beside a bare reader.
func BenchmarkAHPOutput(b *testing.B) {
	name := coloredText(b, bulkBytes)
	c := serve(b, nil).person(b)
	for b.Loop() {
		var ratios, rates, whole []float64
		for range pairs {
			bare := bareRead(b, "cat", name)
			took, got := c.ahpRead(b, name, 0)
			rates = append(rates, megabytes(int(got), took))
			ratios = append(ratios, megabytes(int(got), took)/megabytes(bulkBytes, bare))
			whole = append(whole, float64(got)/bulkBytes)
		}
		b.ReportMetric(median(ratios), "of-bare")
		b.ReportMetric(median(rates), "MB/s")
		b.ReportMetric(median(whole), "of-output")
		b.ReportMetric(0, "ns/op")
	}
}

// What a subscriber that takes so many bytes a second costs the browser.
func BenchmarkBulkOutputBesideAHP(b *testing.B) {
	name := coloredText(b, bulkBytes)
	for _, rate := range []int64{5e6, 1e6} {
		b.Run(fmt.Sprintf("%dMBps", rate/1e6), func(b *testing.B) {
			c := serve(b, nil).person(b)
			for b.Loop() {
				var with, without []time.Duration
				for range pairs {
					without = append(without, c.laneReadBesideAHP(b, name, 0))
					with = append(with, c.laneReadBesideAHP(b, name, rate))
				}
				reportRatio(b, bulkBytes, with, without, "alone")
			}
		})
	}
}

// What a slow subscriber costs a fast one.
func BenchmarkAHPOutputBesideASlowSubscriber(b *testing.B) {
	name := coloredText(b, bulkBytes)
	c := serve(b, nil).person(b)
	for b.Loop() {
		var ratios []float64
		for range pairs {
			alone, all := c.ahpRead(b, name, 0)
			took, got := c.ahpRead(b, name, 1e6)
			ratios = append(ratios, megabytes(int(got), took)/megabytes(int(all), alone))
		}
		b.ReportMetric(median(ratios), "of-alone")
		b.ReportMetric(0, "ns/op")
	}
}

// What each of many slow subscribers to a flooding terminal costs the real program, in KiB of heap and stacks: all buffers
// of sockets that are not the kernel's are among them.
func BenchmarkMemoryOfSlowSubscribers(b *testing.B) {
	const subscribers = 200
	for b.Loop() {
		c, pid := startProgram(b)
		id, _ := c.create(script("exec yes 'a line of output, as long as they usually are'"))
		var reading sync.WaitGroup
		var all []*subscriber
		join := func(n int) {
			for range n {
				s := c.subscribes(b, fmt.Sprint("slow", len(all)), id, 20e3)
				all = append(all, s)
				reading.Go(func() {
					for {
						if _, err := s.read(); err != nil {
							return
						}
					}
				})
			}
			time.Sleep(5 * time.Second) // until what a snapshot takes is given back, and all sockets are full
		}
		join(1)
		before, least := c.inUse(b), resident(b, pid)
		join(subscribers)
		b.ReportMetric((c.inUse(b)-before)/subscribers, "KiB-each")
		b.ReportMetric((resident(b, pid)-least)*1024/subscribers, "KiB-each-resident")
		b.ReportMetric(0, "ns/op")
		for _, s := range all {
			_ = s.conn.CloseNow()
		}
		reading.Wait()
		c.do("DELETE", "api/terminals/"+id, nil)
	}
}

// inUse returns the heap and stacks of the program in KiB, as its metrics have them: the median of some looks.
func (c *client) inUse(b *testing.B) float64 {
	var looks []float64
	for range pairs {
		sum, found := 0.0, 0
		for line := range strings.Lines(string(c.do("GET", "metrics", nil).body)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			if name == "go_memstats_heap_inuse_bytes" || name == "go_memstats_stack_inuse_bytes" {
				n, err := strconv.ParseFloat(value, 64)
				if err != nil {
					b.Fatal(err)
				}
				sum, found = sum+n/1024, found+1
			}
		}
		if found != 2 {
			b.Fatal("the metrics tell nothing of memory")
		}
		looks = append(looks, sum)
		time.Sleep(200 * time.Millisecond)
	}
	return median(looks)
}
