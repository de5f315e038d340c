package server

import (
	"fmt"
	"net/http"

	vm "github.com/VictoriaMetrics/metrics"

	"tandem/ahp"
	"tandem/ptymgr"
	"tandem/sharing"
)

// metrics are what /metrics shows, in Prometheus' text format. No label names a terminal, a login or a command.
type metrics struct{ set *vm.Set }

func newMetrics(terminals *sharing.Manager, host *ahp.Host) *metrics {
	set := vm.NewSet()
	gauge := func(name string, value func(ptymgr.Stats) float64) {
		set.NewGauge(name, func() float64 { return value(terminals.Stats()) })
	}
	gauge("tandem_terminals", func(s ptymgr.Stats) float64 { return float64(s.Live) })
	gauge("tandem_viewers", func(s ptymgr.Stats) float64 { return float64(s.Viewers) })
	gauge("tandem_output_bytes_total", func(s ptymgr.Stats) float64 { return float64(s.OutputBytes) })
	gauge("tandem_input_bytes_total", func(s ptymgr.Stats) float64 { return float64(s.InputBytes) })
	gauge("tandem_resyncs_total", func(s ptymgr.Stats) float64 { return float64(s.Resyncs) })
	gauge("tandem_pauses_total", func(s ptymgr.Stats) float64 { return float64(s.Pauses) })
	set.NewGauge("tandem_ahp_connections", func() float64 { return float64(host.Stats().Connections) })
	set.NewGauge("tandem_ahp_subscriptions", func() float64 { return float64(host.Stats().Subscriptions) })
	set.NewGauge("tandem_ahp_resyncs_total", func() float64 { return float64(host.Stats().Resyncs) })
	return &metrics{set}
}

// attachError counts an upgrade to a terminal's socket that was refused, and why: "since", "ticket", "terminal" or
// "upgrade".
func (m *metrics) attachError(reason string) {
	m.set.GetOrCreateCounter(fmt.Sprintf("tandem_attach_errors_total{reason=%q}", reason)).Inc()
}

// closed counts a terminal's socket that ended with this code; -1 stands for none, a connection that broke.
func (m *metrics) closed(code int) {
	if code < 1000 || code > 1015 && code != int(closeLoginEnded) {
		code = -1 // peers may send any number: only the known ones become labels
	}
	m.set.GetOrCreateCounter(fmt.Sprintf("tandem_socket_closes_total{code=\"%d\"}", code)).Inc()
}

func (m *metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	m.set.WritePrometheus(w)
	vm.WriteProcessMetrics(w)
}
