package discover

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// TestDialerIsBound: connections leave by the interface that was named, or not at all.
func TestDialerIsBound(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for device, want := range map[string]error{"": nil, "lo": nil, "absent0": syscall.ENODEV} {
		conn, err := dialer(device).DialContext(t.Context(), "tcp", l.Addr().String())
		if !errors.Is(err, want) {
			t.Errorf("through %q: %v", device, err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}
