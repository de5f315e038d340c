package server

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"tandem/static"
)

func TestPageIsCompressedForThoseWhoTakeIt(t *testing.T) {
	c := serve(t, nil).browser(t)
	for _, path := range static.Paths() {
		if !strings.HasSuffix(path, ".js") {
			continue
		}
		plain := c.do("GET", strings.TrimPrefix(path, "/"), nil)
		r, err := http.NewRequest("GET", c.server.url+strings.TrimPrefix(path, "/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "gzip")
		packed := c.send(r)
		if packed.header.Get("Content-Encoding") != "gzip" || !strings.Contains(packed.header.Get("Vary"), "Accept-Encoding") {
			t.Fatalf("%s: %v", path, packed.header)
		}
		unpacked, err := gzip.NewReader(strings.NewReader(string(packed.body)))
		if err != nil {
			t.Fatal(err)
		}
		if all, err := io.ReadAll(unpacked); err != nil || string(all) != string(plain.body) {
			t.Fatalf("%s: %d bytes, want %d (%v)", path, len(all), len(plain.body), err)
		}
		if len(packed.body) > 300_000 {
			t.Fatalf("%s: %d bytes over the wire", path, len(packed.body))
		}
	}
}
