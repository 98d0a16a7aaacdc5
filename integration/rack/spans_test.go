package rack

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	otlptrace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"rackboot/agent/otlp"
	"rackboot/agent/trace"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// spans starts what sends to the collector; without one they go nowhere.
func (s setup) spans() (to trace.Spans, flush func(), err error) {
	if s.Collector == "" {
		return nil, func() {}, nil
	}
	at, err := url.Parse(s.Collector)
	if err != nil {
		return nil, nil, err
	}
	e := otlp.New(otlp.Config{Endpoint: at, Resource: otlp.Resource{Agent: agentID, Rack: "rack-a", Version: "test"}, Logger: s.log, Registerer: prometheus.NewRegistry()})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { e.Run(ctx); close(done) }()
	return e, func() { cancel(); <-done }, nil
}

// spanStore is a collector, which keeps what it gets.
type spanStore struct {
	mu    sync.Mutex
	spans []*otlptrace.Span
	came  chan struct{} // has room for one
}

func newSpanStore(t *testing.T) (s *spanStore, at string) {
	t.Helper()
	s = &spanStore{came: make(chan struct{}, 1)}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, srv.URL
}

func (s *spanStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var m collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &m)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range m.ResourceSpans {
		for _, sc := range of.ScopeSpans {
			s.spans = append(s.spans, sc.Spans...)
		}
	}
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// of are the spans of a trace.
func (s *spanStore) of(id []byte) (out []*otlptrace.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sp := range s.spans {
		if bytes.Equal(sp.TraceId, id) {
			out = append(out, sp)
		}
	}
	return out
}

// root waits for the root of a boot by a method, and returns the spans of its trace, the root first.
func (s *spanStore) root(t *testing.T, method protocol.BootTarget) []*otlptrace.Span {
	t.Helper()
	late := time.After(await)
	for {
		s.mu.Lock()
		i := slices.IndexFunc(s.spans, func(sp *otlptrace.Span) bool {
			return sp.Name == "boot" && attributeOf(sp, "rackboot.boot.method") == string(method)
		})
		var root *otlptrace.Span
		if i >= 0 {
			root = s.spans[i]
		}
		s.mu.Unlock()
		if root != nil {
			return s.of(root.TraceId)
		}
		select {
		case <-s.came:
		case <-late:
			t.Fatalf("no span of a boot by %s", method)
		}
	}
}

func attributeOf(s *otlptrace.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// stagesOf wants the stages of a boot below its root, each once, in order, without a gap from its beginning to its end.
func stagesOf(t *testing.T, spans []*otlptrace.Span, want ...resource.AttemptState) {
	t.Helper()
	root := spans[0]
	var names []resource.AttemptState
	at := root.StartTimeUnixNano
	for _, s := range spans[1:] {
		names = append(names, resource.AttemptState(s.Name))
		if !bytes.Equal(s.ParentSpanId, root.SpanId) || s.StartTimeUnixNano != at {
			t.Errorf("%s does not follow the stage before it", s.Name)
		}
		at = s.EndTimeUnixNano
	}
	if !slices.Equal(names, want) || at != root.EndTimeUnixNano || len(root.ParentSpanId) > 0 || root.Status.GetCode() != otlptrace.Status_STATUS_CODE_OK {
		t.Errorf("the stages %v, of %s; want %v", names, root, want)
	}
}

// networkStages and diskStages are those of boots that succeed.
var (
	networkStages = []resource.AttemptState{resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptPowerRequested, resource.AttemptConsumed, resource.AttemptFetched}
	diskStages    = []resource.AttemptState{resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptPowerRequested, resource.AttemptConsumed}
)

// safeBuffer is what is written, by several.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Split(b.b.String(), "\n")
}

// TestBootIsATrace: a first boot and the disk boot after it are a trace each at a collector, with the stages in order, what
// was seen in them, and how it ended. The agent's log and its trace name the same ID. No token is sent.
func TestBootIsATrace(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.socket = filepath.Join(b.dir, "agent.sock")
	var spans *spanStore
	spans, b.spansTo = newSpanStore(t)
	log := &safeBuffer{}
	b.log = slog.New(slog.NewJSONHandler(log, nil))
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot after the installation", 0, diskBoot)
	first, disk := spans.root(t, protocol.TargetUefiHTTP), spans.root(t, protocol.TargetHdd)
	stagesOf(t, first, networkStages...)
	stagesOf(t, disk, diskStages...)
	for key, want := range map[string]string{
		"rackboot.server": b.servers[0].Name, "rackboot.rack": "rack-a", "rackboot.owner.kind": "claim", "rackboot.owner.uid": "claim-uid", "rackboot.owner.name": b.intents[0].Boot.Owner.Name,
		"rackboot.boot.method.observed": "UefiHttp", "rackboot.image.digest": b.image.Digest, "rackboot.outcome": "Succeeded", "rackboot.evidence": "installed", "rackboot.evidence.class": "reported",
	} {
		if got := attributeOf(first[0], key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	for _, want := range []struct {
		stage, source, what string
	}{
		{"Preparing", "redfish", "write override"}, {"PowerRequested", "redfish", "power action"}, {"Consumed", "dhcp", "REQUEST"}, {"Fetched", "report", "installed"},
	} {
		i := slices.IndexFunc(first, func(s *otlptrace.Span) bool { return s.Name == want.stage })
		if i < 0 || !slices.ContainsFunc(first[i].Events, func(e *otlptrace.Span_Event) bool {
			return e.Name == want.source && e.Attributes[0].Value.GetStringValue() == want.what
		}) {
			t.Errorf("in %s there is no %s %s", want.stage, want.source, want.what)
		}
	}
	base, _ := b.servers[0].Boots.Installing()
	_, token, _ := strings.Cut(base, "/b/")
	token, _, _ = strings.Cut(token, "/")
	if text := fmt.Sprint(first, disk); token == "" || strings.Contains(text, token) {
		t.Errorf("the token %q is in %s", token, text)
	}

	id := hex.EncodeToString(first[0].TraceId)
	if tr := b.traceOf("the first boot", func(tr resource.Trace) bool { return tr.Intended == protocol.TargetUefiHTTP }); tr.TraceID != id || attributeOf(first[0], "rackboot.attempt.id") != tr.Attempt {
		t.Errorf("the agent's trace is %s, at the collector it is %s", tr.TraceID, id)
	}
	said := map[string]bool{}
	for _, line := range log.lines() {
		var l map[string]any
		if line == "" || json.Unmarshal([]byte(line), &l) != nil || l["trace_id"] != id {
			continue
		}
		if l["server"] != b.servers[0].Name || l["attempt"] != attributeOf(first[0], "rackboot.attempt.id") {
			t.Errorf("%s does not name server and attempt", line)
		}
		for _, key := range []string{"code", "action"} {
			if word, ok := l[key].(string); ok {
				said[word] = true
			}
		}
	}
	for _, want := range []string{"AttemptBegun", "OverrideArmed", "PowerOnRequested", "BootFileFetched", "Provisioned", "arm", "on"} {
		if !said[want] {
			t.Errorf("no line of the log with the trace ID says %s", want)
		}
	}
}

// TestCollectorHangs: a collector that takes connections and never answers keeps no server from booting, and the agent
// from ending no longer than its deadline.
func TestCollectorHangs(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	asked, over := make(chan struct{}, 8), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-over
	}))
	t.Cleanup(func() { close(over); srv.Close() })
	b.spansTo = srv.URL
	a, stop := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot after the installation", 0, diskBoot)
	select {
	case <-asked:
	case <-time.After(await):
		t.Fatal("the collector was not asked")
	}
	at := time.Now()
	stop()
	if took := time.Since(at); took > await {
		t.Errorf("the agent took %s to end", took)
	}
}
