package ptymgr

import (
	"math"

	"tandem/ptymgr/vt"
)

// tenure is a stretch of the log whose queries a viewer answers: those in it are sent to that viewer as they are, and
// masked for everybody else.
type tenure struct{ from, to int64 }

// appointAnswerer makes the visible, writable viewer that typed last the one that answers queries from the end of the
// log on; before anybody typed, the one that first said its size, which only terminals do. log.mu is held.
func (t *Terminal) appointAnswerer() {
	var best *Viewer
	for v := range t.pacing.viewers {
		if v.visible && v.writable && !v.program && !v.paused && (v.typed > 0 || v.size.Cols > 0) && (best == nil || v.answersBefore(best)) {
			best = v
		}
	}
	if best == t.answerer {
		return
	}
	if t.answerer != nil {
		t.answerer.endTenure(t.log.clean)
	}
	if best != nil {
		best.tenures = append(best.tenures, tenure{t.log.clean, math.MaxInt64})
	}
	t.answerer = best
}

// endTenure ends the viewer's last tenure at offset, and forgets it if nothing was printed meanwhile.
func (v *Viewer) endTenure(offset int64) {
	i := len(v.tenures) - 1
	v.tenures[i].to = offset
	if v.tenures[i].from == offset {
		v.tenures = v.tenures[:i]
	}
}

func (v *Viewer) answersBefore(other *Viewer) bool {
	if v.typed != other.typed {
		return v.typed > other.typed
	}
	return v.attached < other.attached
}

// unmasked reports whether v answers queries at offset, and where that changes next, or end.
func (v *Viewer) unmasked(offset, end int64) (bool, int64) {
	for len(v.tenures) > 0 && v.tenures[0].to <= offset {
		v.tenures = append(v.tenures[:0], v.tenures[1:]...)
	}
	switch {
	case len(v.tenures) == 0:
		return false, end
	case v.tenures[0].from > offset:
		return false, min(end, v.tenures[0].from)
	default:
		return true, min(end, v.tenures[0].to)
	}
}

// serverAnswers are what the server itself answers while no viewer does: what xterm.js would say.
var serverAnswers = map[vt.QueryKind]string{
	vt.QueryDA1:  "\x1b[?1;2c",
	vt.QueryDA2:  "\x1b[>0;276;0c",
	vt.QueryDSR5: "\x1b[0n",
}

// answer answers the queries that were just found, when nobody else will. log.mu is held.
func (t *Terminal) answer(queries []vt.Query) {
	if t.answerer != nil {
		return
	}
	for _, q := range queries {
		if reply := serverAnswers[q.Kind]; reply != "" {
			_ = t.input.push([]byte(reply), maxAnswers) // a full queue means that nobody reads answers
		}
	}
}
