package cli

import (
	"io"
	"log/slog"
)

// logFlags say what is logged to standard error, and how.
type logFlags struct {
	LogLevel  slog.Level `default:"info" placeholder:"LEVEL" help:"What to log: debug, info, warn or error (info)."`
	LogFormat string     `default:"text" enum:"text,json" placeholder:"FORMAT" help:"How to log: text or json (text)."`
}

func (f *logFlags) logger(out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.LogLevel}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}
