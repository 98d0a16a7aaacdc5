package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
)

// maxData bounds user data, in bytes.
const maxData = 1 << 20

// userData fetches what the kernel's command line names, as Ignition does. There is none
// without that.
func userData(ctx context.Context) error {
	url := argument("ignition.config.url")
	if url == "" {
		return nil
	}
	client, err := newClient()
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("user data: %w", err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxData))
	if err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("user data: answer %s (%w)", answer.Status, err)
	}
	sayData(r.URL.Scheme, data)
	return nil
}

// sayData says by its digest which user data came, and how.
func sayData(by string, data []byte) { say("user data by %s, sha256:%x", by, sha256.Sum256(data)) }
