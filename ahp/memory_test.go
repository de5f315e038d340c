package ahp

import (
	"fmt"
	"testing"

	"tandem/ahp/wire"
)

// Clients that are away are not remembered without end, also if several connections had the same id at a time.
func TestMemoriesAreBounded(t *testing.T) {
	m := newMemories()
	for i := range 4 * maxMemories {
		key := clientKey{"program:a", fmt.Sprint(i)}
		first, second := m.begin(key, wire.Version{}, 0), m.begin(key, wire.Version{}, 0)
		first.disconnected()
		if i%2 == 0 {
			m.resume(key).disconnected()
		}
		second.disconnected()
	}
	if len(m) > maxMemories {
		t.Errorf("%d clients are remembered", len(m))
	}
	m[clientKey{}] = &memory{connections: 1}
	for i := range 2 * maxMemories {
		m.begin(clientKey{"program:b", fmt.Sprint(i)}, wire.Version{}, 0).disconnected()
	}
	if m[clientKey{}] == nil {
		t.Error("one that is connected was forgotten")
	}
}
