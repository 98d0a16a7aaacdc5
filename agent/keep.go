package agent

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/message"
)

// keptShare is the part of the room for boot files, one of so many, that files of earlier
// images may have together with those that are needed now. The rest is for the next image:
// a rack that is full of old ones could boot nothing new.
const keptShare = 2

// keptFiles counts the files of earlier images.
type keptFiles struct{ kept, left int }

// keep adds to the files that are pinned those that a return to an earlier image would
// need. Of the older ones it takes what is there, in the hub's order, until there is no
// room; the rest goes when room is needed, least recently used first.
func (f *fetcher) keep(want *message.KeepIntent, files map[string]bool) {
	f.kept = keptFiles{}
	if want == nil {
		return
	}
	blobs := f.agent.cfg.Blobs
	room := blobs.Capacity() / keptShare
	for _, digest := range want.Always {
		if _, there := blobs.Size(digest); there && !files[digest] {
			f.kept.kept++
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
			f.kept.left++
		default:
			room, files[digest] = room-size, true
			f.kept.kept++
		}
	}
}

// keptMetrics counts the files of earlier images that are here.
type keptMetrics struct {
	fetch *fetcher
	desc  *prometheus.Desc
}

func newKeptMetrics(reg prometheus.Registerer, f *fetcher) {
	reg.MustRegister(&keptMetrics{f, prometheus.NewDesc("rackboot_agent_earlier_boot_files",
		"Files of earlier boot images of server groups that are on disk, by whether they are kept or may be removed to make room.", []string{"state"}, nil)})
}

// Describe implements prometheus.Collector.
func (m *keptMetrics) Describe(ch chan<- *prometheus.Desc) { ch <- m.desc }

// Collect implements prometheus.Collector.
func (m *keptMetrics) Collect(ch chan<- prometheus.Metric) {
	m.fetch.mu.Lock()
	n := m.fetch.kept
	m.fetch.mu.Unlock()
	ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(n.kept), "kept")
	ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(n.left), "left")
}

var _ prometheus.Collector = (*keptMetrics)(nil)
