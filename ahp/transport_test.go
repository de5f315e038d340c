package ahp

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// A transport takes so much that the other side does not read, then blocks until it does, or until a deadline.
func TestTransportWaitsForRoom(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	far, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	near, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	below := newTransport(near)
	if below.raw == nil {
		t.Fatal("a TCP socket is nothing of the system's")
	}
	// blocked writes until there is no room.
	blocked := func() (written int64) {
		t.Helper()
		for written < 1<<30 {
			_ = near.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			if err := below.await(); err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatal(err)
				}
				return written
			}
			n, _ := near.Write(make([]byte, 4<<10))
			written += int64(n)
		}
		t.Fatal("there is always room")
		return 0
	}
	written := blocked()
	done := make(chan error, 1)
	_ = near.SetWriteDeadline(time.Now().Add(patience))
	go func() { done <- below.await() }()
	if _, err := io.CopyN(io.Discard, far, written); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("with room again: %v", err)
	}
	blocked()
	_ = near.SetWriteDeadline(time.Now().Add(patience))
	go func() { done <- below.await() }()
	_ = near.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the close: %v", err)
	}
}
