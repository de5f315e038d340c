package wire

import "fmt"

// Codes of errors: those of JSON-RPC 2.0, then AHP's.
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
	UnsupportedProtocolVersion = -32005 // Data is UnsupportedVersionData
	ContentNotFound            = -32006
	AuthRequired               = -32007
	NotFound                   = -32008
	PermissionDenied           = -32009
	AlreadyExists              = -32010
	Conflict                   = -32011
)

// Error is the error of a response.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// UnsupportedVersionData is the Data of UnsupportedProtocolVersion.
type UnsupportedVersionData struct {
	SupportedVersions []string `json:"supportedVersions"` // ranges
}
