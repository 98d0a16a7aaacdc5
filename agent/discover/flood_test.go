package discover

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"rackboot/netboot"
	"rackboot/protocol/resource"
)

// TestStrangersAreSummed: machines without number that have the prefix of a BMC are a few lines of
// the log, and counted.
func TestStrangersAreSummed(t *testing.T) {
	var out bytes.Buffer
	f, err := New(Config{Leases: &memLeases{}, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	if err != nil {
		t.Fatal(err)
	}
	f.Segments([]resource.SegmentIntent{{Name: "bmc", Role: resource.SegmentBMC, Prefix: netip.MustParsePrefix("10.0.0.0/8"), BMCPrefixes: []string{"3c:ec:ef"}}})
	for i := range 56_077 {
		f.Leased(netboot.Lease{
			Segment: "bmc", Address: netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), MAC: fmt.Sprintf("3c:ec:ef:%02x:%02x:%02x", i>>16, i>>8&255, i&255),
			Expires: time.Now().Add(time.Hour),
		})
	}
	if n := strings.Count(out.String(), "\n"); n > 20 {
		t.Errorf("%d lines", n)
	}
	if n := len(f.Found()); n > MaxFound {
		t.Errorf("%d are kept", n)
	}
}
