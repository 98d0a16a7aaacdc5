package httpboot

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/protocol"
)

const (
	// headerTimeout bounds reading a request's header, and the handshake before it.
	headerTimeout = 10 * time.Second
	// idleTimeout keeps the connection for the GET after the HEAD; firmware before
	// 2022 fails if it closes in between, and needs at least 30 s.
	idleTimeout = 2 * time.Minute
	// maxHeader bounds the header; EDK2 sends less than 300 bytes.
	maxHeader = 16 << 10
	// stopTimeout is what running transfers get when the server stops.
	stopTimeout = 5 * time.Second
	// listenTimeout bounds opening the socket.
	listenTimeout = 5 * time.Second
	// defaultMaxConns is more than the servers of an agent have ports.
	defaultMaxConns = 1024
	// defaultClientConns is far more than any firmware or loader opens, and leaves
	// room for an installer that fetches in parallel.
	defaultClientConns = 64

	schemeHTTP  = "http"
	schemeHTTPS = "https"
)

// Config is what a Server needs.
type Config struct {
	// Listener is where connections come from; the server closes it. If nil, the
	// server listens on Listen.
	Listener net.Listener
	Listen   netip.AddrPort

	// Certificates make the server speak HTTPS, and nothing else; plain HTTP if nil.
	Certificates netboot.Certificates

	Files    netboot.Files
	Evidence netboot.Evidence
	// AddressFiles opens fixed names, those of no token; 404 if nil.
	AddressFiles netboot.AddressFiles
	// Events answers requests below netboot.EventPrefix; 404 if nil. It bounds what it
	// reads.
	Events http.Handler

	// MaxConns bounds the open connections; those beyond wait in the kernel's
	// queue. 1024 if zero.
	MaxConns int
	// MaxClientConns bounds the open connections from one address; those beyond are
	// closed. 64 if zero.
	MaxClientConns int
	// MaxClientRequests bounds the requests from one address that are being answered;
	// those beyond get 503. 64 if zero.
	MaxClientRequests int

	Logger     *slog.Logger          // none if nil
	Registerer prometheus.Registerer // none if nil
	Clock      func() time.Time      // time of the evidence; time.Now if nil
}

// Server is the boot file server: one listener, with a handler and limits of its
// own. A segment that is served by HTTP and HTTPS has two.
type Server struct {
	cfg      Config
	scheme   string
	listener net.Listener
	metrics  *metrics
	http     *http.Server
}

// New checks the configuration and opens the listener, so that a client that
// connects before Run only waits. Errors: invalid for the configuration,
// unavailable if the address cannot be listened on.
func New(cfg Config) (*Server, error) {
	const op = "HTTP boot server"
	if cfg.Files == nil || cfg.Evidence == nil || cfg.MaxConns < 0 || cfg.MaxClientConns < 0 || cfg.MaxClientRequests < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "files and evidence are required, and limits are not negative")
	}
	if cfg.Listener == nil && !cfg.Listen.IsValid() {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "no address to listen on")
	}
	if cfg.MaxConns == 0 {
		cfg.MaxConns = defaultMaxConns
	}
	if cfg.MaxClientConns == 0 {
		cfg.MaxClientConns = defaultClientConns
	}
	if cfg.MaxClientRequests == 0 {
		cfg.MaxClientRequests = defaultClientConns
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	s := &Server{cfg: cfg, scheme: schemeHTTP, listener: cfg.Listener}
	if cfg.Certificates != nil {
		s.scheme = schemeHTTPS
	}
	s.metrics = newMetrics(s.scheme)
	if err := s.metrics.register(cfg.Registerer); err != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "registering metrics: %w", err)
	}
	if s.listener == nil {
		var err error
		if s.listener, err = listen(cfg.Listen); err != nil {
			s.metrics.unregister(cfg.Registerer)
			return nil, err
		}
	}
	s.http = &http.Server{
		Handler:           newHandler(cfg, s.metrics),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelWarn),

		DisableGeneralOptionsHandler: true, // OPTIONS is answered like the rest
		Protocols:                    new(http.Protocols),
	}
	s.http.Protocols.SetHTTP1(true) // firmware speaks nothing else
	return s, nil
}

func listen(at netip.AddrPort) (net.Listener, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listenTimeout)
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "HTTP boot server", "listening on %s: %w", at, err).
			WithHint("check that the address is on this host and that no other process listens on it")
	}
	return l, nil
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Run serves until ctx ends. Transfers that run then get a few seconds to end. It
// may be called once. An unavailable error says that the listener broke.
func (s *Server) Run(ctx context.Context) error {
	defer s.metrics.unregister(s.cfg.Registerer)
	s.cfg.Logger.Info("http boot server started", "scheme", s.scheme, "address", s.listener.Addr().String())
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if s.http.Shutdown(end) != nil {
			_ = s.http.Close()
		}
	})
	listener := net.Listener(newLimited(s.listener, s.cfg.MaxConns, s.cfg.MaxClientConns, s.metrics))
	if s.cfg.Certificates != nil {
		listener = tls.NewListener(listener, tlsConfig(s.cfg.Certificates, s.metrics))
	}
	err := s.http.Serve(listener)
	if !stop() {
		<-stopped
	}
	s.cfg.Logger.Info("http boot server stopped", "scheme", s.scheme)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	_ = s.http.Close()
	return protocol.Errorf(protocol.CodeUnavailable, "HTTP boot server", "serving on %s: %w", s.listener.Addr(), err)
}
