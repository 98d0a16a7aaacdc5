package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/bmc"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

const (
	// insertTimeout bounds inserting, for which BMCs read from the agent and are slow. The
	// server is Off meanwhile.
	insertTimeout = time.Minute
	// mediumLoads is more than firmware and BMC read of an image to find out what it is, in
	// bytes, and less than any kernel.
	mediumLoads = 4 << 20
)

// mediaWay is how a BMC reaches the images of its servers.
type mediaWay struct {
	base string // scheme and authority
	// private says that what is fetched is read by nobody else: by HTTPS, or because the
	// agent's own file says so of the segment.
	private bool
}

// mediaWay is the way of a server's BMC: an address of its own on the BMC's segment, and
// that of the segment that the server boots from otherwise.
func (a *Agent) mediaWay(in message.ServerIntent) (mediaWay, error) {
	seg, base := baseFor(in.BMC.Address, in.Segment, a.index.served(a.cfg.Segments))
	if base == "" {
		return mediaWay{}, protocol.Errorf(protocol.CodeUnsupported, "find the way of virtual media", "no segment of BMC %s has an HTTP server of this agent", in.BMC.Name).
			WithHint("add the Segment that the BMC is on, of role bmc or both, to the rack and to the agent's file")
	}
	i := slices.IndexFunc(a.cfg.Segments, func(l LocalSegment) bool { return l.Name == seg })
	return mediaWay{base: base, private: strings.HasPrefix(base, "https://") || i >= 0 && a.cfg.Segments[i].TrustedMedia}, nil
}

func (w mediaWay) url(token, name string) string { return netboot.BootURL(w.base, token, name) }

// own begins the URLs of all images of this agent.
func (w mediaWay) own() string { return w.base + netboot.PathPrefix }

// served are the segments that are in force and that the agent's own file names.
func (x *index) served(local []LocalSegment) (out []resource.SegmentIntent) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, l := range local {
		if s, ok := x.segments[l.Name]; ok && x.synced {
			out = append(out, s)
		}
	}
	return out
}

// mediaError says why a server cannot be booted by virtual media.
func (s *server) mediaError(in message.ServerIntent) string {
	if in.Boot.BootPolicy.FirstBoot != resource.FirstBootVirtualMedia {
		return ""
	}
	if can := s.bmc.can.Load(); can != nil && !can.media {
		return "the driver of this BMC has no virtual media"
	}
	if _, err := s.agent.mediaWay(in); err != nil {
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
	way, err := s.agent.mediaWay(v.Intent.ServerIntent)
	if err != nil {
		return err
	}
	if a.Kind == decide.ActEject {
		return veiled(op, d.EjectMedia(ctx, way.own()), m.Token)
	}
	images := bmc.Media{Boot: way.url(m.Token, protocol.FileISO), Own: way.own()}
	if _, ok := s.agent.hostBase(v.Intent.Segment); ok {
		images.Config = way.url(m.Token, protocol.FileConfigISO)
	}
	in, err := d.InsertMedia(ctx, images)
	_, r.Occupied = errors.AsType[*bmc.Occupied](err)
	r.Config = in.Config != ""
	return veiled(op, err, m.Token)
}

// hostBase is what the host of a segment finds the agent by.
func (a *Agent) hostBase(segment string) (string, bool) {
	seg, ok := a.index.Segment(segment)
	if !ok {
		return "", false
	}
	base, err := netboot.BaseURL(seg)
	return base, err == nil
}

// openMedium opens an image of a medium for the BMC.
func (b *boots) openMedium(remote netip.Addr, server string, e indexed, name string) (*netboot.File, error) {
	const op = "open medium"
	if !decide.MayReadMedium(e.held, e.missing, e.attempt, e.medium, e.medium.Token) {
		return nil, protocol.Errorf(protocol.CodeDenied, op, "the medium of %s is not served now", server)
	}
	s, ok := b.agent.loops.of(server)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s has no loop yet", server)
	}
	switch name {
	case protocol.FileISO:
		if a := e.attempt; a.Open() && !a.OnSent.IsZero() && !a.Served && !b.isHost(remote) {
			// From here on nobody must guess whether the server has it.
			if err := s.fold(decide.Event{Begun: true, Token: a.Token, At: b.agent.cfg.Clock()}); err != nil {
				return nil, err
			}
		}
		f, size, err := b.agent.cfg.Blobs.Open(e.medium.Blob)
		if err != nil {
			return nil, err
		}
		token := e.medium.Token
		return &netboot.File{
			ReadSeekCloser: f, Size: size, ModTime: e.attempt.At, ContentType: netboot.ContentType(name), ETag: fmt.Sprintf("%q", e.medium.Blob),
			Sent: func(bytes int64, whole bool) { b.mediumSent(s, remote, token, size, bytes, whole) },
		}, nil
	case protocol.FileConfigISO:
		content, err := b.configISO(server, e)
		if err != nil {
			return nil, err
		}
		return &netboot.File{
			ReadSeekCloser: text{bytes.NewReader(content)}, Size: int64(len(content)), ModTime: e.attempt.At,
			ContentType: netboot.ContentType(name), ETag: fmt.Sprintf("%q", fmt.Sprintf("sha256:%x", sha256.Sum256(content))),
			Sent: func(int64, bool) {},
		}, nil
	}
	return nil, protocol.Errorf(protocol.CodeNotFound, op, "the medium has no %s", name)
}

// isHost says whether an address is leased to a server. What a host reads is no evidence
// of what its BMC did.
func (b *boots) isHost(remote netip.Addr) bool {
	client, ok := b.leased.of(remote, b.agent.cfg.Clock())
	if !ok {
		return false
	}
	_, host := b.agent.index.server(client)
	return host
}

// mediumSent takes that a part of a boot image was sent to whoever has its token.
func (b *boots) mediumSent(s *server, remote netip.Addr, token string, size, sent int64, whole bool) {
	_, e, ok := b.agent.index.token(token)
	if !ok || e.medium == nil || e.medium.Token != token || !e.attempt.Open() || e.attempt.ID != e.medium.Attempt || b.isHost(remote) {
		return
	}
	now := b.agent.cfg.Clock()
	switch a := e.attempt; {
	case a.OnSent.IsZero():
		if whole && !a.Cached {
			s.saw(decide.Event{Medium: decide.MediumWhole, Token: token, At: now})
		}
	case a.State == resource.AttemptFetched:
	case s.loaded.add(token, sent, min(mediumLoads, max(size/2, 1))):
		s.saw(decide.Event{Kind: protocol.EvidenceFetched, File: protocol.FileISO, Token: a.Token, At: now})
	}
}

// loaded counts what was read of one medium since the power-on.
type loaded struct {
	mu    sync.Mutex
	token string
	bytes int64
}

// add counts, and says whether it is enough to be a boot.
func (l *loaded) add(token string, n, enough int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token != token {
		l.token, l.bytes = token, 0
	}
	l.bytes += n
	return l.bytes >= enough
}
