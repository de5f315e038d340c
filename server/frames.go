package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tandem/ptymgr"
	"tandem/sharing"
)

// controlFrame is a text frame from a client, of a known type.
type controlFrame struct {
	Type       string
	Cols, Rows int
	Offset     int64
	Visible    bool
	Data       string
}

// parseControl reads a text frame. Of an unknown type only the type is read; an error says what is wrong.
func parseControl(p []byte) (controlFrame, error) {
	var fields struct {
		Type    *string         `json:"type"`
		Cols    json.RawMessage `json:"cols"`
		Rows    json.RawMessage `json:"rows"`
		Offset  json.RawMessage `json:"offset"`
		Visible json.RawMessage `json:"visible"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(p, &fields); err != nil || fields.Type == nil {
		return controlFrame{}, errors.New(`text frames are JSON objects with a "type"`)
	}
	frame := controlFrame{Type: *fields.Type}
	switch frame.Type {
	case "resize":
		return frame, errors.Join(
			field(fields.Cols, "cols", "a whole number", &frame.Cols),
			field(fields.Rows, "rows", "a whole number", &frame.Rows))
	case "ack":
		return frame, field(fields.Offset, "offset", "a whole number", &frame.Offset)
	case "visible":
		return frame, field(fields.Visible, "visible", "true or false", &frame.Visible)
	case "answer":
		return frame, field(fields.Data, "data", "a string", &frame.Data)
	}
	return frame, nil
}

func field(raw json.RawMessage, name, want string, into any) error {
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, into) != nil {
		return fmt.Errorf("%s must be %s", name, want)
	}
	return nil
}

// reply is a text frame that answers a client's.
type reply struct {
	Type  string `json:"type"`            // "pong" or "error"
	Title string `json:"title,omitempty"` // what was wrong
	Code  string `json:"code,omitempty"`  // "input_full", "exited", "read_only" or "refused", where a client may act on it
}

func errorFrame(err error) reply {
	r := reply{Type: "error", Title: err.Error()}
	switch {
	case errors.Is(err, ptymgr.ErrInputFull):
		r.Code = "input_full"
	case errors.Is(err, ptymgr.ErrExited):
		r.Code = "exited"
	case errors.Is(err, ptymgr.ErrReadOnly):
		r.Code = "read_only"
	case errors.As(err, new(*sharing.Refusal)):
		r.Code = "refused"
	}
	return r
}

// eventFrame returns the text frame for an event other than output.
func eventFrame(ev ptymgr.Event) any {
	type sized struct {
		Type string `json:"type"`
		Cols int    `json:"cols"`
		Rows int    `json:"rows"`
	}
	type placed struct {
		Type   string `json:"type"`
		Offset int64  `json:"offset"`
		Replay bool   `json:"replay,omitempty"`
	}
	switch ev.Kind {
	case ptymgr.EventReady:
		return struct {
			placed
			Cols     int  `json:"cols"`
			Rows     int  `json:"rows"`
			Writable bool `json:"writable"`
		}{placed{Type: "ready", Offset: ev.Offset}, ev.Size.Cols, ev.Size.Rows, ev.Writable}
	case ptymgr.EventReset:
		return placed{"reset", ev.Offset, ev.Replay}
	case ptymgr.EventLive:
		return placed{Type: "live", Offset: ev.Offset}
	case ptymgr.EventResize:
		return sized{"resize", ev.Size.Cols, ev.Size.Rows}
	case ptymgr.EventCleared:
		return placed{Type: "cleared", Offset: ev.Offset}
	case ptymgr.EventTitle:
		return struct {
			Type  string `json:"type"`
			Title string `json:"title"`
			Cwd   string `json:"cwd"`
		}{"title", ev.Title, ev.Dir}
	case ptymgr.EventWritable:
		return struct {
			Type     string `json:"type"`
			Writable bool   `json:"writable"`
		}{"writable", ev.Writable}
	case ptymgr.EventCommand:
		return commandFrame(ev.Command)
	case ptymgr.EventExit:
		return struct {
			Type   string `json:"type"`
			Code   int    `json:"code"`
			Signal string `json:"signal,omitempty"`
		}{"exit", ev.Exit.Code, ev.Exit.Signal}
	}
	panic(fmt.Sprintf("server: event kind %d has no frame", ev.Kind))
}

// commandFrame returns the text frame for a command that started or finished. One that finished has an exit code, which
// is null if unknown.
func commandFrame(c *ptymgr.Command) any {
	if c.End < 0 {
		return struct {
			Type    string    `json:"type"`
			ID      string    `json:"id"`
			Line    string    `json:"line"`
			Cwd     string    `json:"cwd"`
			Started time.Time `json:"started"`
			Offset  int64     `json:"offset"`
		}{"command", c.ID, c.Line, c.Dir, c.Started.UTC().Truncate(time.Millisecond), c.Start}
	}
	return struct {
		Type       string `json:"type"`
		ID         string `json:"id"`
		ExitCode   *int   `json:"exit_code"`
		DurationMs int64  `json:"duration_ms"`
		Offset     int64  `json:"offset"`
	}{"command", c.ID, c.Exit, c.Duration.Milliseconds(), c.End}
}
