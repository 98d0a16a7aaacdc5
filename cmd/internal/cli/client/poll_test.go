package client

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
)

// TestFirstLook: a look that takes longer than the whole wait is made once, and what it
// found is said; one that never answers ends.
func TestFirstLook(t *testing.T) {
	slow := func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return protocol.Errorf(protocol.CodeTimeout, "look", "%w", ctx.Err())
		}
	}
	for name, row := range map[string]struct {
		takes time.Duration
		done  bool
		code  protocol.Code
		says  string
		after time.Duration
	}{
		"found":     {time.Second, true, "", "", time.Second},
		"not yet":   {time.Second, false, protocol.CodeTimeout, "not after 200ms; last: Forcing", time.Second},
		"in time":   {50 * time.Millisecond, false, protocol.CodeTimeout, "last: Forcing", 200 * time.Millisecond},
		"no answer": {time.Hour, true, protocol.CodeTimeout, "last: -", firstLook},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				err := Poll(t.Context(), 200*time.Millisecond, "hold h", func(string) {}, func(ctx context.Context) (string, bool, error) {
					if err := slow(ctx, row.takes); err != nil {
						return "", false, err
					}
					return "Forcing", row.done, nil
				})
				if row.code == "" && err != nil || row.code != "" && (protocol.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.says)) {
					t.Errorf("%v", err)
				}
				if took := time.Since(begun); took != row.after {
					t.Errorf("it took %s, want %s", took, row.after)
				}
			})
		})
	}
}
