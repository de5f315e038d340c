package privatefile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	if err := os.WriteFile(path, []byte("an older and longer one"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || string(content) != "new" {
		t.Errorf("holds %q, %v", content, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestFailedReplaceLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	if err := os.Mkdir(path, 0o700); err != nil { // in the way
		t.Fatal(err)
	}
	if err := Replace(path, []byte("new")); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
		t.Errorf("left are %v, %v", entries, err)
	}
}
