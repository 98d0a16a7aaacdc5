package link

import (
	"crypto/tls"
	"log/slog"
	"testing"
)

// Brokers are tried in the order of the list, round and round; a connection that was
// made begins the list anew, and a list that changed counts at the next connection.
func TestTargets(t *testing.T) {
	list := []string{"mqtts://a", "mqtts://b:99", "mqtt://not-on-loopback", "mqtts://c"}
	own := &tls.Config{MinVersion: tls.VersionTLS13}
	l, err := New(Config{
		Broker: "mqtts://first", OnMessage: func(string, []byte) {}, Logger: slog.New(slog.DiscardHandler),
		Next: func() ([]string, *tls.Config) { return list, own },
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a:8883", "b:99", "", "c:8883", "a:8883"} {
		to, err := l.target()
		if want == "" {
			if err == nil {
				t.Error("an address without protection was taken")
			}
			continue // it counted by itself
		}
		if err != nil || to.at.address != want || to.tls != own {
			t.Errorf("try %d: %s, %v; want %s", i, to.at.address, err, want)
		}
		l.failed++
	}
	l.failed, list = 0, []string{"mqtts://new"}
	if to, err := l.target(); err != nil || to.at.address != "new:8883" {
		t.Errorf("the new list: %s, %v", to.at.address, err)
	}
	list = nil
	if to, err := l.target(); err != nil || to.at.address != "first:8883" {
		t.Errorf("no list: %s, %v", to.at.address, err)
	}
}
