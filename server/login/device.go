package login

import "strings"

// maxDevice bounds a device's name, in bytes.
const maxDevice = 64

// named is a name people know, and the mark in a user agent that tells it.
type named struct{ mark, name string }

// In the order to look: most browsers also claim to be the ones that stand further down.
var (
	browsers = []named{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"HeadlessChrome/", "Chrome"},
		{"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = []named{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"},
		{"CrOS", "ChromeOS"}, {"Macintosh", "macOS"}, {"FreeBSD", "FreeBSD"}, {"OpenBSD", "OpenBSD"}, {"Linux", "Linux"},
	}
)

// deviceOf sums up a User-Agent header for the list of logins, as "Firefox on Linux". It is a help to recognise one's
// own devices, not proof: the header says what the client likes. The result is printable ASCII of 1 to maxDevice bytes.
func deviceOf(userAgent string) string {
	browser, system := find(browsers, userAgent), find(systems, userAgent)
	if browser == "" {
		browser = program(userAgent)
	}
	if system == "" {
		return browser
	}
	return browser + " on " + system
}

func find(names []named, userAgent string) string {
	for _, n := range names {
		if strings.Contains(userAgent, n.mark) {
			return n.name
		}
	}
	return ""
}

// program returns the name a program gives itself at the start of its user agent, as curl in "curl/8.5.0".
func program(userAgent string) string {
	end := strings.IndexFunc(userAgent, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.')
	})
	if end < 0 {
		end = len(userAgent)
	}
	if end == 0 {
		return "Unknown program"
	}
	return userAgent[:min(end, maxDevice/2)]
}
