// Package metrics serves the metrics page of a daemon over HTTP, for Prometheus, and
// beside it whether the daemon lives (/healthz) and can do its work (/readyz).
package metrics
