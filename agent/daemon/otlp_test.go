package daemon

import (
	"bytes"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/bootspan"
	"rackboot/agent/otlp"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

func TestOTLPSection(t *testing.T) {
	for _, tt := range []struct{ name, section, want string }{
		{"none", "", ""},
		{"https with all", "{endpoint: 'https://otel.example.com:4318', caFile: /ca, headersFile: /h}", ""},
		{"below a path", "{endpoint: 'https://otel.example.com/in/'}", ""},
		{"plain HTTP", "{endpoint: 'http://otel.example.com:4318'}", ""},
		{"plain HTTP on this host, with headers", "{endpoint: 'http://127.0.0.1:4318', headersFile: /h}", ""},
		{"and by IPv6", "{endpoint: 'http://[::1]:4318', headersFile: /h}", ""},
		{"a field that is none", "{url: 'https://otel.example.com'}", "url"},
		{"a CA without an endpoint", "{caFile: /ca}", "otlp.caFile"},
		{"headers without an endpoint", "{headersFile: /h}", "otlp.headersFile"},
		{"no scheme", "{endpoint: 'otel.example.com:4318'}", "otlp.endpoint"},
		{"gRPC", "{endpoint: 'grpc://otel.example.com:4317'}", "otlp.endpoint"},
		{"no host", "{endpoint: 'https://:4318'}", "otlp.endpoint"},
		{"a query", "{endpoint: 'https://otel.example.com?token=hidden'}", "otlp.endpoint"},
		{"a login", "{endpoint: 'https://me:hidden@otel.example.com'}", "otlp.headersFile"},
		{"the path of traces", "{endpoint: 'https://otel.example.com:4318/v1/traces'}", "leave out /v1/traces"},
		{"a CA for plain HTTP", "{endpoint: 'http://otel.example.com', caFile: /ca}", "otlp.caFile"},
		{"headers in clear text", "{endpoint: 'http://otel.example.com', headersFile: /h}", "otlp.headersFile"},
	} {
		text := goodConfig
		if tt.section != "" {
			text += "otlp: " + tt.section + "\n"
		}
		_, err := LoadConfig(write(t, "agent.yaml", text, 0o600))
		if tt.want == "" && err != nil || tt.want != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// An agent with a collector sends what it was handed when it ends; a secret header is in no log. Without an endpoint
// nothing runs, and files that cannot be read keep nobody from serving a rack.
func TestOTLPStart(t *testing.T) {
	came := make(chan http.Header, 1)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { came <- r.Header }))
	defer srv.Close()
	ca := write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})), 0o644)
	headers := write(t, "headers", "Authorization: Bearer hidden\n", 0o600)
	for _, tt := range []struct {
		name string
		otlp OTLP
		says string // in the log
		sent bool
	}{
		{"none", OTLP{}, "", false},
		{"all", OTLP{Endpoint: srv.URL, CAFile: ca, HeadersFile: headers}, "", true},
		{"a CA that it does not know", OTLP{Endpoint: srv.URL, HeadersFile: headers}, "spans are lost", false},
		{"no CA file", OTLP{Endpoint: srv.URL, CAFile: "/nonexistent"}, "otlp.caFile", false},
		{"no certificate in it", OTLP{Endpoint: srv.URL, CAFile: headers}, "has no certificate", false},
		{"no headers", OTLP{Endpoint: srv.URL, HeadersFile: "/nonexistent"}, "Authorization: Bearer TOKEN, mode 0600", false},
		{"headers that others read", OTLP{Endpoint: srv.URL, HeadersFile: write(t, "open", "Authorization: Bearer hidden\n", 0o644)}, "chmod 600", false},
		{"no header", OTLP{Endpoint: srv.URL, HeadersFile: write(t, "bad", "hidden\n", 0o600)}, "line 1 is not a header", false},
	} {
		var log bytes.Buffer
		spans, stop := tt.otlp.start(t.Context(), otlp.Resource{Agent: "a1", Rack: "r1", Version: "1.2.3"}, slog.New(slog.NewTextHandler(&log, nil)), prometheus.NewRegistry())
		if spans != nil {
			spans.Ended(bootspan.Boot{Server: "n1", Attempt: "id", Course: []decide.Passage{
				{State: resource.AttemptPreparing, At: time.Unix(0, 0)}, {State: resource.AttemptFailed, At: time.Unix(1, 0)},
			}})
		}
		stop()
		select {
		case h := <-came:
			if !tt.sent || h.Get("Authorization") != "Bearer hidden" {
				t.Errorf("%s: it was sent with %v", tt.name, h)
			}
		default:
			if tt.sent {
				t.Errorf("%s: nothing was sent; %s", tt.name, &log)
			}
		}
		if !strings.Contains(log.String(), tt.says) || tt.says == "" && log.Len() > 0 || strings.Contains(log.String(), "hidden") {
			t.Errorf("%s: the log is %s", tt.name, &log)
		}
	}
}
