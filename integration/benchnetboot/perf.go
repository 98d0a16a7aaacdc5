package main

import (
	"fmt"
	"strings"
	"time"
)

// outcome is what perfdhcp says of one run.
type outcome struct {
	sent     int     // of the first message
	received int     // of the last one
}

// lost is the share of exchanges that did not come to their end.
func (o outcome) lost() float64 {
	if o.sent == 0 {
		return 1
	}
	return max(0, 1-float64(o.received)/float64(o.sent))
}

// rate is how many exchanges of a period came to their end each second. perfdhcp's
// own figure counts the time that it waits for the last ones too.
func (o outcome) rate(period time.Duration) float64 { return float64(o.received) / period.Seconds() }

// slow says that perfdhcp asked more slowly than it was told to.
func (o outcome) slow(rate int, period time.Duration) bool {
	return float64(o.sent) < behind*float64(rate)*period.Seconds()
}

// parsePerf reads perfdhcp's report: counts of DISCOVER-OFFER and, unless
// only offers were asked for, of REQUEST-ACK.
func parsePerf(text string) (outcome, error) {
	var o outcome
	seen := 0
	for line := range strings.Lines(text) {
		var n int
		switch {
		case scan(line, "sent packets: %d", &n):
			if seen++; seen == 1 {
				o.sent = n
			}
		case scan(line, "received packets: %d", &n):
			o.received = n
		}
	}
	if seen == 0 {
		return o, fmt.Errorf("no report in %q", oneLine(text))
	}
	return o, nil
}

func scan(line, format string, to *int) bool {
	n, err := fmt.Sscanf(line, format, to)
	return n == 1 && err == nil
}
