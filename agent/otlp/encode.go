package otlp

import (
	"strings"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"rackboot/agent/bootspan"
)

// scope names what makes the spans.
const scope = "rackboot/agent"

// request is the message with spans. Names of the resource are OpenTelemetry's semantic conventions.
func request(r Resource, spans []bootspan.Span) *collector.ExportTraceServiceRequest {
	out := make([]*trace.Span, 0, len(spans))
	for _, s := range spans {
		out = append(out, encode(s))
	}
	return &collector.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{{
		Resource: &resource.Resource{Attributes: attributes([]bootspan.Attribute{
			{Key: "service.name", Text: "rackboot-agent"},
			{Key: "service.version", Text: r.Version},
			{Key: "service.instance.id", Text: r.Agent},
			{Key: "host.name", Text: r.Host},
			{Key: "rackboot.rack", Text: r.Rack},
		})},
		ScopeSpans: []*trace.ScopeSpans{{Scope: &common.InstrumentationScope{Name: scope, Version: r.Version}, Spans: out}},
	}}}
}

func encode(s bootspan.Span) *trace.Span {
	out := &trace.Span{
		TraceId: s.Trace[:], SpanId: s.ID[:], Name: s.Name, Kind: trace.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: nano(s.Start), EndTimeUnixNano: nano(s.End), Attributes: attributes(s.Attributes),
		Status: &trace.Status{Code: trace.Status_STATUS_CODE_OK},
	}
	if s.Parent != [8]byte{} {
		out.ParentSpanId = s.Parent[:]
	}
	if s.Failed {
		out.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: valid(s.Message)}
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, &trace.Span_Event{TimeUnixNano: nano(e.At), Name: e.Name, Attributes: attributes(e.Attributes)})
	}
	return out
}

// valid is text as protobuf takes it: one wrong byte would have the whole batch refused.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// nano is a moment as OTLP has it; 0 before 1970.
func nano(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) } //nolint:gosec // it is not below 0

func attributes(in []bootspan.Attribute) (out []*common.KeyValue) {
	for _, a := range in {
		v := &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: valid(a.Text)}}
		if a.Text == "" {
			v = &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: a.Number}}
		}
		out = append(out, &common.KeyValue{Key: a.Key, Value: v})
	}
	return out
}
