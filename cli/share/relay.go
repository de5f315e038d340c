package share

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// relay connects the person's terminal, the program and the mirror until the program has exited, and returns its code. The
// terminal is then as it was before.
func relay(ctx context.Context, t *tty, p *program, m *mirror, isCommand bool) (code int, err error) {
	defer p.ptmx.Close()
	var waiting sync.WaitGroup
	waiting.Go(func() { defer t.guard(); p.wait() })
	defer waiting.Wait()
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(stops) // after restore: until then a second one must not end the process
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGWINCH, syscall.SIGCONT)
	defer signal.Stop(changes)
	if err := t.raw(); err != nil {
		p.end()
		return 0, err
	}
	defer t.restore() // and after a panic
	over, wake, err := os.Pipe()
	if err != nil {
		p.end()
		return 0, fmt.Errorf("share the terminal: %w", err)
	}
	defer over.Close()

	hangup := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer t.guard()
		if _, err := io.Copy(p.ptmx, keys{int(t.in.Fd()), over}); err == nil {
			close(hangup) // the terminal is gone
		}
	})
	all.Go(func() {
		defer t.guard()
		p.output(func(output []byte) {
			_, _ = t.Write(output) // a terminal that is gone ends the keys
			m.write(output)
		})
	})
	f := follower{t, p, m, isCommand}
	f.follow(ctx, stops, changes, hangup)
	_ = wake.Close()
	_ = p.ptmx.SetWriteDeadline(time.Unix(0, 1)) // nobody reads keys any more
	all.Wait()
	return p.code(), nil
}

// follower passes on what becomes of the person's terminal and of the one on the server.
type follower struct {
	tty       *tty
	program   *program
	mirror    *mirror
	isCommand bool
}

// follow returns when the program has exited.
func (f follower) follow(ctx context.Context, stops, changes <-chan os.Signal, hangup <-chan struct{}) {
	over, detached := ctx.Done(), f.mirror.detached
	var ending sync.WaitGroup
	defer ending.Wait()
	var once sync.Once
	end := func() {
		once.Do(func() { ending.Go(func() { defer f.tty.guard(); f.program.end() }) })
	}
	for {
		select {
		case <-f.program.done:
			return
		case <-stops:
			end()
		case <-over:
			over = nil
			end()
		case <-hangup:
			hangup = nil
			end()
		case <-detached:
			detached = nil
			f.tty.title("not shared any more: closed in Tandem")
			if f.isCommand {
				end()
			}
		case s := <-changes:
			if s == syscall.SIGCONT {
				_ = f.tty.raw() // the shell around this had the terminal meanwhile
			}
			if size, err := f.tty.size(); err == nil {
				f.program.resize(size)
				f.mirror.resize(size)
			}
		}
	}
}
