package agent

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

const (
	// insertTimeout bounds inserting, for which BMCs read from the agent and are slow. The
	// server is Off meanwhile.
	insertTimeout = time.Minute
)

// mediaError says why a server cannot be booted by virtual media.
func (s *server) mediaError(in message.ServerIntent) string {
	if in.Boot.BootPolicy.FirstBoot != resource.FirstBootVirtualMedia {
		return ""
	}
	if can := s.bmc.can.Load(); can != nil && !can.media {
		return "the driver of this BMC has no virtual media"
	}
	if _, err := s.agent.boot.MediaWay(in); err != nil {
		return protocol.Advice(err)
	}
	return ""
}

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

// media inserts or ejects the images of the server's medium, as it is on disk.
func (s *server) media(ctx context.Context, a decide.Action, r *decide.Result) error {
	const op = "virtual media"
	d, ok := s.bmc.driver.(bmc.MediaDriver)
	if !ok {
		return protocol.Errorf(protocol.CodeUnsupported, op, "the driver of this BMC has no virtual media")
	}
	v, err := s.agent.store.Server(s.name)
	if err != nil {
		return err
	}
	m := v.Record.Medium
	if m == nil || m.Attempt != a.Attempt || v.Intent == nil {
		return protocol.Errorf(protocol.CodeConflict, op, "the medium is another one by now")
	}
	way, err := s.agent.boot.MediaWay(v.Intent.ServerIntent)
	if err != nil {
		return err
	}
	if a.Kind == decide.ActEject {
		return veiled(op, d.EjectMedia(ctx, way.Own()), m.Token)
	}
	images := bmc.Media{Boot: way.URL(m.Token, protocol.FileISO), Own: way.Own()}
	if _, ok := s.agent.boot.HostBase(v.Intent.Segment); ok {
		images.Config = way.URL(m.Token, protocol.FileConfigISO)
	}
	in, err := d.InsertMedia(ctx, images)
	_, r.Occupied = errors.AsType[*bmc.Occupied](err)
	r.Config = in.Config != ""
	return veiled(op, err, m.Token)
}
