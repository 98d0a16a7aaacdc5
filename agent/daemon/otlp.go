package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/otlp"
	"rackboot/agent/trace"
	"rackboot/protocol"
)

// OTLP says where the spans of boots are sent.
type OTLP struct {
	// Endpoint is the URL of an OTLP/HTTP collector, to which /v1/traces is added; empty sends nothing.
	Endpoint string `yaml:"endpoint"`
	// CAFile is PEM of the CAs that the collector is trusted by, in place of the system's.
	CAFile string `yaml:"caFile"`
	// HeadersFile has headers of each request, one a line, such as Authorization: Bearer TOKEN. Only its owner may read it.
	HeadersFile string `yaml:"headersFile"`
}

// tracesPath is what a collector's URL ends with, which is not written in the file.
const tracesPath = "/v1/traces"

// check says what is wrong with the section, without reading its files.
func (o OTLP) check() error {
	if o.Endpoint == "" {
		if key := cmp.Or(named("caFile", o.CAFile), named("headersFile", o.HeadersFile)); key != "" {
			return fmt.Errorf("otlp.%s: there is no otlp.endpoint", key)
		}
		return nil
	}
	at, err := url.Parse(o.Endpoint)
	switch {
	case err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Hostname() == "" || at.RawQuery != "" || at.Fragment != "":
		return fmt.Errorf("otlp.endpoint: it is not a URL such as https://otel.example.com:4318")
	case at.User != nil:
		return fmt.Errorf("otlp.endpoint: it has a name or a password; write them into otlp.headersFile, as Authorization: Basic …")
	case strings.HasSuffix(strings.TrimSuffix(at.Path, "/"), tracesPath):
		return fmt.Errorf("otlp.endpoint: leave out %s, which the agent adds", tracesPath)
	case at.Scheme == "http" && o.CAFile != "":
		return fmt.Errorf("otlp.caFile: %s has no TLS", o.Endpoint)
	case at.Scheme == "http" && o.HeadersFile != "" && !loopback(at.Hostname()):
		return fmt.Errorf("otlp.headersFile: %s has no TLS, so that everybody on the way could read the headers; use https, or a collector at 127.0.0.1", o.Endpoint)
	}
	return nil
}

func named(key, value string) string {
	if value == "" {
		return ""
	}
	return key
}

func loopback(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}

// exporter reads the files and makes what sends; nil without an endpoint.
func (o OTLP) exporter(who otlp.Resource, log *slog.Logger, reg prometheus.Registerer) (*otlp.Exporter, error) {
	const op = "send spans of boots"
	if o.Endpoint == "" {
		return nil, nil
	}
	at, err := url.Parse(o.Endpoint)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "otlp.endpoint is not a URL")
	}
	c := otlp.Config{Endpoint: at, TLS: &tls.Config{MinVersion: tls.VersionTLS12}, Resource: who, Logger: log, Registerer: reg}
	if o.CAFile != "" {
		raw, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeNotFound, op, "otlp.caFile: %w", err)
		}
		c.TLS.RootCAs = x509.NewCertPool()
		if !c.TLS.RootCAs.AppendCertsFromPEM(raw) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "otlp.caFile: %s has no certificate", o.CAFile).WithHint("it is PEM, with BEGIN CERTIFICATE")
		}
	}
	if o.HeadersFile != "" {
		if c.Headers, err = readHeaders(op, o.HeadersFile); err != nil {
			return nil, err
		}
	}
	return otlp.New(c), nil
}

func readHeaders(op, path string) (http.Header, error) {
	raw, _, err := readPrivate(op, path)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "otlp.headersFile: %s does not exist", path).WithHint("create it with lines such as Authorization: Bearer TOKEN, mode 0600")
	}
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	h, err := otlp.ParseHeaders(raw)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "otlp.headersFile: %s: %w", path, err)
	}
	return h, nil
}

// start has spans sent until stop is called, which waits for what is queued, at most 3 s. Its files are no reason
// not to serve a rack: where they cannot be read, spans is nil, and the log says so.
func (o OTLP) start(ctx context.Context, who otlp.Resource, log *slog.Logger, reg prometheus.Registerer) (spans trace.Spans, stop func()) {
	e, err := o.exporter(who, log, reg)
	if err != nil {
		log.Error("no spans of boots are sent until the agent is restarted", "err", err, "hint", protocol.HintOf(err))
	}
	if e == nil {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run(ctx)
	}()
	return e, func() {
		cancel()
		<-done
	}
}
