package client

import (
	"encoding/json"
	"testing"

	"tandem/ahp/wire"
)

const uri = "ahp-terminal:/1"

func mirror(t *testing.T, snapshots ...wire.Snapshot) *Mirror {
	t.Helper()
	m := &Mirror{}
	for _, s := range snapshots {
		if err := m.Take(s); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func terminalAt(seq int64, text string) wire.Snapshot {
	return wire.NewSnapshot(uri, wire.TerminalState{
		Content: []wire.Part{{Type: wire.Unclassified, Value: text}}, Claim: wire.Claim{Kind: wire.ClaimClient, ClientID: "c"},
	}, seq)
}

func TestMirrorFollowsEachChannel(t *testing.T) {
	m := mirror(t,
		wire.NewSnapshot(wire.RootChannel, wire.RootState{Agents: []json.RawMessage{}}, 5),
		wire.NewSnapshot(wire.SharingChannel, wire.SharingState{}, 5),
		terminalAt(6, "$ "))
	infos := []wire.TerminalInfo{{Resource: uri}}
	for seq, e := range []wire.Envelope{
		{Channel: wire.RootChannel, Action: wire.RootTerminalsChanged{Terminals: infos}},
		{Channel: wire.SharingChannel, Action: wire.SharingChanged{State: wire.SharingState{Paused: true}}},
		{Channel: uri, Action: wire.TerminalData{Data: "ls\r\n"}},
		{Channel: uri, Action: wire.TerminalCommandExecuted{CommandID: "1", CommandLine: "ls"}},
		{Channel: uri, Action: wire.TerminalData{Data: "a b\r\n"}},
	} {
		e.ServerSeq = int64(seq + 7)
		m.Apply(e)
	}
	if len(m.Root.Terminals) != 1 || !m.Sharing.Paused || m.Text(uri) != "$ ls\r\na b\r\n" || m.LastSeen != 11 {
		t.Errorf("got %+v", m)
	}
}

func TestMirrorTakesNothingTwice(t *testing.T) {
	m := mirror(t, terminalAt(6, "abc"))
	for _, seq := range []int64{5, 6, 7, 7, 6, 8} {
		m.Apply(data(seq, "x"))
	}
	if got := m.Text(uri); got != "abcxx" {
		t.Errorf("got %q", got)
	}
	// A fresh snapshot has in it what waits.
	if err := m.Take(terminalAt(20, "new")); err != nil {
		t.Fatal(err)
	}
	m.Apply(data(19, "x"))
	m.Apply(data(21, "y"))
	if got := m.Text(uri); got != "newy" {
		t.Errorf("got %q", got)
	}
}

func TestMirrorIgnoresWhatWasRefused(t *testing.T) {
	m := mirror(t, terminalAt(6, "abc"))
	refused := data(7, "forged")
	refused.RejectionReason = "only the host does"
	m.Apply(refused)
	if got := m.Text(uri); got != "abc" || m.LastSeen != 7 {
		t.Errorf("got %q up to %d", got, m.LastSeen)
	}
}

func TestMirrorIgnoresOtherChannels(t *testing.T) {
	m := mirror(t)
	for _, e := range []wire.Envelope{
		data(7, "x"),
		{Channel: wire.RootChannel, Action: wire.RootActiveSessionsChanged{ActiveSessions: 1}, ServerSeq: 8},
		{Channel: wire.SharingChannel, Action: wire.SharingChanged{State: wire.SharingState{Paused: true}}, ServerSeq: 9},
	} {
		m.Apply(e)
	}
	if m.Terminals != nil || m.Root.ActiveSessions != nil || m.Sharing.Paused || m.LastSeen != 9 {
		t.Errorf("got %+v", m)
	}
}

func TestMirrorKnowsTheOldNameOfTheRoot(t *testing.T) {
	m := mirror(t, wire.NewSnapshot("agenthost:/root", wire.RootState{}, 5))
	m.Apply(wire.Envelope{Channel: "agenthost:/root", Action: wire.RootActiveSessionsChanged{ActiveSessions: 3}, ServerSeq: 6})
	if m.Root.ActiveSessions == nil || *m.Root.ActiveSessions != 3 {
		t.Errorf("got %+v", m.Root)
	}
}

// A snapshot replaces everything; one that cannot be read changes nothing.
func TestMirrorTakesWholeSnapshots(t *testing.T) {
	m := mirror(t, wire.NewSnapshot(wire.RootChannel, wire.RootState{ActiveSessions: new(3)}, 5), terminalAt(5, "abc"))
	for _, broken := range []wire.Snapshot{
		{Resource: wire.RootChannel, State: json.RawMessage(`{"activeSessions":"x"}`), FromSeq: 9},
		{Resource: uri, State: json.RawMessage(`{"content":[{"type":"x"}]}`), FromSeq: 9},
		{Resource: uri, FromSeq: 9},
	} {
		if err := m.Take(broken); err == nil {
			t.Errorf("took %+v", broken)
		}
	}
	if *m.Root.ActiveSessions != 3 || m.Text(uri) != "abc" || m.LastSeen != 5 {
		t.Errorf("got %+v", m)
	}
	if err := m.Take(wire.NewSnapshot(wire.RootChannel, wire.RootState{}, 10)); err != nil {
		t.Fatal(err)
	}
	if m.Root.ActiveSessions != nil {
		t.Errorf("got %+v", m.Root)
	}
}
