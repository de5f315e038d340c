package wire

import "testing"

func TestNegotiate(t *testing.T) {
	for _, test := range []struct {
		name    string
		offered []string
		want    string
		version Version
	}{
		{"the highest, not the first", []string{"0.6.0", "1.0.0"}, "1.0.0", Version{1, 0, 0}},
		{"later than what is known of a range", []string{"1.1.0", "1.0.0", "0.10.0"}, "1.1.0", Version{1, 1, 0}},
		{"much later", []string{"1.7.0"}, "1.7.0", Version{1, 7, 0}},
		{"by number, not by text", []string{"0.9.0", "0.10.0"}, "0.10.0", Version{0, 10, 0}},
		{"by patch", []string{"0.6.2", "0.6.10", "0.6.9"}, "0.6.10", Version{0, 6, 10}},
		{"what the Go SDK offers", []string{"0.6.0", "0.5.2", "0.5.1"}, "0.6.0", Version{0, 6, 0}},
		{"in the other order", []string{"0.5.2", "0.6.0"}, "0.6.0", Version{0, 6, 0}},
		{"the oldest", []string{"0.5.0", "0.5.1"}, "0.5.1", Version{0, 5, 1}},
		{"0.7", []string{"0.7.0"}, "0.7.0", Version{0, 7, 0}},
		{"0.8", []string{"0.8.4"}, "0.8.4", Version{0, 8, 4}},
		{"others are passed over", []string{"999.0.0", "0.4.0", "2.0.0", "0.9.3", "0.11.0"}, "0.9.3", Version{0, 9, 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, version, err := Negotiate(test.offered)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want || version != test.version {
				t.Errorf("got %s, %v; want %s, %v", got, version, test.want, test.version)
			}
		})
	}
}

func TestNegotiateRefuses(t *testing.T) {
	const unsupported = `{"supportedVersions":["^1.0.0","^0.10.0","^0.9.0","^0.8.0","^0.7.0","^0.6.0","^0.5.1"]}`
	for _, test := range []struct {
		name    string
		offered []string
		code    int
	}{
		{"nothing offered", nil, UnsupportedProtocolVersion},
		{"too new", []string{"999.0.0"}, UnsupportedProtocolVersion},
		{"too new by one", []string{"2.0.0", "0.11.0"}, UnsupportedProtocolVersion},
		{"too old by one", []string{"0.5.0"}, UnsupportedProtocolVersion},
		{"too old", []string{"0.4.9", "0.0.0"}, UnsupportedProtocolVersion},
		{"a number beyond any", []string{"99999999999999999999.0.0"}, UnsupportedProtocolVersion},
		{"a leading zero", []string{"01.0.0"}, InvalidParams},
		{"a leading zero in the patch", []string{"1.0.00"}, InvalidParams},
		{"two parts", []string{"1.0"}, InvalidParams},
		{"four parts", []string{"1.0.0.0"}, InvalidParams},
		{"a pre-release", []string{"1.0.0-rc.1"}, InvalidParams},
		{"a build", []string{"1.0.0+5"}, InvalidParams},
		{"a v", []string{"v1.0.0"}, InvalidParams},
		{"a range", []string{"^1.0.0"}, InvalidParams},
		{"a sign", []string{"+1.0.0"}, InvalidParams},
		{"a space", []string{" 1.0.0"}, InvalidParams},
		{"an empty part", []string{"1..0"}, InvalidParams},
		{"an empty text", []string{""}, InvalidParams},
		{"one that cannot be read among others", []string{"1.0.0", "x"}, InvalidParams},
	} {
		t.Run(test.name, func(t *testing.T) {
			chosen, _, err := Negotiate(test.offered)
			if err == nil {
				t.Fatalf("got %s, want an error", chosen)
			}
			if err.Code != test.code {
				t.Errorf("got %v, want code %d", err, test.code)
			}
			if data := string(encode(err.Data)); test.code == UnsupportedProtocolVersion && data != unsupported {
				t.Errorf("got data %s, want %s", data, unsupported)
			}
		})
	}
}

func TestAtLeast(t *testing.T) {
	v := Version{0, 9, 3}
	for _, test := range []struct {
		than Version
		want bool
	}{
		{Version{0, 9, 3}, true},
		{Version{0, 9, 2}, true},
		{Version{0, 8, 9}, true},
		{Version{0, 9, 4}, false},
		{Version{0, 10, 0}, false},
		{Version{1, 0, 0}, false},
	} {
		if got := v.AtLeast(test.than.Major, test.than.Minor, test.than.Patch); got != test.want {
			t.Errorf("%v at least %v: %v", v, test.than, got)
		}
	}
}

func FuzzNegotiate(f *testing.F) {
	for _, seed := range []string{"1.0.0", "0.5.1", "01.0.0", "1.0", "9223372036854775808.0.0", "1.0.0-a"} {
		f.Add(seed, "0.6.0")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		chosen, v, err := Negotiate([]string{a, b})
		switch {
		case err != nil && err.Code != InvalidParams && err.Code != UnsupportedProtocolVersion:
			t.Error(err)
		case err == nil && (chosen != a && chosen != b || !v.isSupported()):
			t.Errorf("chose %q, %v of %q and %q", chosen, v, a, b)
		}
	})
}
