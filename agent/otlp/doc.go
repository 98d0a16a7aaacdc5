// Package otlp sends the spans of boots to an OpenTelemetry collector, by OTLP over HTTP with protobuf
// (https://opentelemetry.io/docs/specs/otlp/).
//
// Nothing waits for it: what is handed over is queued, the queue is bounded, and what does not fit is counted. One
// goroutine sends; [Exporter.Run] ends it.
package otlp
