// Package metrics serves the metrics page of a daemon over HTTP, for Prometheus.
package metrics
