package files

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/message"
)

// keptShare is the part of the room for boot files, one of so many, that files of earlier
// images may have together with those that are needed now. The rest is for the next image:
// a rack that is full of old ones could boot nothing new.
const keptShare = 2

// keptFiles counts the files of earlier images.
type keptFiles struct{ kept, left int }

// pins are the files that stay on disk whatever room is needed. It counts those of earlier
// images that are here, as a prometheus.Collector.
type pins struct {
	cfg  *Config
	desc *prometheus.Desc

	pinned map[string]bool // digests; used by keep only

	mu   sync.Mutex
	kept keptFiles // of those, and of what there was no room for
}

func newPins(cfg *Config) *pins {
	p := &pins{cfg: cfg, desc: prometheus.NewDesc("rackboot_agent_earlier_boot_files",
		"Files of earlier boot images of server groups that are on disk, by whether they are kept or may be removed to make room.", []string{"state"}, nil)}
	cfg.Registerer.MustRegister(p)
	return p
}

// keep pins the files that are needed, and those of earlier images that it adds to them. The
// others are free.
func (p *pins) keep(want *message.KeepIntent, files map[string]bool) {
	kept := p.earlier(want, files)
	p.mu.Lock()
	p.kept = kept
	p.mu.Unlock()
	for digest := range files {
		if !p.pinned[digest] {
			p.note(p.cfg.Blobs.Pin(digest))
		}
	}
	for digest := range p.pinned {
		if !files[digest] {
			p.note(p.cfg.Blobs.Unpin(digest))
		}
	}
	p.pinned = files
}

func (p *pins) note(err error) {
	if err != nil {
		p.cfg.Logger.Error("boot files", "err", err)
	}
}

// earlier adds to the files that are pinned those that a return to an earlier image would
// need. Of the older ones it takes what is there, in the hub's order, until there is no
// room; the rest goes when room is needed, least recently used first.
func (p *pins) earlier(want *message.KeepIntent, files map[string]bool) (n keptFiles) {
	if want == nil {
		return n
	}
	blobs := p.cfg.Blobs
	room := blobs.Capacity() / keptShare
	for _, digest := range want.Always {
		if _, there := blobs.Size(digest); there && !files[digest] {
			n.kept++
		}
		files[digest] = true // also one that comes later
	}
	for digest := range files {
		size, _ := blobs.Size(digest)
		room -= size
	}
	for _, digest := range want.Older {
		size, there := blobs.Size(digest)
		switch {
		case !there || files[digest]:
		case size > room:
			n.left++
		default:
			room, files[digest] = room-size, true
			n.kept++
		}
	}
	return n
}

// Describe implements prometheus.Collector.
func (p *pins) Describe(ch chan<- *prometheus.Desc) { ch <- p.desc }

// Collect implements prometheus.Collector.
func (p *pins) Collect(ch chan<- prometheus.Metric) {
	p.mu.Lock()
	n := p.kept
	p.mu.Unlock()
	ch <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, float64(n.kept), "kept")
	ch <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, float64(n.left), "left")
}

var _ prometheus.Collector = (*pins)(nil)
