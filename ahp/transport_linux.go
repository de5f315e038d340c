package ahp

import "golang.org/x/sys/unix"

// boundUnsent makes a TCP socket take no more than maxUnsent beyond what is under way.
func boundUnsent(fd int) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent) // other sockets do without
}
