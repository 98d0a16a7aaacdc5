package link

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dial opens the transport of one connection within connectTimeout.
func (l *Link) dial(ctx context.Context, to target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	dial := l.cfg.Dial
	if dial == nil {
		dial = to.dialTCP
	}
	conn, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	if !to.at.secure {
		return &guard{Conn: conn}, nil
	}
	config := to.tls.Clone()
	if config.ServerName == "" {
		config.ServerName = to.at.host
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
func (to target) dialTCP(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Control: setUserTimeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}}
	return d.DialContext(ctx, "tcp", to.at.address)
}
