package sharing

import "strings"

// Kind tells people from programs.
type Kind uint8

// The kinds of Identity.
const (
	Person  Kind = iota // whoever has a login: one person owns the server
	Program             // whoever has a token
)

func (k Kind) String() string {
	if k == Person {
		return "person"
	}
	return "program"
}

// Identity is who a connection was authenticated as. It never comes from what a client says of itself.
type Identity struct {
	Kind        Kind
	ID          string // the login's or the token's
	Name        string // for people to read: of the device, or of the token
	Read, Write bool   // what a program's token is for; a person may do both whatever they say
}

// Key names whose clients and terminals are whose: all logins are one person, and each token is a program of its own.
func (i Identity) Key() string {
	if i.Kind == Person {
		return "person"
	}
	return "program:" + i.ID
}

const (
	loginPrefix = "login-" // of the ids of browsers
	tokenPrefix = "token-" // of the id that stands for a token
)

// ownClient is the id under which a client without one holds terminals.
func (i Identity) ownClient() string {
	if i.Kind == Person {
		return loginPrefix + i.ID
	}
	return tokenPrefix + i.ID
}

// mayBeCalled reports whether the identity's clients may have this id: those that name a login or a token are its own.
func (i Identity) mayBeCalled(client string) bool {
	switch {
	case strings.HasPrefix(client, loginPrefix):
		return i.Kind == Person
	case strings.HasPrefix(client, tokenPrefix):
		return i.Kind == Program && client == i.ownClient()
	default:
		return true
	}
}

// reads and writes report what the identity may do at all.
func (i Identity) reads() bool  { return i.Kind == Person || i.Read }
func (i Identity) writes() bool { return i.Kind == Person || i.Write }
