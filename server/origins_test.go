package server

import "testing"

func TestOrigins(t *testing.T) {
	type set struct {
		listen  string
		tls     bool
		trusted []string
	}
	local := set{listen: "127.0.0.1:8600"}
	proxied := set{listen: "127.0.0.1:8600", trusted: []string{"https://ide.example.com"}}
	everywhere := set{listen: "0.0.0.0:8600", tls: true}
	for _, try := range []struct {
		set          set
		host, origin string
		hostOK       bool
		originOK     bool
	}{
		{local, "127.0.0.1:8600", "http://127.0.0.1:8600", true, true},
		{local, "localhost:8600", "http://localhost:8600", true, true},
		{local, "LOCALHOST:8600", "http://localhost:8600", true, true},
		{local, "[::1]:8600", "http://[::1]:8600", true, true},
		{local, "tandem.localhost:8600", "http://tandem.localhost:8600", true, true},
		{local, "localhost:8600", "https://localhost:8600", true, false},
		{local, "localhost:8600", "http://localhost:3000", true, false},
		{local, "localhost:8600", "http://localhost", true, false},
		{local, "localhost:8600", "null", true, false},
		{local, "localhost:8600", "", true, false},
		{local, "localhost:8600", "http://localhost:8600.evil.example", true, false},
		{local, "localhost:8600", "http://evil.example:8600", true, false},
		{local, "localhost:3000", "http://localhost:3000", false, true},
		{local, "evil.example:8600", "http://evil.example:8600", false, true},
		{local, "localhost.evil.example:8600", "", false, false},
		{local, "evillocalhost:8600", "", false, false},
		{local, "192.168.1.5:8600", "", false, false},
		{local, "", "", false, false},
		{proxied, "ide.example.com", "https://ide.example.com", true, true},
		{proxied, "ide.example.com:443", "https://ide.example.com", true, true},
		{proxied, "IDE.example.com", "https://ide.example.com", true, true},
		{proxied, "127.0.0.1:8600", "https://ide.example.com", true, true}, // a proxy that does not pass Host on
		{proxied, "ide.example.com", "http://ide.example.com", true, false},
		{proxied, "ide.example.com", "https://ide.example.com:444", true, false},
		{proxied, "ide.example.com:444", "https://ide.example.com:444", false, false},
		{proxied, "evil.ide.example.com", "https://evil.ide.example.com", false, false},
		{everywhere, "192.168.1.5:8600", "https://192.168.1.5:8600", true, true},
		{everywhere, "192.168.1.5:8600", "http://192.168.1.5:8600", true, false},
		{everywhere, "evil.example:8600", "https://evil.example:8600", false, true},
		{set{listen: "tandem.lan:443", tls: true}, "tandem.lan", "https://tandem.lan", true, true},
		{set{listen: "localhost:80"}, "localhost", "http://localhost", true, true},
		{set{listen: "[2001:DB8:0::1]:443", tls: true}, "[2001:db8::1]", "https://[2001:db8::1]", true, true}, // as browsers write it
		{set{listen: "[2001:DB8:0::1]:443", tls: true}, "[2001:db8::2]", "https://[2001:db8::2]", false, true},
		{set{listen: "[::]:443", tls: true}, "[2001:db8::1]:443", "https://[2001:db8::1]", true, true},
		{local, "localhost.:8600", "", false, false},
		{local, "127.0.0.1.:8600", "", false, false},
		{local, "0.0.0.0:8600", "", false, false},
		{local, "[::]:8600", "", false, false},
		{local, "2130706433:8600", "", false, false},
		{local, "user@127.0.0.1:8600", "", false, false},
		{local, "127.0.0.1:8600@evil.example", "", false, false},
		{local, "127.0.0.1:08600", "", false, false},
		{local, "127.0.0.1:", "", false, false},
		{local, "localhost:8600", "http://user@localhost:8600", true, false},
		{local, "localhost:8600", "http://127.0.0.1:8600", true, false},
		{local, "localhost:8600", "http://localhost.:8600", true, false},
	} {
		o, err := newOrigins(try.set.listen, try.set.tls, try.set.trusted)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.allowsHost(try.host); got != try.hostOK {
			t.Errorf("%+v: host %q allowed: %v", try.set, try.host, got)
		}
		// What is allowed of an origin only matters for a host that is.
		if got := o.allowsOrigin(try.origin, try.host); try.hostOK && got != try.originOK {
			t.Errorf("%+v: origin %q at %q allowed: %v", try.set, try.origin, try.host, got)
		}
	}
	for _, bad := range []string{
		"", "ide.example.com", "ftp://ide.example.com", "https://", "https://*.example.com", "https://ide.example.com/path",
		"https://ide.example.com?x", "https://user@ide.example.com", "https://ide.example.com#x", "*", "null",
	} {
		if _, err := newOrigins("127.0.0.1:8600", false, []string{bad}); err == nil {
			t.Errorf("trusted origin %q is taken", bad)
		}
	}
}
