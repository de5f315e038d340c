package wire

// Error is a JSON-RPC error object. It is a Go error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// The codes of errors: JSON-RPC's own, and AHP's.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
	Internal       = -32603

	SessionNotFound            = -32001
	ProviderNotFound           = -32002
	SessionAlreadyExists       = -32003
	TurnInProgress             = -32004
	UnsupportedProtocolVersion = -32005 // Data has supportedVersions
	ContentNotFound            = -32006
	AuthRequired               = -32007
	NotFound                   = -32008
	PermissionDenied           = -32009
	AlreadyExists              = -32010
	Conflict                   = -32011
)

// invalid returns an error that says what is wrong with a request's params.
func invalid(message string) *Error { return &Error{Code: InvalidParams, Message: message} }
