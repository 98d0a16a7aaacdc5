package link

import (
	"context"
	"net"
	"sync"

	"rackboot/integration/memnet"
)

// stuckBroker accepts a connection and never reads again.
type stuckBroker struct {
	mu    sync.Mutex
	conns []net.Conn
}

func newStuckBroker() *stuckBroker { return &stuckBroker{} }

func (s *stuckBroker) dial(context.Context) (net.Conn, error) {
	near, far := memnet.Pipe("client", "stuck")
	if _, err := far.Write([]byte{0x20, 0x02, 0x00, 0x00}); err != nil { // CONNACK, accepted
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, far)
	return near, nil
}

func (s *stuckBroker) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
}
