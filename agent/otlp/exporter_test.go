package otlp

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"rackboot/agent/bootspan"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

var began = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// boot is one with three spans and one event.
func boot(n int) bootspan.Boot {
	return bootspan.Boot{
		Rack: "r1", Server: "n1", Attempt: fmt.Sprint(n), Code: resource.AttemptNoDHCP, Reason: "it asked\xff nobody",
		Course: []decide.Passage{{State: resource.AttemptPreparing, At: began}, {State: resource.AttemptArmed, At: began.Add(time.Second)}, {State: resource.AttemptFailed, At: began.Add(time.Minute)}},
		Rows:   []resource.TraceRow{{At: began, Source: protocol.TraceRedfish, What: "write override", Detail: "accepted"}},
	}
}

const spansOfBoot = 3

// receiver is a collector.
type receiver struct {
	mu    sync.Mutex
	spans []*trace.Span
	names map[string]string // of the resource
	heads []http.Header
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(req.Body)
	var m collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &m)
	}
	if err != nil || req.Method != http.MethodPost || req.URL.Path != "/otel/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heads, r.names = append(r.heads, req.Header), map[string]string{}
	for _, of := range m.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			r.names[a.Key] = a.Value.GetStringValue()
		}
		for _, sc := range of.ScopeSpans {
			r.spans = append(r.spans, sc.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (r *receiver) got() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.spans)
}

// exporter is one to a collector, with its log. stop ends it.
func exporter(t testing.TB, endpoint string, change func(*Config, *Exporter)) (e *Exporter, log *bytes.Buffer, stop func()) {
	t.Helper()
	at, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	log = &bytes.Buffer{}
	c := Config{
		Endpoint: at, Resource: Resource{Agent: "a1", Rack: "r1", Version: "1.2.3", Host: "h1"},
		Logger: slog.New(slog.NewTextHandler(log, nil)), Registerer: prometheus.NewPedanticRegistry(),
	}
	if change != nil {
		change(&c, nil)
	}
	e = New(c)
	if change != nil {
		change(&c, e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { e.Run(ctx); close(done) }()
	return e, log, func() { cancel(); <-done }
}

// by wants what became of spans.
func (e *Exporter) by(t testing.TB, sent, refused, dropped int) {
	t.Helper()
	for o, want := range map[outcome]int{outcomeSent: sent, outcomeRefused: refused, outcomeDropped: dropped} {
		if got := testutil.ToFloat64(e.spans.WithLabelValues(string(o))); int(got) != want {
			t.Errorf("%v spans were %s, want %d", got, o, want)
		}
	}
}

// A collector gets the spans of a boot by HTTPS, with the headers of the configuration and none of the environment. The
// end of the program sends what waits.
func TestExport(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "from-environment=yes")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://192.0.2.1")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=other")
	r := &receiver{}
	srv := httptest.NewTLSServer(r)
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	e, log, stop := exporter(t, srv.URL+"/otel/", func(c *Config, _ *Exporter) {
		c.TLS, c.Headers = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, http.Header{"Authorization": {"Bearer header-secret"}}
	})
	e.Ended(boot(1))
	stop()
	e.by(t, spansOfBoot, 0, 0)
	if len(r.spans) != spansOfBoot || len(r.heads) != 1 {
		t.Fatalf("%d spans by %d requests; %s", len(r.spans), len(r.heads), log)
	}
	if h := r.heads[0]; h.Get("Authorization") != "Bearer header-secret" || h.Get("From-Environment") != "" || h.Get("User-Agent") != "rackboot-agent/1.2.3" {
		t.Errorf("%v", h)
	}
	if want := map[string]string{"service.name": "rackboot-agent", "service.version": "1.2.3", "service.instance.id": "a1", "host.name": "h1", "rackboot.rack": "r1"}; fmt.Sprint(r.names) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", r.names, want)
	}
	root, stage := r.spans[0], r.spans[1]
	if root.Name != "boot" || len(root.ParentSpanId) != 0 || root.Status.Code != trace.Status_STATUS_CODE_ERROR || root.Status.Message != "it asked\uFFFD nobody" || hex.EncodeToString(root.TraceId) != protocol.BootTraceID("n1", "1") {
		t.Errorf("%v", root)
	}
	if root.StartTimeUnixNano != uint64(began.UnixNano()) || root.EndTimeUnixNano != uint64(began.Add(time.Minute).UnixNano()) {
		t.Errorf("%d to %d", root.StartTimeUnixNano, root.EndTimeUnixNano)
	}
	if stage.Name != "Preparing" || !bytes.Equal(stage.ParentSpanId, root.SpanId) || len(stage.Events) != 1 || stage.Events[0].Name != "redfish" {
		t.Errorf("%v", stage)
	}
	if strings.Contains(log.String(), "header-secret") {
		t.Errorf("a header is in the log: %s", log)
	}
}

// What answers mean, each by a server that gives it. A redirect is not followed: the header would go to another host.
func TestAnswers(t *testing.T) {
	part, err := proto.Marshal(&collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 2, ErrorMessage: "too old"}})
	if err != nil {
		t.Fatal(err)
	}
	followed := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { followed <- r.Header.Get("Authorization") }))
	defer other.Close()
	for _, tt := range []struct {
		name    string
		status  int
		head    map[string]string
		body    string
		verdict verdict
		after   time.Duration
		refused int
		says    string
	}{
		{"taken", 200, map[string]string{"Content-Type": protobuf}, "", verdictTaken, 0, 0, ""},
		{"taken without a type", 202, nil, "", verdictTaken, 0, 0, ""},
		{"taken in part", 200, map[string]string{"Content-Type": protobuf}, string(part), verdictTaken, 0, 2, "too old"},
		{"a page", 200, map[string]string{"Content-Type": "text/html"}, "<html>welcome</html>", verdictRefused, 0, 0, "look at otlp.endpoint"},
		{"garbage", 200, map[string]string{"Content-Type": protobuf}, "\xff\xff\xff\xff", verdictRefused, 0, 0, "look at otlp.endpoint"},
		{"redirect", 307, map[string]string{"Location": other.URL}, "", verdictRefused, 0, 0, "307"},
		{"bad request", 400, nil, "no", verdictRefused, 0, 0, "400 Bad Request"},
		{"no right", 401, nil, "", verdictRefused, 0, 0, "401"},
		{"nothing there", 404, nil, "", verdictRefused, 0, 0, "404"},
		{"too many", 429, map[string]string{"Retry-After": "7"}, "", verdictAgain, 7 * time.Second, 0, "429"},
		{"broken", 500, nil, "", verdictRefused, 0, 0, "500"},
		{"bad gateway", 502, nil, "", verdictAgain, 0, 0, "502"},
		{"away", 503, map[string]string{"Retry-After": "soon"}, "", verdictAgain, 0, 0, "503"},
		{"slow gateway", 504, nil, "", verdictAgain, 0, 0, "504"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for k, v := range tt.head {
				w.Header().Set(k, v)
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}))
		at, _ := url.Parse(srv.URL)
		s := newSender(Config{Endpoint: at, Headers: http.Header{"Authorization": {"secret"}}})
		a := s.send(t.Context(), bootspan.Spans(boot(1)))
		srv.Close()
		if a.verdict != tt.verdict || a.after != tt.after || a.refused != tt.refused || a.status != tt.status || (a.err != nil) != (tt.says != "") || a.err != nil && !strings.Contains(a.err.Error(), tt.says) {
			t.Errorf("%s: %+v", tt.name, a)
		}
		if a := s.send(t.Context(), nil); a.verdict != verdictAgain || a.status != 0 || a.err == nil {
			t.Errorf("%s, and nobody listens: %+v", tt.name, a)
		}
	}
	select {
	case secret := <-followed:
		t.Errorf("a redirect was followed, with the header %q", secret)
	default:
	}
}

// by is a collector in memory.
type by func(*http.Request) (*http.Response, error)

func (f by) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answered(status int, r *http.Request) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}
}

// A collector that hangs, or is away for hours: nobody waits, what waits is bounded, the rest is counted, and the log
// says it once. When it is back, what waited is sent.
func TestCollectorAway(t *testing.T) {
	for name, away := range map[string]func(*http.Request) (*http.Response, error){
		"hangs":     func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
		"refuses":   func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"is loaded": func(r *http.Request) (*http.Response, error) { return answered(http.StatusServiceUnavailable, r), nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				back, asked, largest := false, 0, 0
				e, log, stop := exporter(t, "http://collector.example", func(_ *Config, e *Exporter) {
					if e == nil {
						return
					}
					e.sender.http.Transport = by(func(r *http.Request) (*http.Response, error) {
						raw, _ := io.ReadAll(r.Body)
						var m collector.ExportTraceServiceRequest
						if err := proto.Unmarshal(raw, &m); err != nil {
							return nil, err
						}
						mu.Lock()
						asked++
						largest = max(largest, len(m.ResourceSpans[0].ScopeSpans[0].Spans))
						is := back
						mu.Unlock()
						if is {
							return answered(http.StatusOK, r), nil
						}
						return away(r)
					})
				})
				const boots = 1000
				for n := range boots {
					at := time.Now()
					e.Ended(boot(n))
					if time.Since(at) > 0 {
						t.Fatal("a boot waited")
					}
					time.Sleep(20 * time.Second) // five and a half hours
				}
				synctest.Wait()
				const kept = maxWaiting / spansOfBoot * spansOfBoot
				if e.left() != kept {
					t.Errorf("%d wait, want %d", e.left(), kept)
				}
				e.by(t, 0, 0, boots*spansOfBoot-kept)
				mu.Lock()
				if asked < 100 || asked > 1000 {
					t.Errorf("it was asked %d times", asked)
				}
				back = true
				mu.Unlock()
				time.Sleep(maxPause + patience)
				synctest.Wait()
				e.by(t, kept, 0, boots*spansOfBoot-kept)
				if e.left() != 0 || largest != batch {
					t.Errorf("%d wait, of %d that were sent at once", e.left(), largest)
				}
				stop()
				if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "takes spans again") {
					t.Errorf("%d lines: %s", n, log)
				}
			})
		})
	}
}

// A collector that refuses costs one batch at a time; the next is sent at once.
func TestCollectorRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, log, stop := exporter(t, "http://collector.example", func(_ *Config, e *Exporter) {
			if e != nil {
				e.sender.http.Transport = by(func(r *http.Request) (*http.Response, error) { return answered(http.StatusInternalServerError, r), nil })
			}
		})
		for n := range 2 * batch / spansOfBoot {
			e.Ended(boot(n))
		}
		time.Sleep(gather)
		synctest.Wait()
		const all = 2 * batch / spansOfBoot * spansOfBoot
		e.by(t, 0, all, 0)
		stop()
		if !strings.Contains(log.String(), "500 Internal Server Error") {
			t.Errorf("the log is %s", log)
		}
	})
}

// A collector may ask to wait, but not for ever.
func TestRetryAfterIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Time
		e, _, stop := exporter(t, "http://collector.example", func(_ *Config, e *Exporter) {
			if e != nil {
				e.sender.http.Transport = by(func(r *http.Request) (*http.Response, error) {
					asked = append(asked, time.Now())
					a := answered(http.StatusTooManyRequests, r)
					a.Header.Set("Retry-After", "86400")
					return a, nil
				})
			}
		})
		e.Ended(boot(1))
		time.Sleep(2*maxAsked + gather)
		synctest.Wait()
		if len(asked) != 3 || asked[1].Sub(asked[0]) != maxAsked {
			t.Errorf("it was asked at %v", asked)
		}
		stop()
	})
}

// A program that ends waits for a collector that hangs no longer than its deadline, and counts what is lost.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, log, stop := exporter(t, "http://collector.example", func(_ *Config, e *Exporter) {
			if e != nil {
				e.sender.http.Transport = by(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() })
			}
		})
		e.Ended(boot(1))
		time.Sleep(2 * gather) // a request is under way
		e.Lost(boot(2))
		at := time.Now()
		stop()
		if took := time.Since(at); took != flushWithin {
			t.Errorf("it took %s", took)
		}
		e.by(t, 0, 0, 2*spansOfBoot)
		if !strings.Contains(log.String(), "spans are lost") {
			t.Errorf("the log is %s", log)
		}
	})
}

// FuzzAnswer: whatever a server answers, it is judged.
func FuzzAnswer(f *testing.F) {
	f.Add(200, protobuf, []byte{0x0a, 0x02, 0x08, 0x05}, "7")
	f.Add(200, "text/html; charset", []byte("<html>"), "Fri, 27 Nov 2026 09:00:00 GMT")
	f.Add(429, "", []byte(nil), "-1")
	f.Fuzz(func(t *testing.T, status int, kind string, body []byte, after string) {
		a := judge(status, kind, body)
		if a.verdict != verdictTaken && a.err == nil || a.refused < 0 || a.refused > maxWaiting || a.verdict == verdictTaken && status/100 != 2 {
			t.Errorf("%+v", a)
		}
		if retryAfter(after, began) < 0 {
			t.Errorf("it waits %s", retryAfter(after, began))
		}
	})
}
