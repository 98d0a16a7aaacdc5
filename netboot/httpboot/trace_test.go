package httpboot

import (
	"slices"
	"sync"
	"testing"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// Each request for a file is told once with what came of it, also of those that get
// none; a path that means nothing is not.
func TestTrace(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	var told []netboot.Exchange
	w := start(t, func(c *Config) {
		c.Clock = func() time.Time { return now }
		c.Trace = func(e netboot.Exchange) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, e)
		}
	})
	size := int64(len(bootBytes()))
	w.get(t, "HEAD", "/b/"+token+"/"+bootName, "")
	w.get(t, "GET", "/b/"+token+"/"+bootName, "")
	w.get(t, "GET", "/b/"+token+"/"+bootName, "Range: bytes=100-199\r\n")
	w.get(t, "GET", "/b/"+token+"/nope.efi", "")
	w.get(t, "GET", "/b/../x", "")
	w.stop()
	want := []netboot.Exchange{
		{Asked: "HEAD", Status: 200},
		{Asked: "GET", Status: 200, Bytes: size},
		{Asked: "GET", Status: 206, Bytes: 100, Range: "bytes=100-199"},
		{Asked: "GET", Status: 404, Bytes: int64(len("Not Found\n"))},
	}
	if len(told) != len(want) {
		t.Fatalf("%d exchanges: %+v", len(told), told)
	}
	for i, e := range told {
		if e.Source != protocol.TraceHTTP || e.Token != token || e.Remote.String() != "127.0.0.1" || e.Report || e.Took < 0 || e.At.After(now) || !slices.Contains([]string{bootName, "nope.efi"}, e.File) {
			t.Errorf("exchange %d: %+v", i, e)
		}
		if x := want[i]; e.Asked != x.Asked || e.Status != x.Status || e.Bytes != x.Bytes || e.Range != x.Range {
			t.Errorf("exchange %d: %+v, want %+v", i, e, x)
		}
	}
}
