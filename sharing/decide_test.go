package sharing

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"tandem/ptymgr"
)

// table says who may do what, cell by cell: the columns are the person, the program that holds the terminal, another
// program, and the session's own side.
var table = []struct {
	act                           string
	person, holds, other, session string
}{
	{"read", "always", "yes", "by mode", "yes"},
	{"read privately", "always", "not found", "not found", "not found"},
	{"type", "always", "yes", "no", "yes"},
	{"resize while nobody shows it", "always", "yes", "no", "yes"},
	{"resize while a browser shows it", "no", "no", "no", "no"},
	{"clear", "always", "yes", "no", "yes"},
	{"rename", "always", "yes", "no", "yes"},
	{"dispose of one's own", "always", "yes", "no", "yes"},
	{"dispose of another's", "always", "no", "no", "no"},
	{"change the mode", "always", "no", "no", "no"},
}

// column is somebody at a terminal: who it is, and how the terminal comes to be held as the column has it.
type column struct {
	name string
	who  func(*stage) *Client
	made func(*stage) *Client // by whom, if it is to be who's own
	held func(*stage, *Terminal)
}

func desk(s *stage) *Client    { return s.desk }
func phone(s *stage) *Client   { return s.phone }
func first(s *stage) *Client   { return s.a }
func second(s *stage) *Client  { return s.a2 }
func another(s *stage) *Client { return s.b }
func nameless(s *stage) *Client {
	return s.join(claude, "") // REST and the byte lane have no client ids
}

func byPerson(s *stage, t *Terminal)  { s.hand(t, s.desk) }
func byPhone(s *stage, t *Terminal)   { s.hand(t, s.phone) }
func byProgram(s *stage, t *Terminal) { s.hand(t, s.a) }
func bySession(s *stage, t *Terminal) { s.handSession(t, s.a) }

var columns = map[string][]column{
	"person": {
		{"the person at a terminal of theirs", desk, desk, byPerson},
		{"the person at another device", desk, desk, byPhone},
		{"the person at a program's", desk, desk, byProgram},
		{"the person at a session's", phone, desk, bySession},
	},
	"holds": {
		{"the program that holds it", first, first, byProgram},
		{"the program by a door without client ids", nameless, first, byProgram},
	},
	"other": {
		{"a program at the person's", another, another, byPerson},
		{"a program at another's", another, another, byProgram},
		{"another client of the program that holds it", second, first, byProgram},
		{"a program at a session's", another, another, bySession},
	},
	"session": {
		{"the session's client", first, first, bySession},
		{"another client of the session's program", second, first, bySession},
		{"the session's program by a door without client ids", nameless, first, bySession},
	},
}

func TestTable(t *testing.T) {
	for _, row := range table {
		for name, cell := range map[string]string{"person": row.person, "holds": row.holds, "other": row.other, "session": row.session} {
			for _, col := range columns[name] {
				t.Run(row.act+"/"+col.name, func(t *testing.T) {
					checkCell(t, row.act, cell, col)
				})
			}
		}
	}
}

func checkCell(t *testing.T, act, cell string, col column) {
	modes := []Mode{Watch, Ask, Share}
	if act == "read privately" {
		modes = []Mode{Private}
	}
	s := setUp(t)
	for _, mode := range modes {
		maker := desk
		if act == "dispose of one's own" {
			maker = col.made
		}
		terminal := s.open(maker(s))
		col.held(s, terminal)
		s.mode(terminal, mode)
		errs := perform(s, act, col.who(s), terminal)
		if len(errs) == 0 {
			t.Fatalf("nothing is done for %q", act)
		}
		for door, err := range errs {
			var refusal *Refusal
			ok := false
			switch cell {
			case "always", "yes", "by mode": // all modes but private let programs read
				ok = err == nil
			case "no":
				ok = errors.As(err, &refusal)
			case "not found":
				ok = errors.Is(err, ErrNotFound)
			}
			if !ok {
				t.Errorf("mode %v, %s: got %v, want %s", mode, door, err, cell)
			}
		}
	}
}

// perform does something in every way there is, and returns how each went.
func perform(s *stage, act string, c *Client, t *Terminal) map[string]error {
	by := By{Client: c}
	size := ptymgr.Size{Cols: 100, Rows: 30}
	viewer := func(do func(*Viewer) error) error {
		v, err := t.Attach(c, ptymgr.NoOffset)
		if err != nil {
			return err
		}
		defer v.Close()
		return do(v)
	}
	switch act {
	case "read", "read privately":
		_, get := s.m.Get(c, t.ID())
		_, info := t.Info(c)
		stop, watch := t.Watch(c)
		if watch == nil {
			stop()
		}
		errs := map[string]error{"get": get, "info": info, "watch": watch, "attach": viewer(func(*Viewer) error { return nil })}
		list, err := s.m.List(c)
		s.must(err)
		errs["list"] = ErrNotFound
		for _, listed := range list {
			if listed == t {
				errs["list"] = nil
			}
		}
		if !t.access().Sees(c.identity) {
			errs["access"] = ErrNotFound
		}
		return errs
	case "type":
		return map[string]error{
			"viewer": viewer(func(v *Viewer) error { return v.Input([]byte("x")) }),
			"input":  t.Input(by, []byte("x")),
			"answer": viewer(func(v *Viewer) error { return v.Answer([]byte("x")) }),
		}
	case "resize while nobody shows it":
		err := t.Resize(by, size)
		if got := t.pty.Info().Size; (got == size) != (err == nil) {
			s.Errorf("Resize returned %v, and the size is %v", err, got)
		}
		return map[string]error{"resize": err}
	case "resize while a browser shows it":
		shown := s.attach(t, s.desk, ptymgr.NoOffset)
		defer shown.v.Close()
		s.must(shown.v.Resize(ptymgr.Size{Cols: 90, Rows: 25}))
		return map[string]error{"resize": t.Resize(by, size)}
	case "clear":
		return map[string]error{"clear": t.Clear(by), "viewer": viewer((*Viewer).Clear)}
	case "rename":
		return map[string]error{"rename": t.Rename(by, "name")}
	case "dispose of one's own", "dispose of another's":
		return map[string]error{"dispose": s.m.Dispose(context.Background(), by, t.ID())}
	case "change the mode":
		return map[string]error{"mode": t.SetMode(by, Ask)}
	}
	return nil
}

// claims are the cells of the row "claim": who claims a terminal of the person's that is held so, for whom, and what
// comes of it in the modes watch, ask and share.
var claims = []struct {
	who   func(*stage) *Client
	held  func(*stage, *Terminal)
	claim string
	want  [3]string
}{
	// The person, always: takes over, narrows, hands to a client that is known.
	{desk, byPerson, "own", all("yes")},
	{desk, byPhone, "own", all("yes")},
	{desk, byProgram, "own", all("yes")},
	{desk, bySession, "own", all("yes")},
	{desk, bySession, "narrower", all("yes")},
	{desk, bySession, "same session", all("yes")},
	{desk, byPerson, "phone", all("yes")},
	{desk, byPerson, "other program", all("yes")},
	{desk, byProgram, "other program", all("yes")},
	{desk, byPerson, "session", all("yes")},
	{desk, byPerson, "nobody", all(errNoClient.Reason)},
	{desk, byPerson, "reader", all(errCannotDrive.Reason)},

	// The program that holds it: hands to any client that is known, or to a session.
	{first, byProgram, "own", all("yes")},
	{first, byProgram, "phone", all("yes")},
	{first, byProgram, "other program", all("yes")},
	{first, byProgram, "session", all("yes")},
	{first, byProgram, "nobody", all(errNoClient.Reason)},
	{nameless, byProgram, "own", all("yes")},

	// Another program: by mode, if the person holds it.
	{another, byPerson, "own", [3]string{errWatchOnly.Reason, AskedReason, "yes"}},
	{another, byPerson, "session", [3]string{errWatchOnly.Reason, AskedReason, "yes"}},
	{another, byPerson, "phone", all(errForOthers.Reason)},
	{another, byPerson, "first", all(errForOthers.Reason)},
	{another, byProgram, "own", all(errProgramHolds.Reason)},
	{another, byProgram, "session", all(errProgramHolds.Reason)},
	{another, bySession, "own", all(errSessionHolds.Reason)},
	{another, bySession, "narrower", all(errSessionHolds.Reason)}, // the same URI, of another program
	{second, byProgram, "own", all(errProgramHolds.Reason)},

	// The session's own side: narrows, widens for a new tool call, hands back.
	{first, bySession, "narrower", all("yes")},
	{second, bySession, "narrower", all("yes")},
	{first, bySession, "same session", all("yes")},
	{first, bySession, "own", all("yes")},
	{second, bySession, "own", all("yes")},
	{first, bySession, "phone", all("yes")},
	{first, bySession, "other program", all(errHandBack.Reason)},
	{first, bySession, "session", all(errHandBack.Reason)},
}

func all(want string) [3]string { return [3]string{want, want, want} }

func TestTableClaims(t *testing.T) {
	for i, row := range claims {
		t.Run(fmt.Sprintf("%d/%s", i, row.claim), func(t *testing.T) {
			s := setUp(t)
			s.join(reader, "r")
			for n, mode := range []Mode{Watch, Ask, Share} {
				terminal := s.open(s.desk)
				row.held(s, terminal)
				s.mode(terminal, mode)
				who := row.who(s)
				claim := map[string]Claim{
					"own":           {Client: who.name},
					"phone":         {Client: "login-phone"},
					"first":         {Client: "a"},
					"other program": {Client: "b"},
					"reader":        {Client: "r"},
					"nobody":        {Client: "nobody"},
					"session":       {Session: &Session{URI: "ahp-session:/new"}},
					"narrower":      {Session: &Session{URI: "ahp-session:/s"}},
					"same session":  {Session: &Session{URI: "ahp-session:/s", TurnID: "turn", ToolCallID: "next"}},
				}[row.claim]
				before := s.claim(terminal)
				got := "yes"
				if err := terminal.Claim(By{Client: who}, claim); err != nil {
					var refusal *Refusal
					if !errors.As(err, &refusal) {
						t.Fatalf("mode %v: %v is no refusal", mode, err)
					}
					got = refusal.Reason
				}
				if got != row.want[n] {
					t.Errorf("mode %v: got %q, want %q", mode, got, row.want[n])
				}
				want := claim
				if got != "yes" {
					want = before
				}
				if now := s.claim(terminal); describe(now) != describe(want) {
					t.Errorf("mode %v: held by %s, want %s", mode, describe(now), describe(want))
				}
			}
		})
	}
}

// In a private terminal even the program that holds it finds nothing.
func TestPrivateClaims(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	s.mode(terminal, Private)
	for _, c := range []*Client{s.a, s.b} {
		s.notFound(terminal.Claim(By{Client: c}, Claim{Client: c.name}))
		s.notFound(terminal.Claim(By{Client: c}, Claim{Client: "nobody"}))
		s.notFound(terminal.Claim(By{Client: c}, Claim{Session: &Session{URI: "ahp-session:/s"}}))
	}
	s.refused(terminal.Claim(By{Client: s.desk}, Claim{Client: "a"}), errPrivate)
	s.must(terminal.Claim(By{Client: s.desk}, Claim{Client: "login-phone"}))
	s.must(terminal.Claim(By{Client: s.desk}, Claim{Session: &Session{URI: "ahp-session:/mine"}}))
}

// What a token is for comes before the table, and what it may not see before that.
func TestScopes(t *testing.T) {
	s := setUp(t)
	terminal := s.open(s.desk)
	r := s.join(reader, "r")
	w := s.join(Identity{Kind: Program, ID: "W", Name: "writer", Write: true}, "w")
	for _, act := range []string{"type", "resize while nobody shows it", "clear", "rename", "dispose of another's", "change the mode"} {
		for _, err := range perform(s, act, r, terminal) {
			s.refused(err, errReadsOnly)
		}
		for _, err := range perform(s, act, w, terminal) {
			s.refused(err, errCannotRead)
		}
	}
	for door, err := range perform(s, "read", r, terminal) {
		if err != nil {
			t.Errorf("%s: %v", door, err)
		}
	}
	s.refused(terminal.Claim(By{Client: r}, Claim{Client: "r"}), errReadsOnly)
	_, err := s.m.Create(By{Client: r}, ptymgr.Spec{Command: "cat"}, nil)
	s.refused(err, errReadsOnly)
	_, err = s.m.Create(By{Client: w}, ptymgr.Spec{Command: "cat"}, nil)
	s.refused(err, errCannotRead)
	_, err = s.m.List(w)
	s.refused(err, errCannotRead)
	s.mode(terminal, Private)
	for _, act := range []string{"read", "type", "clear", "rename", "dispose of another's", "change the mode"} {
		for _, err := range perform(s, act, r, terminal) {
			s.notFound(err)
		}
	}
}
