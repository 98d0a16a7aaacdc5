package link

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dial opens the transport of one connection within connectTimeout.
func (l *Link) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := l.cfg.Dial(ctx)
	if err != nil {
		return nil, err
	}
	if !l.at.secure {
		return &guard{Conn: conn}, nil
	}
	config := l.cfg.TLS.Clone()
	if config.ServerName == "" {
		config.ServerName = l.at.host
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &guard{Conn: secured}, nil
}

// dialTCP probes an idle connection after 15 s, so that a peer that vanished is
// seen by the kernel as well as by the ping, and gives up on unacknowledged bytes
// after userTimeout: with bytes on their way the kernel does not probe, and would
// send them again for a quarter of an hour (tcp_retries2).
func (l *Link) dialTCP(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Control: setUserTimeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}}
	return d.DialContext(ctx, "tcp", l.at.address)
}
