package link

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"rackboot/integration/memnet"
)

// scripted is a broker that answers as it is told, which a real one would not.
type scripted struct {
	connack  byte // return code (MQTT 3.1.1 §3.2.2.3)
	suback   byte // of every filter (§3.9.3)
	noPuback bool
	// early is sent after CONNACK, before any SUBACK.
	early []*packets.PublishPacket

	dials atomic.Int32
	wg    sync.WaitGroup
	mu    sync.Mutex
	conns []net.Conn
	heard []packets.ControlPacket
}

func (s *scripted) dial(context.Context) (net.Conn, error) {
	s.dials.Add(1)
	near, far := memnet.Pipe("client", "scripted")
	s.mu.Lock()
	s.conns = append(s.conns, far)
	s.mu.Unlock()
	s.wg.Go(func() { s.serve(far) })
	return near, nil
}

func (s *scripted) serve(conn net.Conn) {
	for {
		p, err := packets.ReadPacket(conn)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.heard = append(s.heard, p)
		s.mu.Unlock()
		for _, a := range s.answers(p) {
			if a.Write(conn) != nil {
				return
			}
		}
	}
}

func (s *scripted) answers(p packets.ControlPacket) (out []packets.ControlPacket) {
	switch p := p.(type) {
	case *packets.ConnectPacket:
		a := packets.NewControlPacket(packets.Connack).(*packets.ConnackPacket)
		a.ReturnCode = s.connack
		out = append(out, a)
		for _, e := range s.early {
			out = append(out, e)
		}
	case *packets.SubscribePacket:
		a := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
		a.MessageID = p.MessageID
		for range p.Topics {
			a.ReturnCodes = append(a.ReturnCodes, s.suback)
		}
		out = append(out, a)
	case *packets.PublishPacket:
		if p.Qos == 1 && !s.noPuback {
			a := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
			a.MessageID = p.MessageID
			out = append(out, a)
		}
	case *packets.PingreqPacket:
		out = append(out, packets.NewControlPacket(packets.Pingresp))
	}
	return out
}

// cut closes all connections.
func (s *scripted) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
}

func (s *scripted) stop() {
	s.cut()
	s.wg.Wait()
}

// heardOf are the packets of one type that arrived.
func heardOf[T packets.ControlPacket](s *scripted) (out []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.heard {
		if v, ok := p.(T); ok {
			out = append(out, v)
		}
	}
	return out
}

// withScript runs a link against a scripted broker in the present bubble.
func withScript(t *testing.T, s *scripted, b *inbox, change func(*Config)) *Link {
	t.Helper()
	t.Cleanup(s.stop)
	c := newPlace().config(b)
	c.Dial = s.dial
	if change != nil {
		change(&c)
	}
	return start(t, c)
}
