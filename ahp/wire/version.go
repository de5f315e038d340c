package wire

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// Version is a version of the protocol.
type Version struct{ Major, Minor, Patch int }

// SupportedVersions are the ranges of versions that hosts here speak, as they are told to clients.
var SupportedVersions = []string{"^1.0.0", "^0.10.0", "^0.9.0", "^0.8.0", "^0.7.0", "^0.6.0", "^0.5.1"}

// AtLeast reports whether the version is major.minor.patch or later.
func (v Version) AtLeast(major, minor, patch int) bool {
	return v.compare(Version{major, minor, patch}) >= 0
}

func (v Version) compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// supported reports whether the version is in one of SupportedVersions. A caret on 0.y pins the minor version.
func (v Version) supported() bool {
	return v.Major == 1 || v.Major == 0 && (v.Minor >= 6 && v.Minor <= 10 || v.Minor == 5 && v.Patch >= 1)
}

var semver = regexp.MustCompile(`^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$`)

// ParseVersion reads MAJOR.MINOR.PATCH, without pre-release or build.
func ParseVersion(s string) (Version, error) {
	m := semver.FindStringSubmatch(s)
	if m == nil {
		return Version{}, fmt.Errorf("%.32q is not a version: want MAJOR.MINOR.PATCH", s)
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // digits, and few
	}
	return Version{n[0], n[1], n[2]}, nil
}

// Negotiate chooses the highest offered version that is supported, and returns it as it was offered too.
func Negotiate(offered []string) (string, Version, *Error) {
	var best string
	var highest Version
	for _, s := range offered {
		v, err := ParseVersion(s)
		if err != nil {
			return "", Version{}, invalid("protocolVersions: " + err.Error())
		}
		if v.supported() && (best == "" || v.compare(highest) > 0) {
			best, highest = s, v
		}
	}
	if best == "" {
		return "", Version{}, &Error{
			Code: UnsupportedProtocolVersion, Message: "no offered version of the protocol is supported",
			Data: map[string][]string{"supportedVersions": SupportedVersions},
		}
	}
	return best, highest, nil
}
