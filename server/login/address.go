package login

import "net/netip"

// sourceOf returns what the failures of an address are counted for: IPv6 by its /64, which is the least that one
// customer is given. What is no IP address counts as one source together. The address may carry a port.
func sourceOf(address string) string {
	ip, ok := parseAddress(address)
	switch {
	case !ok:
		return "unknown"
	case ip.Is4():
		return ip.String()
	default:
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
}

// addressOf returns an address without its port, or "" if it is no IP address.
func addressOf(address string) string {
	ip, ok := parseAddress(address)
	if !ok {
		return ""
	}
	return ip.String()
}

func parseAddress(address string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		withPort, err := netip.ParseAddrPort(address)
		if err != nil {
			return netip.Addr{}, false
		}
		ip = withPort.Addr()
	}
	return ip.Unmap().WithZone(""), true
}
