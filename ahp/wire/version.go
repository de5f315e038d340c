package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Version is a version of the protocol.
type Version struct{ Major, Minor, Patch int }

// AtLeast reports whether v is this version or a later one.
func (v Version) AtLeast(major, minor, patch int) bool {
	return !v.before(Version{major, minor, patch})
}

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

func (v Version) before(other Version) bool {
	switch {
	case v.Major != other.Major:
		return v.Major < other.Major
	case v.Minor != other.Minor:
		return v.Minor < other.Minor
	default:
		return v.Patch < other.Patch
	}
}

// SupportedVersions are the ranges that Negotiate chooses from. A caret range goes up to the next major version, or,
// below 1, to the next minor one.
var SupportedVersions = []string{"^1.0.0", "^0.10.0", "^0.9.0", "^0.8.0", "^0.7.0", "^0.6.0", "^0.5.1"}

// supported are the first versions of SupportedVersions.
var supported = func() (first []Version) {
	for _, r := range SupportedVersions {
		v, ok := parseVersion(strings.TrimPrefix(r, "^"))
		if !ok {
			panic("wire: not a version range: " + r)
		}
		first = append(first, v)
	}
	return first
}()

// Negotiate chooses the highest of the versions that a client offers and this host speaks, and returns it as the client
// wrote it. A version that is higher than what the host knows of its range is taken all the same.
func Negotiate(offered []string) (string, Version, *Error) {
	var (
		chosen string
		best   Version
	)
	for i, s := range offered {
		v, ok := parseVersion(s)
		if !ok {
			return "", Version{}, &Error{Code: InvalidParams, Message: fmt.Sprintf("protocolVersions[%d] must be a version like 1.0.0", i)}
		}
		if v.isSupported() && (chosen == "" || best.before(v)) {
			chosen, best = s, v
		}
	}
	if chosen == "" {
		return "", Version{}, &Error{
			Code:    UnsupportedProtocolVersion,
			Message: "no offered protocol version is spoken here: offer one of " + strings.Join(SupportedVersions, " "),
			Data:    UnsupportedVersionData{SupportedVersions},
		}
	}
	return chosen, best, nil
}

func (v Version) isSupported() bool {
	for _, first := range supported {
		if v.Major == first.Major && (v.Major > 0 || v.Minor == first.Minor) && !v.before(first) {
			return true
		}
	}
	return false
}

// parseVersion reads MAJOR.MINOR.PATCH as Semantic Versioning 2.0.0 (§2) has it: decimal, without leading zeros, signs or
// anything after it. Numbers too large for an int are taken for the largest.
func parseVersion(s string) (v Version, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return v, false
	}
	for i, n := range []*int{&v.Major, &v.Minor, &v.Patch} {
		part := parts[i]
		if part == "" || len(part) > 1 && part[0] == '0' || strings.Trim(part, "0123456789") != "" {
			return Version{}, false
		}
		var err error
		if *n, err = strconv.Atoi(part); err != nil && !errors.Is(err, strconv.ErrRange) {
			return Version{}, false
		}
	}
	return v, true
}
