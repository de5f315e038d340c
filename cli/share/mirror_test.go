package share

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tandem/ptymgr"
	"tandem/sharing"
)

func TestMirror(t *testing.T) {
	for _, who := range []string{"person", "claude"} {
		t.Run(who, func(t *testing.T) {
			w := newWorld(t, who, 0)
			m := w.mirror()
			shared := w.terminal()
			if !shared.Remote() {
				t.Fatal("the terminal runs at the host")
			}
			m.write([]byte("$ l"))
			m.write([]byte("s\r\n\xe6\xbc"))
			m.resize(Size{100, 30})
			m.write([]byte("\xa2\r\n"))
			eventually(t, "the output is there", func() bool { return text(t, shared) == "$ ls\r\n漢\r\n" })
			eventually(t, "the size is there", func() bool { return shared.Pty().Info().Size == ptymgr.Size{Cols: 100, Rows: 30} })
			m.write([]byte("\xff\xf0\x9f"))
			m.finish(t.Context(), 7, patience)
			if got := text(t, shared); got != "$ ls\r\n漢\r\n\uFFFD\uFFFD\uFFFD" {
				t.Errorf("got %q", got)
			}
			if info := shared.Pty().Info(); info.Exit == nil || info.Exit.Code != 7 {
				t.Errorf("exit %v", info.Exit)
			}
			if notes := m.summary(); notes != nil {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// lines are what tests write: every one differs.
type lines struct{ n int }

func (l *lines) write(m *mirror, n int) (written string) {
	for range n {
		line := fmt.Sprintf("%06d %s\r\n", l.n, strings.Repeat("x", l.n%500))
		l.n++
		written += line
		m.write([]byte(line))
	}
	return written
}

// The network goes away in the middle of output, in each of the ways in which networks do, and comes back.
func TestMirrorSurvivesTheNetwork(t *testing.T) {
	for _, who := range []string{"person", "claude"} {
		for name, outage := range map[string]func(*world, *mirror){
			"connections are cut": func(w *world, _ *mirror) { w.net.Cut() },
			"a short silence":     func(w *world, _ *mirror) { w.net.Freeze(true); time.Sleep(50 * time.Millisecond) },
			"a long silence, and what was held up comes after all": func(w *world, m *mirror) {
				w.net.Freeze(true)
				time.Sleep(3 * m.times.pingWithin)
			},
			"a long silence, and what was held up is lost": func(w *world, m *mirror) {
				w.net.Freeze(true)
				time.Sleep(3 * m.times.pingWithin)
				w.net.Cut()
			},
		} {
			t.Run(who+": "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, who, 0)
				m := w.mirror()
				shared := w.terminal()
				var l lines
				var want strings.Builder
				for range 3 {
					want.WriteString(l.write(m, 300))
					outage(w, m)
					want.WriteString(l.write(m, 300))
					w.net.Freeze(false)
					want.WriteString(l.write(m, 300))
					confirmed(t, m)
				}
				same(t, text(t, shared), want.String())
				w.terminal() // it is still the only one
			})
		}
	}
}

// same compares long texts.
func same(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("%d bytes, want %d; from %d on %.60q, want %.60q", len(got), len(want), at, got[at:], want[at:])
}

// A host that was started again knows nothing. It is given what there is.
func TestMirrorSurvivesTheHost(t *testing.T) {
	w := newWorld(t, "person", 0)
	m := w.mirror()
	var l lines
	want := l.write(m, 500)
	confirmed(t, m)
	w.stop()
	want += l.write(m, 500)
	m.resize(Size{101, 31})
	w.start(0)
	want += l.write(m, 500)
	confirmed(t, m)
	shared := w.terminal()
	got := withoutPreamble(text(t, shared))
	same(t, got, want[max(len(want)-len(got), 0):])
	if len(got) < maxRestart-1000 { // it begins with a line
		t.Errorf("the new host has %d bytes of %d", len(got), len(want))
	}
	if size := shared.Pty().Info().Size; size != (ptymgr.Size{Cols: 101, Rows: 31}) {
		t.Errorf("size %v", size)
	}
	m.finish(t.Context(), 0, patience)
	if info := shared.Pty().Info(); info.Exit == nil || info.Exit.Code != 0 {
		t.Errorf("exit %v", info.Exit)
	}
}

// The host has given the terminal up, since nobody came back in time.
func TestMirrorComesBackTooLate(t *testing.T) {
	w := newWorld(t, "claude", -1)
	m := w.mirror()
	m.write([]byte("before"))
	confirmed(t, m)
	w.net.Freeze(true)
	w.net.Cut()
	eventually(t, "the terminal is gone", func() bool { list, _ := w.manager.List(w.person()); return len(list) == 0 })
	m.write([]byte(" after"))
	w.net.Freeze(false)
	confirmed(t, m)
	eventually(t, "it is there again", func() bool { list, _ := w.manager.List(w.person()); return len(list) == 1 })
	if got := text(t, w.terminal()); got != "before after" {
		t.Errorf("got %q", got)
	}
}

func TestMirrorIsDetached(t *testing.T) {
	w := newWorld(t, "claude", 0)
	m := w.mirror()
	m.write([]byte("x"))
	confirmed(t, m)
	if err := w.manager.Dispose(t.Context(), sharing.By{Client: w.person()}, w.terminal().ID()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.detached:
	case <-time.After(patience):
		t.Fatal("the mirror does not know")
	}
	m.write([]byte("y"))
	m.finish(t.Context(), 0, patience)
	if notes := strings.Join(m.summary(), ""); !strings.Contains(notes, "closed in Tandem") {
		t.Errorf("notes %q", notes)
	}
	if list, _ := w.manager.List(w.person()); len(list) != 0 {
		t.Errorf("%d terminals", len(list))
	}
}

// The end of the output waits for the network for a while, and the person is told if that was in vain.
func TestMirrorEndsWithoutANetwork(t *testing.T) {
	w := newWorld(t, "person", 0)
	m := w.mirror()
	confirmed(t, m)
	w.net.Freeze(true)
	w.net.Cut()
	m.write([]byte("the end"))
	m.finish(t.Context(), 0, 50*time.Millisecond)
	if notes := strings.Join(m.summary(), ""); !strings.Contains(notes, "7 bytes") {
		t.Errorf("notes %q", notes)
	}
}

func TestMirrorIsRefused(t *testing.T) {
	for who, want := range map[string]string{"nobody": "tandem token create", "reader": "terminals:write"} {
		w := newWorld(t, who, 0)
		m := newMirror(w, "", Size{80, 24})
		err := m.open(t.Context())
		if err == nil {
			m.close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", who, err, want)
		}
	}
}

// fixed is a Server at an address.
type fixed string

func (f fixed) Access(context.Context) (Access, error) { return Access{URL: string(f)}, nil }
func (f fixed) String() string                         { return string(f) }

func TestMirrorFindsNoTandem(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	err := newMirror(fixed(other.URL), "", Size{80, 24}).open(t.Context())
	if status, ok := errors.AsType[*StatusError](err); !ok || status.Status != http.StatusNotFound {
		t.Errorf("got %v", err)
	}
	other.Close()
	if err := newMirror(fixed(other.URL), "", Size{80, 24}).open(t.Context()); err == nil || !strings.Contains(err.Error(), other.URL) {
		t.Errorf("got %v", err)
	}
}
