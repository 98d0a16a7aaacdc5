package main

import (
	"testing"
	"time"
)

// perfText is the end of what perfdhcp 2.2 prints.
const perfText = `Running: perfdhcp -4 -r 3000 -R 50000 -p 2 -W 1000000 -l cl0 10.99.0.1
***Rate statistics***
Rate: 1994.9 4-way exchanges/second, expected rate: 3000

***Statistics for: DISCOVER-OFFER***
sent packets: 6000
received packets: 5990
drops: 10
drops ratio: 0.1666 %
orphans: 0
***Statistics for: REQUEST-ACK***
sent packets: 5990
received packets: 5985
drops: 5
orphans: 0
`

func TestParsePerf(t *testing.T) {
	o, err := parsePerf(perfText)
	if want := (outcome{sent: 6000, received: 5985}); err != nil || o != want {
		t.Fatalf("%+v, %v, want %+v", o, err, want)
	}
	if o.lost() < 0.00249 || o.lost() > 0.00251 || o.rate(2*time.Second) != 2992.5 || o.slow(3000, 2*time.Second) || !o.slow(4000, 2*time.Second) {
		t.Errorf("lost %f, rate %f", o.lost(), o.rate(2*time.Second))
	}
	if o.own = 15; o.lost() != 0 || !o.good() {
		t.Errorf("lost %f where all that is missing was lost by the generator", o.lost())
	}
	if (outcome{sent: 100, received: 90, own: 10}).good() {
		t.Error("a run that the generator spoilt is good")
	}
	if _, err := parsePerf("error: no such interface\n"); err == nil {
		t.Error("a report was found where there is none")
	}
}

// Whatever a server can do, the search comes near it from below, and ends.
func TestSearch(t *testing.T) {
	for _, row := range []struct {
		name     string
		can, max int
		least    float64
		limited  bool
	}{
		{"slower than the first rate", 130, 40_000, 125, false},
		{"nothing at all", 0, 40_000, 0, false},
		{"between two", 2_600, 40_000, 2_500, false},
		{"exactly one of them", 4_000, 40_000, 4_000, false},
		{"more than is tried", 100_000, 40_000, 40_000, false},
		{"more than the generator can", 100_000, 1 << 30, 50_000, true},
	} {
		s, tries := newSearch(firstRate, row.max, halvings), 0
		for rate, more := s.next(); more; rate, more = s.next() {
			if tries++; tries > 40 {
				t.Fatalf("%s: no end", row.name)
			}
			asked := min(rate, 50_000) // what the generator manages
			s.tried(rate, float64(min(asked, row.can)), asked <= row.can, asked < rate)
		}
		if s.best < row.least || s.best > float64(row.can) || s.limited != row.limited {
			t.Errorf("%s: found %.0f (limited %v), can %d", row.name, s.best, s.limited, row.can)
		}
	}
}

// One bad run is no proof: the machine may have been busy.
func TestSearchTriesAgain(t *testing.T) {
	s := newSearch(500, 1000, 1)
	s.tried(500, 300, false, false)
	if rate, more := s.next(); rate != 500 || !more {
		t.Fatalf("after one bad run: %d, %v", rate, more)
	}
	s.tried(500, 500, true, false)
	if rate, more := s.next(); rate != 1000 || !more {
		t.Fatalf("after a good one: %d, %v", rate, more)
	}
}

func TestCounter(t *testing.T) {
	const text = "Ip: Forwarding RcvbufErrors\nIp: 1 9\nUdp: InDatagrams NoPorts RcvbufErrors\nUdp: 17032 0 5328\n"
	if n, err := counter(text, "Udp:", "RcvbufErrors"); n != 5328 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := counter(text, "Udp:", "Nothing"); err == nil {
		t.Error("a value of no name")
	}
}

func TestWindow(t *testing.T) {
	if n := windowOf("blksize\x001468\x00WindowSize\x0016\x00"); n != 16 {
		t.Errorf("window %d", n)
	}
	if n := windowOf("blksize\x001468\x00"); n != 1 {
		t.Errorf("window %d without the option", n)
	}
}
