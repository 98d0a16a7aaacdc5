package protocol

import (
	"net"
	"strings"
	"testing"
)

func TestMetricsAddress(t *testing.T) {
	for in, want := range map[MetricsAddress]struct{ fits, elsewhere bool }{
		"agent-a1.example.com:9641": {true, true},
		"a1:9641":                   {true, true},
		"10.20.0.2:9641":            {true, true},
		"[2001:db8::2]:9641":        {true, true},
		"127.0.0.1:9641":            {true, false},
		"[::1]:9641":                {true, false},
		"localhost:9641":            {true, false},
		"[fe80::1]:9641":            {true, false},
		"":                          {},
		"a1":                        {},
		":9641":                     {},
		"0.0.0.0:9641":              {},
		"[::]:9641":                 {},
		"224.0.0.1:9641":            {},
		"[fe80::1%eth0]:9641":       {},
		"a1:0":                      {},
		"a1:65536":                  {},
		"a1:http":                   {},
		"a1:+9641":                  {},
		"a1:09641":                  {},
		"[a1]:9641":                 {},
		"[10.20.0.2]:9641":          {},
		"2001:db8::2:9641":          {},
		"a1/metrics:9641":           {},
		"user@a1:9641":              {},
		"a 1:9641":                  {},
		"a1\n:9641":                 {},
		"1.2.3:9641":                {},
		"a..b:9641":                 {},
		"-a:9641":                   {},
		MetricsAddress(strings.Repeat("a", 64)) + ":1":       {},
		MetricsAddress(strings.Repeat("a.", 200)) + "b:9641": {},
	} {
		if err := in.Check(); (err == nil) != want.fits || in.Elsewhere() != want.elsewhere {
			t.Errorf("%q: %v, elsewhere %v", string(in), err, in.Elsewhere())
		}
	}
}

// FuzzMetricsAddress: what an agent says that fits is one host and one port, written as Prometheus reads it, and bounded.
func FuzzMetricsAddress(f *testing.F) {
	for _, s := range []string{"a1.example.com:9641", "10.0.0.1:1", "[::1]:65535", "[fe80::1%eth0]:1", "a/b:1", "", ":", "a1:09", "[A]:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if MetricsAddress(s).Check() != nil {
			return
		}
		host, port, err := net.SplitHostPort(s)
		if err != nil || net.JoinHostPort(host, port) != s || len(s) > MaxMetricsAddress || strings.ContainsAny(s, "/?#@% \t\r\n\"{}") {
			t.Errorf("%q fits", s)
		}
	})
}
