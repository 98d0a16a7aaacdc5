package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/decide"
)

// What became of inserting or ejecting, as the metric counts it.
const (
	mediaDone     = "done"
	mediaOccupied = "occupied"
	mediaBusy     = "busy"
	mediaFailed   = "failed"
)

func newMediaActions() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_media_actions_total", Help: "Images of virtual media that BMCs were told to insert or eject, by what became of it.",
	}, []string{"action", "result"})
	for _, k := range []decide.ActionKind{decide.ActInsert, decide.ActEject} {
		for _, r := range []string{mediaDone, mediaOccupied, mediaBusy, mediaFailed} {
			v.WithLabelValues(string(k), r)
		}
	}
	return v
}

// mediaActed counts what became of it.
func (m *metrics) mediaActed(k decide.ActionKind, r *decide.Result, err error) {
	result := mediaDone
	busy, _ := pause(err)
	switch {
	case r.Occupied:
		result = mediaOccupied
	case busy:
		result = mediaBusy
	case err != nil:
		result = mediaFailed
	}
	m.media.WithLabelValues(string(k), result).Inc()
}
