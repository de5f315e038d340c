// Package static is the built browser UI, embedded. The files under dist are generated from web and never edited.
package static

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// files is what the page consists of, by URL path: "/" and one path for each file.
var files = func() map[string]string {
	byPath := map[string]string{}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			byPath["/"+strings.TrimPrefix(name, "dist/")] = name
		}
		return err
	})
	if err != nil {
		panic("static: reading embedded files: " + err.Error())
	}
	byPath["/"] = "dist/index.html"
	return byPath
}()

// Paths returns the URL paths of the page and its files, the page's own being "/".
func Paths() []string {
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	return paths
}

// Has reports whether path is one of Paths.
func Has(path string) bool {
	_, ok := files[path]
	return ok
}

// Handler serves Paths. Names below /assets carry a hash of their content and never change; everything else is asked
// for again each time.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/assets/") {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			w.Header().Set("Cache-Control", "no-cache")
		}
		http.ServeFileFS(w, r, dist, name)
	})
}
