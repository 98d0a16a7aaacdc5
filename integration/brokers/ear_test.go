package brokers

import (
	"crypto/rand"
	"crypto/tls"
	"net"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// ear is a client that reads what a broker sends only when it is asked to, so that it knows what came before an answer and
// what after.
type ear struct {
	s    *site
	conn net.Conn
}

// listens connects, and subscribes to filters; the broker may grant any of them.
func (s *site) listens(config *tls.Config, filters []string) *ear {
	s.t.Helper()
	conn, err := (&tls.Dialer{NetDialer: &net.Dialer{Timeout: waitAtMost}, Config: config}).DialContext(s.t.Context(), "tcp", s.broker.addrs[0])
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() }) // the broker may have closed it
	e := &ear{s, conn}
	hello := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	hello.ProtocolName, hello.ProtocolVersion, hello.CleanSession, hello.ClientIdentifier = "MQTT", 4, true, rand.Text()[:20]
	if answer, is := e.ask(hello).(*packets.ConnackPacket); !is || answer.ReturnCode != packets.Accepted {
		s.t.Fatalf("the broker answers %v", answer)
	}
	for i, filter := range filters {
		sub := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
		sub.MessageID, sub.Topics, sub.Qoss = uint16(i+1), []string{filter}, []byte{0}
		e.ask(sub)
	}
	return e
}

// ask sends a packet, and returns the answer. What was published before that is dropped.
func (e *ear) ask(p packets.ControlPacket) packets.ControlPacket {
	e.s.t.Helper()
	answer, _ := e.send(p)
	return answer
}

func (e *ear) send(p packets.ControlPacket) (answer packets.ControlPacket, topics []string) {
	e.s.t.Helper()
	if err := e.conn.SetDeadline(time.Now().Add(waitAtMost)); err != nil {
		e.s.t.Fatal(err)
	}
	if err := p.Write(e.conn); err != nil {
		e.s.t.Fatal(err)
	}
	for {
		got, err := packets.ReadPacket(e.conn)
		if err != nil {
			e.s.t.Fatal(err)
		}
		message, is := got.(*packets.PublishPacket)
		if !is {
			return got, topics
		}
		topics = append(topics, message.TopicName)
	}
}

// heard are the topics of all that the broker sent since it was asked last.
func (e *ear) heard() []string {
	e.s.t.Helper()
	_, topics := e.send(packets.NewControlPacket(packets.Pingreq))
	return topics
}
