package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// outcome is what perfdhcp says of one run.
type outcome struct {
	sent     int // of the first message
	received int // of the last one
	own      int // replies that perfdhcp itself was too slow to read
}

// lost is the share of exchanges that did not come to their end, without those whose
// reply arrived and was thrown away before perfdhcp read it: each such reply ends one
// exchange, and no server can help it.
func (o outcome) lost() float64 {
	if o.sent == 0 {
		return 1
	}
	return max(0, 1-float64(o.received+o.own)/float64(o.sent))
}

// good says that the server kept up, and that the run says so.
func (o outcome) good() bool {
	return o.lost() <= maxDrop && float64(o.own) <= maxOwn*float64(o.sent)
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

// counter is a value of /proc/net/snmp, which has a line of names before each line of
// values.
func counter(text, protocol, name string) (int, error) {
	var names []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != protocol {
			continue
		}
		if names == nil {
			names = words
			continue
		}
		if i := slices.Index(names, name); i > 0 && i < len(words) {
			return strconv.Atoi(words[i])
		}
	}
	return 0, fmt.Errorf("no %s %s in /proc/net/snmp", protocol, name)
}

// oneLine is what a program said, for a message.
func oneLine(said string) string { return strings.Join(strings.Fields(said), " ") }

// last is the last line of what a program said.
func last(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return lines[len(lines)-1]
}
