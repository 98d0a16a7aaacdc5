package tftp

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/guard"
)

// What can become of a request that was let in, beside the outcomes: the label
// `result` of rackboot_tftp_requests_total. Such a request is counted as serve too.
const (
	requestNotFound = "not_found" // ERROR 1: there is no such file for this client
	requestFailed   = "failed"    // ERROR 0: it could not be opened
	requestMemory   = "memory"    // silence: no room for its blocks
)

type metrics struct {
	requests    *prometheus.CounterVec
	transfers   *prometheus.CounterVec
	bytes       prometheus.Counter
	seconds     prometheus.Histogram
	retransmits prometheus.Counter
	sendErrors  prometheus.Counter
	inFlight    prometheus.GaugeFunc
	buffered    prometheus.GaugeFunc
	waiting     prometheus.GaugeFunc
}

func newMetrics(segment string, b *book) *metrics {
	constant := prometheus.Labels{"segment": segment}
	return &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_tftp_requests_total", ConstLabels: constant,
			Help: "Packets to the TFTP port, by what became of them; those served may be not_found, failed or memory besides.",
		}, []string{"result"}),
		transfers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_tftp_transfers_total", ConstLabels: constant,
			Help: "TFTP transfers that ended, by result; probed is a client that asked for the size only.",
		}, []string{"result"}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_tftp_sent_bytes_total", ConstLabels: constant,
			Help: "Bytes of files that were sent over TFTP, repeated blocks included.",
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "rackboot_tftp_transfer_seconds", ConstLabels: constant,
			Help:    "Time from a TFTP request to the acknowledgement of the last block.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 11), // 1 ms to 17 minutes
		}),
		retransmits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_tftp_retransmits_total", ConstLabels: constant,
			Help: "TFTP blocks that were sent again.",
		}),
		sendErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_tftp_send_errors_total", ConstLabels: constant,
			Help: "TFTP packets that the host could not send.",
		}),
		inFlight: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rackboot_tftp_in_flight_transfers", ConstLabels: constant,
			Help: "TFTP transfers that run.",
		}, func() float64 { n, _ := b.inFlight(); return float64(n) }),
		buffered: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rackboot_tftp_buffered_bytes", ConstLabels: constant,
			Help: "Memory that holds blocks of TFTP transfers.",
		}, func() float64 { _, n := b.inFlight(); return float64(n) }),
		waiting: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rackboot_tftp_waiting_requests", ConstLabels: constant,
			Help: "TFTP requests that wait for a transfer to end.",
		}, func() float64 { return float64(b.inLine()) }),
	}
}

func (m *metrics) all() guard.Collectors {
	return guard.Collectors{m.requests, m.transfers, m.bytes, m.seconds, m.retransmits, m.sendErrors, m.inFlight, m.buffered, m.waiting}
}
