package link

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/message"
)

type metrics struct {
	agents, open, asks     *prometheus.Desc
	guard, copied          *prometheus.Desc
	refused, sent, answers *prometheus.CounterVec
	late                   prometheus.Counter
}

func newMetrics() *metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rackboot_"+name, help, labels, nil)
	}
	m := &metrics{
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_messages_refused_total", Help: "Messages of agents that were not heeded, by reason.",
		}, []string{"reason"}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_messages_sent_total", Help: "Messages to agents, by kind.",
		}, []string{"kind"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_answers_total", Help: "Questions to agents about BMCs that ended, by kind and result.",
		}, []string{"kind", "result"}),
		late: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_hub_answers_late_total", Help: "Answers of agents that nobody waited for.",
		}),
		agents: desc("hub_agents", "Agents that serve a rack, by how far the hub may act towards them.", "stage"),
		open:   desc("hub_documents_unacknowledged", "Documents that were sent and not acknowledged yet."),
		guard:  desc("hub_agent_guard_mode", "1 while the agent of the rack is in guard mode, as far as the hub knows.", "rack"),
		copied: desc("hub_agent_copied", "1 while more than one agent of the rack's disk is known, and it was not heard which goes on.", "rack"),
		asks:   desc("hub_asks_open", "Questions to agents about BMCs that were not answered yet."),
	}
	for _, r := range reasons {
		m.refused.WithLabelValues(string(r))
	}
	for _, k := range sentKinds {
		m.sent.WithLabelValues(k)
	}
	for _, k := range message.AskKinds() {
		for _, r := range results {
			m.answers.WithLabelValues(string(k), string(r))
		}
	}
	return m
}

var sentKinds = []string{message.LeafHold, message.LeafRack, message.LeafSync, message.LeafAsk, kindAnnounce}

const kindAnnounce = "announce"

// count counts a message by its topic.
func (m *metrics) count(topic string) {
	kind := kindAnnounce
	if _, _, leaf, ok := message.SplitTopic(topic); ok {
		kind, _, _ = strings.Cut(leaf, "/")
	}
	m.sent.WithLabelValues(kind).Inc()
}

// result is what became of a question.
type result string

const (
	resultOK     result = "ok"
	resultFailed result = "failed" // the agent says why
	resultNone   result = "none"   // no answer in time
)

var results = []result{resultOK, resultFailed, resultNone}
