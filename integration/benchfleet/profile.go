package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// profile begins a profile of the hub's processor over a time, if there are to be profiles. What is returned waits
// for it, and writes a profile of the heap too.
func (b *bench) profile(ctx context.Context, stage string, over time.Duration) (end func() error) {
	if b.plan.Profile == "" {
		return func() error { return nil }
	}
	over = min(over, b.plan.Profiled)
	name := filepath.Join(b.plan.Profile, fmt.Sprintf("%d-%s", b.size.Racks, stage))
	done := make(chan error, 1)
	go func() {
		path := fmt.Sprintf("profile?seconds=%d", max(1, int(over.Seconds())))
		err := b.hub.fetch(ctx, path, name+".cpu.pprof")
		for until := time.Now().Add(over); err != nil && time.Now().Before(until); { // a hub that starts does not listen yet
			time.Sleep(50 * time.Millisecond)
			err = b.hub.fetch(ctx, path, name+".cpu.pprof")
		}
		done <- err
	}()
	return func() error {
		if err := <-done; err != nil {
			return err
		}
		return b.hub.fetch(ctx, "heap?gc=1", name+".heap.pprof")
	}
}

// fetch writes a profile to a file.
func (h *hub) fetch(ctx context.Context, what, file string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.profiles+"/debug/pprof/"+what, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("a profile of the hub: %s", resp.Status)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, resp.Body); err != nil {
		_ = f.Close() // it is given up
		return err
	}
	return f.Close()
}
