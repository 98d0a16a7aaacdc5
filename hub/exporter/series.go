package exporter

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// metric is a metric of the hub.
type metric struct {
	*prometheus.Desc
	// names are its labels, by name as a page has them, and from says which of the values that are given is each one's.
	names []string
	from  []int
}

// desc is a metric of the hub, with labels in the order in which their values are given.
func desc(name, help string, labels ...string) *metric {
	m := &metric{Desc: prometheus.NewDesc("rackboot_"+name, help, labels, nil), names: slices.Sorted(slices.Values(labels))}
	for _, l := range m.names {
		m.from = append(m.from, slices.Index(labels, l))
	}
	return m
}

// series is one series of one scrape: a gauge.
type series struct {
	of     *metric
	labels []*dto.LabelPair
	value  float64
}

// Desc implements prometheus.Metric.
func (s *series) Desc() *prometheus.Desc { return s.of.Desc }

// Write implements prometheus.Metric.
func (s *series) Write(out *dto.Metric) error {
	out.Label, out.Gauge = s.labels, &dto.Gauge{Value: &s.value}
	return nil
}

// page is where the series of one scrape are. A fleet has hundreds of thousands, and each would be ten allocations by
// itself.
type page struct {
	series []series
	pairs  []dto.LabelPair
	refs   []*dto.LabelPair
	values []string
}

// room is how many of each are made at once.
const room = 1024

// put makes a series. The values are as many as the metric has labels.
func (p *page) put(m *metric, v float64, values []string) *series {
	n := len(m.names)
	if len(values) != n {
		panic("exporter: " + m.String() + " is given other labels than it has")
	}
	if len(p.series) == cap(p.series) {
		p.series = make([]series, 0, room)
	}
	if cap(p.pairs)-len(p.pairs) < n {
		p.pairs, p.refs, p.values = make([]dto.LabelPair, 0, room), make([]*dto.LabelPair, 0, room), make([]string, 0, room)
	}
	at := len(p.pairs)
	p.pairs, p.values = p.pairs[:at+n], append(p.values, values...)
	for i := range n {
		pair := &p.pairs[at+i]
		pair.Name, pair.Value = &m.names[i], &p.values[at+m.from[i]]
		p.refs = append(p.refs, pair)
	}
	p.series = append(p.series, series{m, p.refs[at : at+n : at+n], v})
	return &p.series[len(p.series)-1]
}
