package login

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The machine sleeps: its clock goes on, and the timers of its processes do not.
func TestTokenEndsSoonAfterASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		g := newTokenRegistry(func() time.Time { return time.Now().Add(time.Duration(slept.Load())) })
		made := g.put(&liveToken{Token: Token{ID: "a", Expires: time.Now().Add(8 * time.Hour)}})
		time.Sleep(time.Hour)
		if over(made.Done()) {
			t.Fatal("it ended too early")
		}
		slept.Store(int64(8 * time.Hour))
		time.Sleep(lookAgain)
		synctest.Wait()
		if !over(made.Done()) {
			t.Error("its connections go on")
		}
	})
}

func TestTokenEndsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newTokenRegistry(time.Now)
		const life = 100*24*time.Hour + 12345*time.Millisecond
		made := g.put(&liveToken{Token: Token{ID: "a", Expires: time.Now().Add(life)}})
		time.Sleep(life - time.Millisecond)
		synctest.Wait()
		if over(made.Done()) {
			t.Fatal("it ended too early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if !over(made.Done()) {
			t.Error("it goes on")
		}
	})
}

func TestTokenThatEndsLeavesNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newTokenRegistry(time.Now)
		made := g.put(&liveToken{Token: Token{ID: "a", Expires: time.Now().Add(time.Hour)}})
		g.end("a")
		g.end("a")
		again := g.put(&liveToken{Token: Token{ID: "a"}}) // of the same ID, and without an end
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if !over(made.Done()) || over(again.Done()) {
			t.Error("the first goes on, or the second ended with it")
		}
	})
}
