package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/plan/hubs"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
)

// What is done while all hubs are stopped is refused while one beats, whatever its name is, and not by what one has left.
func TestQuiet(t *testing.T) {
	for name, row := range map[string]struct {
		left  []string      // by hubs that do not run
		every time.Duration // at which hub b beats; 0 is never
		ends  time.Duration // after which it ends and takes its record away; 0 is never
		code  protocol.Code
	}{
		"nobody was ever there":          {},
		"one that was killed":            {left: []string{"a"}},
		"one that works":                 {left: []string{"a"}, every: hubs.BeatEvery, code: protocol.CodeConflict},
		"one whose store is slow":        {every: hubs.DeadAfter, code: protocol.CodeConflict},
		"one that ends while it is seen": {left: []string{"a"}, every: hubs.BeatEvery, ends: 3 * hubs.BeatEvery},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := storetest.NewMemory()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				put := func(hub string, revision uint64) uint64 {
					value := []byte(`{"run":"r","api":"https://` + hub + `.example:8443"}`)
					var err error
					if revision == 0 {
						revision, err = kv.Create(ctx, "hub."+hub, value)
					} else {
						revision, err = kv.Update(ctx, "hub."+hub, value, revision)
					}
					if err != nil {
						t.Error(err)
					}
					return revision
				}
				for _, hub := range row.left {
					put(hub, 0)
				}
				if row.every > 0 {
					began, at := time.Now(), put("b", 0)
					go func() {
						for {
							select {
							case <-ctx.Done():
								return
							case <-time.After(row.every):
							}
							if at = put("b", at); row.ends > 0 && time.Since(began) >= row.ends {
								if err := kv.Delete(ctx, "hub.b", at); err != nil {
									t.Error(err)
								}
								return
							}
						}
					}()
				}
				begun := time.Now()
				err := quiet(ctx, kv)
				if protocol.CodeOf(err) != row.code || (err != nil) != (row.code != "") {
					t.Fatal(err)
				}
				if err != nil && (!strings.Contains(err.Error(), "hub b at https://b.example:8443") || protocol.HintOf(err) == "") {
					t.Errorf("%v, hint %q", err, protocol.HintOf(err))
				}
				if none := len(row.left) == 0 && row.every == 0; none != (time.Since(begun) == 0) {
					t.Errorf("it took %s", time.Since(begun))
				}
			})
		})
	}
	t.Run("it is given up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			kv := storetest.NewMemory()
			if _, err := kv.Create(t.Context(), "hub.a", []byte("{}")); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			if err := quiet(ctx, kv); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	})
}
