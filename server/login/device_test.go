package login

import "testing"

func TestDeviceOf(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                                 "Firefox on Linux",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":                  "Safari on macOS",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36":                        "Chrome on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":          "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36":                        "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1": "Chrome on iPhone",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36":                         "Chrome on ChromeOS",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36":                          "Chrome on Linux",
		"curl/8.5.0":             "curl",
		"Go-http-client/1.1":     "Go-http-client",
		"":                       "Unknown program",
		"<script>alert(1)":       "Unknown program",
		"\x1b[31mred":            "Unknown program",
		"a\x1b[2J on everything": "a",
	} {
		if got := deviceOf(userAgent); got != want {
			t.Errorf("%q: %q, want %q", userAgent, got, want)
		}
	}
}

func FuzzDeviceOf(f *testing.F) {
	f.Add("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	f.Add("curl/8.5.0")
	f.Add("\xff\x00\x1b")
	f.Fuzz(func(t *testing.T, userAgent string) {
		device := deviceOf(userAgent)
		if device == "" || len(device) > maxDevice {
			t.Fatalf("%d bytes", len(device))
		}
		for _, b := range []byte(device) {
			if b < ' ' || b > '~' {
				t.Fatalf("%q", device)
			}
		}
	})
}
