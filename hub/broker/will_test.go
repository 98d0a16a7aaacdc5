package broker

import (
	"crypto/tls"
	"net"
	"net/url"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

type client = mqtt.Client

func granted(token mqtt.Token, filter string) bool {
	return token.(*mqtt.SubscribeToken).Result()[filter] < 0x80
}

// dieWithWill connects with a will and drops the connection without DISCONNECT,
// upon which the broker publishes the will (MQTT 3.1.1 §3.1.2.5).
func (s *site) dieWithWill(t *testing.T, id, topic string, retain bool) {
	t.Helper()
	config := agentTLS(t, s.keys, id)
	var conn net.Conn
	o := options(s.broker.Addr(), config).SetWill(topic, "forged", 0, retain)
	o.SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) {
		config.ServerName = "127.0.0.1"
		c, err := tls.Dial("tcp", s.broker.Addr(), config)
		conn = c
		return c, err
	})
	c := mqtt.NewClient(o)
	token := c.Connect()
	token.Wait() // a broker may also refuse the connection for its will
	if conn != nil {
		_ = conn.Close()
	}
	c.Disconnect(50)
}
