package control

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/exporter"
	"rackboot/hub/reports"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// tells has an agent report where its metrics page is.
func (b *bench) tells(agent string, at protocol.MetricsAddress) {
	b.t.Helper()
	b.known(agent)
	b.seq[agent]++
	b.says(agent, message.LeafReport, message.Report{Agent: agent, Session: "s", Incarnation: "i", Seq: b.seq[agent], At: b.now, Shards: 1, Metrics: at})
}

// targets asks as Prometheus does.
func (b *bench) targets() (status int, all []exporter.Target) {
	b.t.Helper()
	path, serve := b.control.Targets()
	w := httptest.NewRecorder()
	serve(w, httptest.NewRequest(http.MethodGet, path, nil))
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		b.t.Errorf("Content-Type %q", got)
	}
	if w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || all == nil {
			b.t.Fatalf("%s: %v", w.Body, err)
		}
	}
	return w.Code, all
}

// TestTargets: Prometheus is given the metrics page of each agent that says where it is. While agents were not heard since the
// hub was started, it is told to keep the list that it has; one that stays silent is not waited for.
func TestTargets(t *testing.T) {
	b, agent := joined(t)
	if status, _ := b.targets(); status != http.StatusServiceUnavailable {
		t.Errorf("%d before the agent was heard", status)
	}
	b.tells(agent, "agent-1.example.com:9641")
	want := []exporter.Target{{Targets: []string{"agent-1.example.com:9641"}, Labels: map[string]string{"rack": "r1", "agent": agent, "role": "active"}}}
	if status, got := b.targets(); status != http.StatusOK || !cmp.Equal(want, got) {
		t.Errorf("%d, %s", status, cmp.Diff(want, got))
	}
	a := &resource.Agent{Header: resource.Header{Metadata: resource.Metadata{Name: agent}}}
	if b.control.Status.Decorate(a); a.Status.Metrics != "agent-1.example.com:9641" {
		t.Errorf("status %+v", a.Status)
	}
	for _, at := range []protocol.MetricsAddress{"", "0.0.0.0:9641", "http://x/", "a:1\n", "x:99999"} {
		b.tells(agent, at)
		if status, got := b.targets(); status != http.StatusOK || len(got) != 0 {
			t.Errorf("%q: %d, %v", string(at), status, got)
		}
		if b.control.Status.Decorate(a); a.Status.Metrics != "" {
			t.Errorf("%q is shown as %q", string(at), a.Status.Metrics)
		}
	}
	b.tells(agent, "10.20.0.2:9641")
	b.now = b.now.Add(time.Hour)
	if _, got := b.targets(); len(got) != 1 {
		t.Errorf("silent, it is left out: %v", got)
	}
}

// TestTargetsOfASilentAgent: an agent that is not heard after the hub was started does not keep the others from Prometheus.
func TestTargetsOfASilentAgent(t *testing.T) {
	b, _ := joined(t)
	b.now = b.now.Add(reports.DarkAfter + time.Second)
	if status, got := b.targets(); status != http.StatusOK || len(got) != 0 {
		t.Errorf("%d, %v", status, got)
	}
}
