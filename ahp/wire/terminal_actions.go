package wire

// TerminalData is output. Only hosts send it.
type TerminalData struct {
	Data string `json:"data"`
}

// TerminalOutput is output of a terminal that runs at a client. Only that client sends it, and others are told TerminalData.
type TerminalOutput struct {
	Data string `json:"data"`
}

// TerminalInput is what is typed. It changes no state.
type TerminalInput struct {
	Data string `json:"data"`
}

// TerminalResized is a terminal's size, in cells.
type TerminalResized struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// TerminalClaimed gives a terminal to another holder.
type TerminalClaimed struct {
	Claim Claim `json:"claim"`
}

// TerminalTitleChanged names a terminal.
type TerminalTitleChanged struct {
	Title string `json:"title"`
}

// TerminalCwdChanged is a terminal's working directory. Only hosts send it.
type TerminalCwdChanged struct {
	Cwd string `json:"cwd"` // URI
}

// TerminalExited says that a terminal's program has ended. Only hosts send it, and clients of terminals that run there.
type TerminalExited struct {
	ExitCode *int `json:"exitCode,omitempty"` // nil if there is none
}

// TerminalCleared drops all content that was there before.
type TerminalCleared struct{}

// TerminalCommandDetectionAvailable says that commands will be told apart from here on. Only hosts send it.
type TerminalCommandDetectionAvailable struct{}

// TerminalCommandExecuted starts a command: what follows is its output. Only hosts send it.
type TerminalCommandExecuted struct {
	CommandID   string `json:"commandId"` // unique in the terminal
	CommandLine string `json:"commandLine"`
	Timestamp   int64  `json:"timestamp"` // Unix time, in milliseconds
}

// TerminalCommandFinished ends a command. Only hosts send it.
type TerminalCommandFinished struct {
	CommandID  string `json:"commandId"`
	ExitCode   *int   `json:"exitCode,omitempty"`   // nil if the shell did not say
	DurationMs *int64 `json:"durationMs,omitempty"` // nil if not known
}

// The types of the actions on the wire.
func (TerminalData) Type() string                      { return "terminal/data" }
func (TerminalOutput) Type() string                    { return "terminal/output" }
func (TerminalInput) Type() string                     { return "terminal/input" }
func (TerminalResized) Type() string                   { return "terminal/resized" }
func (TerminalClaimed) Type() string                   { return "terminal/claimed" }
func (TerminalTitleChanged) Type() string              { return "terminal/titleChanged" }
func (TerminalCwdChanged) Type() string                { return "terminal/cwdChanged" }
func (TerminalExited) Type() string                    { return "terminal/exited" }
func (TerminalCleared) Type() string                   { return "terminal/cleared" }
func (TerminalCommandDetectionAvailable) Type() string { return "terminal/commandDetectionAvailable" }
func (TerminalCommandExecuted) Type() string           { return "terminal/commandExecuted" }
func (TerminalCommandFinished) Type() string           { return "terminal/commandFinished" }

func readTerminalData(o *object) Action   { return TerminalData{required(o, "data", text)} }
func readTerminalOutput(o *object) Action { return TerminalOutput{required(o, "data", text)} }
func readTerminalInput(o *object) Action  { return TerminalInput{required(o, "data", text)} }

func readTerminalResized(o *object) Action {
	return TerminalResized{Cols: required(o, "cols", integer), Rows: required(o, "rows", integer)}
}

func readTerminalClaimed(o *object) Action { return TerminalClaimed{required(o, "claim", claim)} }

func readTerminalTitleChanged(o *object) Action {
	return TerminalTitleChanged{required(o, "title", text)}
}

func readTerminalCwdChanged(o *object) Action { return TerminalCwdChanged{required(o, "cwd", text)} }
func readTerminalExited(o *object) Action     { return TerminalExited{optional(o, "exitCode", integer)} }
func readTerminalCleared(*object) Action      { return TerminalCleared{} }

func readTerminalCommandDetectionAvailable(*object) Action {
	return TerminalCommandDetectionAvailable{}
}

func readTerminalCommandExecuted(o *object) Action {
	return TerminalCommandExecuted{
		CommandID: required(o, "commandId", text), CommandLine: required(o, "commandLine", text),
		Timestamp: required(o, "timestamp", count),
	}
}

func readTerminalCommandFinished(o *object) Action {
	return TerminalCommandFinished{
		CommandID: required(o, "commandId", text), ExitCode: optional(o, "exitCode", integer),
		DurationMs: optional(o, "durationMs", count),
	}
}
