package ahp

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxUnsent is how much the kernel takes of what it cannot send yet, in bytes: enough to keep a fast client busy. More
// would only make what a slow one gets older.
const maxUnsent = 128 << 10

// transport is what lies below a connection's WebSocket.
type transport struct {
	raw   syscall.RawConn // nil if it is nothing of the system's
	takes func(fd uintptr) bool
}

func newTransport(below net.Conn) transport {
	if encrypted, ok := below.(interface{ NetConn() net.Conn }); ok {
		below = encrypted.NetConn()
	}
	var t transport
	if of, ok := below.(syscall.Conn); ok {
		t.raw, _ = of.SyscallConn() // fails for nothing that is open
	}
	if t.raw == nil {
		return t
	}
	_ = t.raw.Control(func(fd uintptr) { boundUnsent(int(fd)) })
	t.takes = func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0)
		return n != 0 || err != nil
	}
	return t
}

// await blocks until the kernel takes more. What comes next is looked for only then: so a slow client is sent what is
// the latest by that time, and costs no message that waits.
func (t *transport) await() error {
	if t.raw == nil {
		return nil
	}
	return t.raw.Write(t.takes)
}
