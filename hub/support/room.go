package support

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/redact"
)

// maxMetrics bounds the metrics in bytes, so that the answer stays one that a client takes: with the series of
// single servers they are longer at a large hub.
const maxMetrics = 8 << 20

// Config is what the room tells.
type Config struct {
	Version   string // of the hub
	StartedAt time.Time
	// File is the hub's file as it is in force, as JSON.
	File  func() ([]byte, error)
	Lines *Lines
	// Metrics has what is on the metrics page.
	Metrics prometheus.Gatherer
}

// Room tells what the hub knows of itself. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a room.
func New(cfg Config) *Room { return &Room{cfg} }

// Support is the hub as it is now, without secrets. An error is of the metrics or of the file.
func (r *Room) Support() (out api.HubSupport, err error) {
	out = api.HubSupport{Version: r.cfg.Version, StartedAt: r.cfg.StartedAt, Log: r.cfg.Lines.Text()}
	file, err := r.cfg.File()
	if err != nil {
		return out, err
	}
	if out.Config, err = redact.New().JSON(file); err != nil {
		return out, err
	}
	families, err := r.cfg.Metrics.Gather()
	if err != nil {
		return out, protocol.Errorf(protocol.CodeInternal, "gather metrics", "%w", err)
	}
	var b strings.Builder
	for _, f := range families {
		before := b.Len()
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return out, protocol.Errorf(protocol.CodeInternal, "write metrics", "%w", err)
		}
		if b.Len() > maxMetrics {
			out.Metrics = b.String()[:before]
			out.MetricsCut = true
			return out, nil
		}
	}
	out.Metrics = b.String()
	return out, nil
}
