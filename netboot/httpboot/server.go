package httpboot

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/netboot"
	"rackboot/netboot/guard"
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
	// server listens on those of Listen and Listen6, an IPv6 address, that are valid.
	Listener net.Listener
	Listen   netip.AddrPort
	Listen6  netip.AddrPort

	// Certificates make the server speak HTTPS, and nothing else; plain HTTP if nil.
	Certificates netboot.Certificates

	Files    netboot.Files
	Evidence netboot.Evidence
	// AddressFiles opens fixed names, those of no token; 404 if nil.
	AddressFiles netboot.AddressFiles
	// UserData opens user data, which has a token always; 404 if nil.
	UserData netboot.UserData
	// Enrolment takes the TPMs that booted images offer; 405 if nil.
	Enrolment netboot.Enrolment
	// Attestation takes what the TPMs of booted images prove; 405 if nil.
	Attestation netboot.Attestation
	// Events answers requests below netboot.EventPrefix; 404 if nil. It bounds what it
	// reads.
	Events http.Handler

	// Trace, if set, is told each request for a file or with a report, when it was
	// answered.
	Trace netboot.Trace

	// MaxConns bounds the open connections of each address that is listened on; those
	// beyond wait in the kernel's queue. 1024 if zero.
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

// Server is the boot file server of one scheme, with a handler and limits of its own.
// A segment that is served by HTTP and HTTPS has two.
type Server struct {
	cfg       Config
	scheme    string
	listeners []net.Listener // that of Listen, and that of Listen6
	metrics   *metrics
	http      *http.Server
	front     *front
}

// New checks the configuration and opens the listener, so that a client that
// connects before Run only waits. Errors: invalid for the configuration,
// unavailable if the address cannot be listened on.
func New(cfg Config) (*Server, error) {
	const op = "HTTP boot server"
	if cfg.Files == nil || cfg.Evidence == nil || cfg.MaxConns < 0 || cfg.MaxClientConns < 0 || cfg.MaxClientRequests < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "files and evidence are required, and limits are not negative")
	}
	if cfg.Listener == nil && !cfg.Listen.IsValid() && !cfg.Listen6.IsValid() {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "no address to listen on")
	}
	if a := cfg.Listen6.Addr(); cfg.Listen6.IsValid() && (cfg.Listener != nil || !a.Is6() || a.Is4In6()) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is not an IPv6 address to listen on besides", cfg.Listen6)
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
	cfg.Logger = guard.Calm(cfg.Logger)
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	s := &Server{cfg: cfg, scheme: schemeHTTP}
	if cfg.Certificates != nil {
		s.scheme = schemeHTTPS
	}
	s.metrics = newMetrics(s.scheme)
	if err := s.metrics.register(cfg.Registerer); err != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "registering metrics: %w", err)
	}
	if err := s.open(); err != nil {
		s.metrics.unregister(cfg.Registerer)
		return nil, err
	}
	h := newHandler(cfg, s.metrics)
	var secure *tls.Config
	if cfg.Certificates != nil {
		secure = tlsConfig(cfg.Certificates, s.metrics)
	}
	s.front = newFront(h, secure, cfg.Logger)
	s.http = &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(guard.CalmHandler(cfg.Logger.Handler()), slog.LevelWarn),

		DisableGeneralOptionsHandler: true, // OPTIONS is answered like the rest
		Protocols:                    new(http.Protocols),
	}
	s.http.Protocols.SetHTTP1(true) // firmware speaks nothing else
	return s, nil
}

// open opens the listeners, or none.
func (s *Server) open() error {
	if s.cfg.Listener != nil {
		s.listeners = []net.Listener{s.cfg.Listener}
		return nil
	}
	network := "tcp"
	if s.cfg.Listen.Addr().Is4() {
		network = "tcp4" // else 0.0.0.0 takes the port of IPv6 too
	}
	for _, on := range []struct {
		network string
		at      netip.AddrPort
	}{{network, s.cfg.Listen}, {"tcp6", s.cfg.Listen6}} {
		if !on.at.IsValid() {
			continue
		}
		l, err := listen(on.network, on.at)
		if err != nil {
			for _, open := range s.listeners {
				_ = open.Close()
			}
			return err
		}
		s.listeners = append(s.listeners, l)
	}
	return nil
}

func listen(network string, at netip.AddrPort) (net.Listener, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listenTimeout)
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(ctx, network, at.String())
	if errors.Is(err, syscall.EADDRNOTAVAIL) && tentative(at.Addr()) {
		l, err = (&net.ListenConfig{Control: freebind}).Listen(ctx, network, at.String())
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "HTTP boot server", "listening on %s: %w", at, err).
			WithHint("check that the address is on this host and that no other process listens on it")
	}
	return l, nil
}

// Addr is the address that the server listens on; that of Listen where there are two.
func (s *Server) Addr() net.Addr { return s.listeners[0].Addr() }

// Addr6 is that of Listen6; nil without it.
func (s *Server) Addr6() net.Addr {
	if !s.cfg.Listen6.IsValid() {
		return nil
	}
	return s.listeners[len(s.listeners)-1].Addr()
}

// Run serves until ctx ends. Transfers that run then get a few seconds to end. It
// may be called once. An unavailable error says that a listener broke.
func (s *Server) Run(ctx context.Context) error {
	defer s.metrics.unregister(s.cfg.Registerer)
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		s.end(end)
	})
	var serving errgroup.Group
	serve := func(on func() error) {
		serving.Go(func() error {
			err := on()
			if errors.Is(err, http.ErrServerClosed) {
				return nil
			}
			over, cancel := context.WithCancel(ctx)
			cancel()
			s.end(over) // and with it the others
			return err
		})
	}
	for _, l := range s.listeners {
		s.cfg.Logger.Info("http boot server started", "scheme", s.scheme, "address", l.Addr().String())
		serve(func() error { return s.serve(l) })
	}
	serve(func() error { return s.http.Serve(s.front.others) })
	err := serving.Wait()
	if !stop() {
		<-stopped
	}
	s.cfg.Logger.Info("http boot server stopped", "scheme", s.scheme)
	return err
}

// end ends all connections: those that wait at once, the others when they were answered
// or at the end of ctx.
func (s *Server) end(ctx context.Context) {
	s.front.shutdown(ctx)
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
}

func (s *Server) serve(on net.Listener) (err error) {
	listener := newLimited(on, s.cfg.MaxConns, s.cfg.MaxClientConns, s.metrics)
	err = s.front.serve(listener)
	if errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, "HTTP boot server", "serving on %s: %w", on.Addr(), err)
}
