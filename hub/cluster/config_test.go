package cluster

import (
	"log/slog"
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestCheck(t *testing.T) {
	for name, row := range map[string]struct {
		config Config
		says   string // empty is that it is good
	}{
		"three servers":         {Config{URLs: []string{"tls://a:4222", "tls://b:4222", "tls://192.0.2.1:4222"}}, ""},
		"loopback":              {Config{URLs: []string{"nats://127.0.0.1:4222", "nats://[::1]:4222", "nats://localhost:4222"}, Replicas: 1}, ""},
		"none":                  {Config{}, "store.nats.urls"},
		"too many":              {Config{URLs: make([]string, 17)}, "store.nats.urls"},
		"in the clear":          {Config{URLs: []string{"nats://nats.example.com:4222"}}, "not encrypted"},
		"an address in clear":   {Config{URLs: []string{"nats://192.0.2.1:4222"}}, "not encrypted"},
		"another scheme":        {Config{URLs: []string{"https://a:4222"}}, "tls://host:port"},
		"no port":               {Config{URLs: []string{"tls://a"}}, "tls://host:port"},
		"a path":                {Config{URLs: []string{"tls://a:4222/x"}}, "tls://host:port"},
		"no URL":                {Config{URLs: []string{"tls://a:%%"}}, "no URL"},
		"a long name":           {Config{URLs: []string{"tls://a:4222"}, Name: strings.Repeat("n", 65)}, "store.nats.name"},
		"two replicas":          {Config{URLs: []string{"tls://a:4222"}, Replicas: 2}, "store.nats.replicas"},
		"half a certificate":    {Config{URLs: []string{"tls://a:4222"}, CertFile: "c"}, "store.nats.keyFile"},
		"a domain that is none": {Config{URLs: []string{"tls://a:4222"}, Domain: "a.b"}, "store.nats.domain"},
	} {
		t.Run(name, func(t *testing.T) {
			err := row.config.Check()
			switch {
			case row.says == "" && err != nil, row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)):
				t.Errorf("%v", err)
			case row.says == "" && row.config.Replicas == 0:
				t.Error("the default is not set")
			}
		})
	}
	secret := Config{URLs: []string{"tls://u:secret@a:4222"}}
	if err := secret.Check(); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a password: %v", err)
	}
}

// What is wrong with files and servers is said with what to do.
func TestDialRefused(t *testing.T) {
	for name, row := range map[string]struct {
		config Config
		code   protocol.Code
	}{
		"nobody listens":  {Config{URLs: []string{"nats://127.0.0.1:1"}}, protocol.CodeUnavailable},
		"no CA":           {Config{URLs: []string{"nats://127.0.0.1:1"}, CAFile: "/nowhere"}, protocol.CodeInvalid},
		"a CA of nothing": {Config{URLs: []string{"nats://127.0.0.1:1"}, CAFile: "config_test.go"}, protocol.CodeInvalid},
		"no certificate":  {Config{URLs: []string{"nats://127.0.0.1:1"}, CertFile: "/nowhere", KeyFile: "/nowhere"}, protocol.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Dial(t.Context(), row.config, slog.New(slog.DiscardHandler), NewLost())
			if protocol.CodeOf(err) != row.code || protocol.HintOf(err) == "" {
				t.Errorf("%v, hint %q", err, protocol.HintOf(err))
			}
		})
	}
}
