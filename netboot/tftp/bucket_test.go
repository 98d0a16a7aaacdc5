package tftp

import (
	"net/netip"
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	b := newBuckets(2, 3)
	now := time.Unix(1e9, 0)
	for i, row := range []struct {
		after time.Duration
		want  bool
	}{
		{0, true},
		{0, true},
		{0, true},
		{0, false},
		{400 * time.Millisecond, false}, // 0.8 of one
		{200 * time.Millisecond, true},
		{0, false},
		{time.Hour, true},
		{0, true},
		{0, true},
		{0, false},          // no more than the burst
		{-time.Hour, false}, // a clock that goes back
	} {
		now = now.Add(row.after)
		if got := b.take(clientAddr(), now); got != row.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
	if !b.take(serverAddr(), now) {
		t.Error("clients share a bucket")
	}
}

func TestBucketsAreBounded(t *testing.T) {
	b := newBuckets(1, 1)
	now := time.Unix(1e9, 0)
	for i := range 10 * maxBuckets {
		b.take(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
		if i%(maxBuckets/2) == 0 && b.take(clientAddr(), now) != (i == 0) {
			t.Fatal("a client that goes on asking is forgotten")
		}
	}
	if len(b.now)+len(b.old) > 2*maxBuckets {
		t.Errorf("%d buckets", len(b.now)+len(b.old))
	}
}
