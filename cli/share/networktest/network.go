// Package networktest is a network for tests, which fails as they say.
package networktest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Network passes TCP connections on. It can freeze, which nobody is told, and cut what there is.
type Network struct {
	listener net.Listener
	all      sync.WaitGroup

	mu      sync.Mutex // guards what follows
	thawed  sync.Cond  // of mu
	frozen  bool
	closed  bool
	target  string
	sockets []net.Conn
}

// New returns a network, which ends with the test. It leads nowhere yet.
func New(t testing.TB) *Network {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &Network{listener: listener}
	n.thawed.L = &n.mu
	n.all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			n.all.Go(func() { n.pass(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		n.mu.Lock()
		n.closed = true
		n.thawed.Broadcast()
		n.mu.Unlock()
		n.Cut()
		n.all.Wait()
	})
	return n
}

// Addr returns where clients connect to.
func (n *Network) Addr() string { return n.listener.Addr().String() }

// pass passes one connection on, both ways, until both are closed.
func (n *Network) pass(near net.Conn) {
	n.mu.Lock()
	n.wait()
	target := n.target
	n.mu.Unlock()
	far, err := net.Dial("tcp", target)
	if err != nil {
		_ = near.Close()
		return
	}
	n.mu.Lock()
	n.sockets = append(n.sockets, near, far)
	closed := n.closed
	n.mu.Unlock()
	if closed {
		n.Cut()
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			_, _ = io.Copy(slowly{n, way[1]}, way[0])
			n.mu.Lock()
			n.wait() // nobody is told that it was closed
			n.mu.Unlock()
			_ = way[1].Close()
		})
	}
	both.Wait()
}

// slowly writes when the network is not frozen.
type slowly struct {
	n *Network
	w io.Writer
}

func (s slowly) Write(p []byte) (int, error) {
	s.n.mu.Lock()
	s.n.wait()
	s.n.mu.Unlock()
	return s.w.Write(p)
}

// wait blocks while the network is frozen. mu is held.
func (n *Network) wait() {
	for n.frozen && !n.closed {
		n.thawed.Wait()
	}
}

// Freeze holds up everything until it is called with false.
func (n *Network) Freeze(frozen bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen = frozen
	n.thawed.Broadcast()
}

// Cut closes all connections.
func (n *Network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range n.sockets {
		_ = conn.Close()
	}
	n.sockets = nil
}

// LeadTo says where new connections lead.
func (n *Network) LeadTo(target string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.target = target
}
