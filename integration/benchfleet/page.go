package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// scrapeTimeout is Prometheus's default.
const scrapeTimeout = 10 * time.Second

// scrape fetches the metrics page.
func (h *hub) scrape(ctx context.Context) (page []byte, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*scrapeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.metrics+"/metrics", nil)
	if err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("scrape the hub: %w", err)
	}
	defer resp.Body.Close()
	page, err = io.ReadAll(io.LimitReader(resp.Body, 1<<30))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("scrape the hub: %s", resp.Status)
	}
	return page, time.Since(begun), err
}

// metrics are the sums of series, by name: their labels do not matter here.
func metrics(page []byte) map[string]float64 {
	out := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(page)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if at < 0 {
			continue
		}
		name, _, _ := strings.Cut(line[:at], "{")
		if v, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			out[name] += v
		}
	}
	return out
}

// series is how many a page has.
func series(page []byte) (n int) {
	for line := range bytes.Lines(page) {
		if len(line) > 1 && line[0] != '#' {
			n++
		}
	}
	return n
}

// liveHeap is what the last collection left, in MiB: the runtime begins the next one at that much more, and as much
// as stacks are, as GOGC says.
func liveHeap(m map[string]float64) float64 {
	share := m["go_gc_gogc_percent"] / 100
	return (m["go_memstats_next_gc_bytes"] - share*m["go_memstats_stack_inuse_bytes"]) / (1 + share) / (1 << 20)
}

// dropped are the messages that queues of the hub had no room for.
func dropped(m map[string]float64) float64 {
	return m["rackboot_hub_intake_dropped_total"] + m["rackboot_link_dropped_total"] + m["rackboot_broker_slow_consumers_total"]
}
