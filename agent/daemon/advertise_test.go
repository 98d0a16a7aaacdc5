package daemon

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestAdvertised(t *testing.T) {
	for name, row := range map[string]struct {
		metrics string
		told    protocol.MetricsAddress
		want    protocol.MetricsAddress
		wrong   string
	}{
		"no page":              {"", "", "", ""},
		"an address of it":     {"10.20.0.2:9641", "", "10.20.0.2:9641", ""},
		"every address":        {"0.0.0.0:9641", "", "", ""},
		"loopback":             {"127.0.0.1:9641", "", "", ""},
		"no host":              {":9641", "", "", ""},
		"told":                 {"0.0.0.0:9641", "agent-a1.example.com:9641", "agent-a1.example.com:9641", ""},
		"told in its place":    {"10.20.0.2:9641", "agent-a1.example.com:443", "agent-a1.example.com:443", ""},
		"told without a page":  {"", "agent-a1.example.com:9641", "", "there is no metrics page"},
		"told what is no host": {"0.0.0.0:9641", "http://agent-a1:9641", "", "is not host:port"},
		"told every address":   {"0.0.0.0:9641", "0.0.0.0:9641", "", "is no address of one host"},
	} {
		got, err := advertised(row.metrics, row.told)
		if row.wrong != "" {
			if err == nil || !strings.HasPrefix(err.Error(), "metricsAdvertise: ") || !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || got != row.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
