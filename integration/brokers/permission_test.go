package brokers

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"rackboot/protocol/api"
	"rackboot/protocol/message"
)

// other is another agent's name: nobody has its certificate here.
const other = "rack-b1-1"

// forged is what must not arrive, and honest what must.
const (
	forged = "forged"
	honest = "honest"
)

// permissions: with the agent's certificate nothing is published or read outside of
// its own topics, wills included. The hub and the agent themselves, which run
// meanwhile, refuse what is not signed.
func (s *site) permissions() {
	agent, hub := s.agentTLS(), s.hubTLS(s.broker.caFile)
	seen := make(chan mqtt.Message, 4096)
	take := func(_ mqtt.Client, m mqtt.Message) { seen <- m }
	watchHub := s.connect(hub, nil)
	s.subscribe(watchHub, message.TopicAllUp, take)
	watchAgent := s.connect(agent, nil)
	for _, filter := range []string{message.TopicDown(agentName, "#"), "rb/v1/h/#"} {
		s.subscribe(watchAgent, filter, take)
	}
	for _, topic := range []string{
		message.TopicUp(other, "report"), message.TopicDown(agentName, "hold"), message.TopicDown(other, "hold"), message.TopicAnnounce,
	} {
		for _, qos := range []byte{0, 1} {
			c := s.connect(agent, nil) // a refused publish may end the connection
			c.Publish(topic, qos, false, forged).WaitTimeout(200 * time.Millisecond)
			c.Disconnect(50)
		}
		s.die(agent, topic, forged)
	}
	s.die(agent, message.TopicUp(agentName, "will"), honest)
	s.arrive(seen, message.TopicUp(agentName, "will"))

	// A broker may grant such filters; what counts is that nothing comes.
	for _, filter := range []string{"#", "rb/v1/a/+/d/#", message.TopicDown(other, "#"), message.TopicAllUp} {
		s.listen(agent, filter, func() {
			s.publish(watchHub, message.TopicDown(other, "hold"), forged)
			s.publish(watchAgent, message.TopicUp(agentName, "probe"), honest)
			// The rows above were sent before the honest ones, which must come; and what was
			// published to the other agent has gone out by then: of one connection's messages
			// to the same broker, it was the earlier one.
			s.publish(watchHub, message.TopicDown(agentName, "probe"), honest)
			s.arrive(seen, message.TopicUp(agentName, "probe"), message.TopicDown(agentName, "probe"))
		})
	}
}

// listen subscribes with a certificate, does what is to be overheard, and reports what was. It
// is one connection at a time, since the embedded broker ends the oldest of more than four
// (package rackboot/hub/broker).
func (s *site) listen(config *tls.Config, filter string, do func()) {
	s.t.Helper()
	c := s.connect(config, nil)
	defer c.Disconnect(50)
	c.Subscribe(filter, 1, func(_ mqtt.Client, m mqtt.Message) {
		if !strings.HasPrefix(m.Topic(), message.TopicDown(agentName, "")) && m.Topic() != message.TopicAnnounce {
			s.t.Errorf("%s was delivered to %s, which subscribed to %s", m.Topic(), agentName, filter)
		}
	}).WaitTimeout(500 * time.Millisecond)
	do()
}

// arrive waits for an honest message on each of the topics, and reports forged ones.
func (s *site) arrive(seen <-chan mqtt.Message, topics ...string) {
	s.t.Helper()
	want := map[string]bool{}
	for _, topic := range topics {
		want[topic] = true
	}
	s.until("the honest messages", func() bool {
		for { // all that there is: the agent goes on talking
			select {
			case m := <-seen:
				switch string(m.Payload()) {
				case forged:
					s.t.Errorf("%s was published with the certificate of %s", m.Topic(), agentName)
				case honest:
					delete(want, m.Topic())
				}
			default:
				return len(want) == 0
			}
		}
	}, func() any { return want })
}

// agentTLS is that of a client with the agent's certificate, as a thief has it.
func (s *site) agentTLS() *tls.Config {
	s.t.Helper()
	id := s.identity()
	pair, err := tls.X509KeyPair(id.Answer.Certificate, id.LinkKey)
	if err != nil {
		s.t.Fatal(err)
	}
	c := s.hubTLS(s.broker.caFile)
	c.GetClientCertificate, c.Certificates = nil, []tls.Certificate{pair}
	return c
}

// identity is the part of what joining gave the agent that a thief needs.
type identity struct {
	Answer  api.JoinAnswer
	LinkKey []byte
}

func (s *site) identity() (id identity) {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.agent.DataDir, "identity", "agent.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &id); err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *site) connect(config *tls.Config, change func(*mqtt.ClientOptions)) mqtt.Client {
	s.t.Helper()
	o := mqtt.NewClientOptions().AddBroker("mqtts://" + s.broker.addrs[0]).SetTLSConfig(config).SetProtocolVersion(4).
		SetClientID(rand.Text()[:20]).SetCleanSession(true).SetAutoReconnect(false).SetConnectTimeout(waitAtMost)
	if change != nil {
		change(o)
	}
	c := mqtt.NewClient(o)
	s.await(c.Connect())
	s.t.Cleanup(func() { c.Disconnect(50) })
	return c
}

func (s *site) subscribe(c mqtt.Client, filter string, take mqtt.MessageHandler) {
	s.t.Helper()
	token := c.Subscribe(filter, 1, take)
	s.await(token)
	if code := token.(*mqtt.SubscribeToken).Result()[filter]; code != 1 {
		s.t.Fatalf("%s was granted as %d", filter, code)
	}
}

func (s *site) publish(c mqtt.Client, topic, payload string) {
	s.t.Helper()
	s.await(c.Publish(topic, 0, false, payload))
}

func (s *site) await(token mqtt.Token) {
	s.t.Helper()
	if !token.WaitTimeout(waitAtMost) {
		s.t.Fatal("no answer from the broker")
	}
	if err := token.Error(); err != nil {
		s.t.Fatal(err)
	}
}

// die connects with a will and drops the connection without DISCONNECT, upon which
// the broker publishes the will (MQTT 3.1.1 §3.1.2.5).
func (s *site) die(config *tls.Config, topic, payload string) {
	s.t.Helper()
	var conn net.Conn
	o := mqtt.NewClientOptions().AddBroker("mqtts://"+s.broker.addrs[0]).SetProtocolVersion(4).SetClientID(rand.Text()[:20]).SetCleanSession(true).
		SetAutoReconnect(false).SetWill(topic, payload, 0, false).
		SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) {
			c, err := tls.Dial("tcp", s.broker.addrs[0], config)
			conn = c
			return c, err
		})
	c := mqtt.NewClient(o)
	c.Connect().WaitTimeout(waitAtMost) // a broker may also refuse the connection for its will
	if conn != nil {
		_ = conn.Close()
	}
	c.Disconnect(50)
}
