package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/creack/pty"
)

// These benchmarks compare with the barest thing that could do the job, measured in the same run: machines are noisy,
// so only ratios and medians count. One iteration measures everything; `make bench` runs each once.

const (
	pairs     = 9        // of measurements, ours and bare in turn
	bulkBytes = 64 << 20 // of colored text
	ackEvery  = 64 << 10 // bytes, as our page does
)

// coloredText writes size bytes of text as a compiler or git prints it, and returns the file's name.
func coloredText(b *testing.B, size int) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "text")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i, n := 0, 0; n < size; i++ {
		k, err := fmt.Fprintf(w, "\x1b[38;5;%dmword %d\x1b[0m plain text – \x1b[1;32mgreen %d\x1b[m and the rest of the line\n", i%256, i, i)
		if err != nil {
			b.Fatal(err)
		}
		n += k
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return name
}

// bareRead returns how long a bare reader of a pty takes for a command's output.
func bareRead(b *testing.B, command string, args ...string) time.Duration {
	began := time.Now()
	cmd := exec.Command(command, args...)
	f, err := pty.Start(cmd)
	if err != nil {
		b.Error(err)
		return 1
	}
	buf := make([]byte, 64<<10)
	for err == nil { // EIO is the end
		_, err = f.Read(buf)
	}
	took := time.Since(began)
	_ = cmd.Wait()
	_ = f.Close()
	return took
}

// viewer reads a terminal's socket as fast as it is told to and acks what it has read.
type viewer struct {
	conn    *websocket.Conn
	buf     []byte
	offset  int64
	acked   int64
	rate    int64 // bytes a second; 0 for no limit
	began   time.Time
	started int64
}

func (c *client) viewer(b testing.TB, id string, rate int64) *viewer {
	l := c.attach(id, 0) // no replay, so that all binary bytes count
	ready := l.frame("ready")
	l.tells(`{"type":"ack","offset":%d}`, ready.Offset)
	return &viewer{conn: l.conn, buf: make([]byte, 128<<10), offset: l.offset, acked: l.offset, rate: rate, began: time.Now(), started: l.offset}
}

// read takes one message and returns its type and bytes, which are valid until the next call.
func (v *viewer) read() (websocket.MessageType, []byte, error) {
	kind, r, err := v.conn.Reader(context.Background())
	if err != nil {
		return 0, nil, err
	}
	n := 0
	for {
		k, err := r.Read(v.buf[n:])
		n += k
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, nil, err
		}
	}
	if kind == websocket.MessageBinary {
		v.offset += int64(n)
		if v.rate > 0 {
			time.Sleep(time.Until(v.began.Add(time.Duration(float64(v.offset-v.started) / float64(v.rate) * float64(time.Second)))))
		}
		if v.offset-v.acked >= ackEvery {
			return kind, v.buf[:n], v.ack()
		}
	}
	return kind, v.buf[:n], nil
}

func (v *viewer) ack() error {
	v.acked = v.offset
	return v.conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, `{"type":"ack","offset":%d}`, v.offset))
}

// untilExit reads until the exit frame.
func (v *viewer) untilExit() error {
	for {
		kind, p, err := v.read()
		if err != nil || kind == websocket.MessageText && bytes.Contains(p, []byte(`"exit"`)) {
			return err
		}
	}
}

// ourRead returns how long it takes to see all of a command's output over the socket, its creation included.
func (c *client) ourRead(b *testing.B, command string, args ...string) time.Duration {
	began := time.Now()
	id, v := c.watch(b, command, args...)
	took := time.Since(began)
	c.leave(id, v)
	return took
}

// watch runs a command in a terminal and reads its output to the end.
func (c *client) watch(b *testing.B, command string, args ...string) (id string, v *viewer) {
	id, _ = c.create(map[string]any{"command": command, "args": args})
	v = c.viewer(b, id, 0)
	if err := v.untilExit(); err != nil {
		b.Error(err)
	}
	return id, v
}

// leave closes a terminal and its socket.
func (c *client) leave(id string, v *viewer) {
	_ = v.conn.CloseNow()
	c.do("DELETE", "api/terminals/"+id, nil)
}

func median[T int | float64 | time.Duration](of []T) T {
	slices.Sort(of)
	return of[len(of)/2]
}

func megabytes(n int, took time.Duration) float64 { return float64(n) / 1e6 / took.Seconds() }

// reportRatio reports the median of how fast ours was beside the other, pair by pair.
func reportRatio(b *testing.B, bytes int, ours, other []time.Duration, name string) {
	var ratios, mine []float64
	for i := range ours {
		ratios = append(ratios, other[i].Seconds()/ours[i].Seconds())
		mine = append(mine, megabytes(bytes, ours[i]))
	}
	b.ReportMetric(median(ratios), "of-"+name)
	b.ReportMetric(median(mine), "MB/s")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkBulkOutput(b *testing.B) {
	name := coloredText(b, bulkBytes)
	c := serve(b, nil).person(b)
	for b.Loop() {
		var ours, bare []time.Duration
		for range pairs {
			bare = append(bare, bareRead(b, "cat", name))
			ours = append(ours, c.ourRead(b, "cat", name))
		}
		reportRatio(b, bulkBytes, ours, bare, "bare")
	}
}

func BenchmarkBulkOutputBesideASlowViewer(b *testing.B) {
	name := coloredText(b, bulkBytes)
	c := serve(b, nil).person(b)
	for b.Loop() {
		var with, without []time.Duration
		for range pairs {
			without = append(without, c.ourReadBeside(b, 0, name))
			with = append(with, c.ourReadBeside(b, 1e6, name))
		}
		reportRatio(b, bulkBytes, with, without, "alone")
	}
}

// ourReadBeside is ourRead of a file with a second viewer that takes rate bytes a second, or none.
func (c *client) ourReadBeside(b *testing.B, rate int64, name string) time.Duration {
	start := filepath.Join(b.TempDir(), "start")
	id, _ := c.create(script("until [ -e " + start + " ]; do sleep 0.01; done; exec cat " + name))
	v := c.viewer(b, id, 0)
	var slow sync.WaitGroup
	if rate > 0 {
		second := c.viewer(b, id, rate)
		slow.Go(func() {
			for {
				if _, _, err := second.read(); err != nil {
					return
				}
			}
		})
		defer slow.Wait()
		defer second.conn.CloseNow()
	}
	if err := os.WriteFile(start, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := v.untilExit(); err != nil {
		b.Error(err)
	}
	took := time.Since(began)
	c.leave(id, v)
	return took
}

func BenchmarkTenFloods(b *testing.B) {
	const n, each = 10, bulkBytes / 4
	name := coloredText(b, each)
	c := serve(b, nil).person(b)
	together := func(read func()) time.Duration {
		var all sync.WaitGroup
		began := time.Now()
		for range n {
			all.Go(read)
		}
		all.Wait()
		return time.Since(began)
	}
	for b.Loop() {
		var ours, bare []time.Duration
		for range pairs {
			bare = append(bare, together(func() { bareRead(b, "cat", name) }))
			var left sync.WaitGroup
			over := make(chan struct{}) // ending terminals is not what is measured
			ours = append(ours, together(func() {
				id, v := c.watch(b, "cat", name)
				left.Go(func() { <-over; c.leave(id, v) })
			}))
			close(over)
			left.Wait()
		}
		reportRatio(b, n*each, ours, bare, "bare")
	}
}

const keystrokes = 500 // of a round

// percentiles returns the median and the 99th percentile.
func percentiles(took []time.Duration) (p50, p99 time.Duration) {
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

// Here client and server are processes of their own, as they are in life: within one they would share a scheduler.
func BenchmarkKeystrokeEcho(b *testing.B) {
	c, _ := startProgram(b)
	url := startEcho(b)
	for b.Loop() {
		var p50s, p99s, medians []float64
		for range pairs {
			bare50, bare99 := percentiles(barePtyEcho(b))
			socket50, socket99 := percentiles(bareSocketEcho(b, url))
			ours50, ours99 := percentiles(c.echo(b))
			p50s = append(p50s, ours50.Seconds()/(bare50+socket50).Seconds())
			p99s = append(p99s, ours99.Seconds()/(bare99+socket99).Seconds())
			medians = append(medians, float64(ours50.Microseconds()))
		}
		b.ReportMetric(median(p50s), "p50-of-bare")
		b.ReportMetric(median(p99s), "p99-of-bare")
		b.ReportMetric(median(medians), "µs-p50")
		b.ReportMetric(0, "ns/op")
	}
}

// keystrokePause is the time between keystrokes: somebody types, nobody floods.
const keystrokePause = 2 * time.Millisecond

// barePtyEcho times keystrokes through a pty alone: written to the master, echoed by the line discipline, read again.
func barePtyEcho(b *testing.B) (took []time.Duration) {
	cmd := exec.Command("cat")
	f, err := pty.Start(cmd)
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 4096)
	for range keystrokes {
		time.Sleep(keystrokePause)
		began := time.Now()
		if _, err := f.Write([]byte("x")); err != nil {
			b.Fatal(err)
		}
		if _, err := f.Read(buf); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	_ = f.Close()
	return took
}

// bareSocketEcho times keystrokes through a WebSocket alone.
func bareSocketEcho(b *testing.B, url string) (took []time.Duration) {
	conn, _, err := websocket.Dial(context.Background(), url, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.CloseNow()
	for range keystrokes {
		time.Sleep(keystrokePause)
		began := time.Now()
		if err := conn.Write(context.Background(), websocket.MessageBinary, []byte("x")); err != nil {
			b.Fatal(err)
		}
		if _, _, err := conn.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	return took
}

// echo times keystrokes through everything.
func (c *client) echo(b *testing.B) (took []time.Duration) {
	id, _ := c.create(map[string]any{"command": "cat"})
	v := c.viewer(b, id, 0)
	for range keystrokes {
		time.Sleep(keystrokePause)
		began := time.Now()
		if err := v.conn.Write(context.Background(), websocket.MessageBinary, []byte("x")); err != nil {
			b.Fatal(err)
		}
		for {
			kind, _, err := v.read()
			if err != nil {
				b.Fatal(err)
			}
			if kind == websocket.MessageBinary {
				break
			}
		}
		took = append(took, time.Since(began))
		if err := v.ack(); err != nil {
			b.Fatal(err)
		}
	}
	c.leave(id, v)
	return took
}

func BenchmarkCtrlCInAFlood(b *testing.B) {
	for _, rate := range []int64{10e6, 2e6} {
		b.Run(fmt.Sprintf("%dMBps", rate/1e6), func(b *testing.B) {
			c := serve(b, nil).person(b)
			for b.Loop() {
				var took []time.Duration
				for range pairs {
					took = append(took, c.interrupt(b, rate))
				}
				b.ReportMetric(float64(median(took).Microseconds())/1e3, "ms-p50")
				b.ReportMetric(float64(took[len(took)-1].Microseconds())/1e3, "ms-max")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// interrupt returns how long after Ctrl-C the output of `yes` still comes in at a viewer that takes rate bytes a second.
func (c *client) interrupt(b *testing.B, rate int64) time.Duration {
	id, _ := c.create(bareBash)
	v := c.viewer(b, id, 0)
	v.rate = rate
	if err := v.conn.Write(context.Background(), websocket.MessageBinary, []byte("yes\n")); err != nil {
		b.Fatal(err)
	}
	v.began, v.started = time.Now(), v.offset
	for time.Since(v.began) < 700*time.Millisecond {
		if _, _, err := v.read(); err != nil {
			b.Fatal(err)
		}
	}
	began := time.Now()
	if err := v.conn.Write(context.Background(), websocket.MessageBinary, []byte("\x03")); err != nil {
		b.Fatal(err)
	}
	for {
		_, p, err := v.read()
		if err != nil {
			b.Fatal(err)
		}
		if bytes.HasSuffix(p, []byte("$ ")) {
			break
		}
	}
	took := time.Since(began)
	c.leave(id, v)
	return took
}

func BenchmarkCreateToPrompt(b *testing.B) {
	c := serve(b, nil).person(b)
	for b.Loop() {
		var took []time.Duration
		for range 5 * pairs {
			began := time.Now()
			id, _ := c.create(bareBash)
			v := c.viewer(b, id, 0)
			for {
				kind, _, err := v.read()
				if err != nil {
					b.Fatal(err)
				}
				if kind == websocket.MessageBinary {
					break
				}
			}
			took = append(took, time.Since(began))
			c.leave(id, v)
		}
		p50, p99 := percentiles(took)
		b.ReportMetric(float64(p50.Microseconds())/1e3, "ms-p50")
		b.ReportMetric(float64(p99.Microseconds())/1e3, "ms-p99")
		b.ReportMetric(0, "ns/op")
	}
}
