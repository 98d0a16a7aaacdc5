package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	reportTimeout = 10 * time.Second // of one try
	reportPause   = time.Second      // between tries
)

// report says that the installation has ended, until somebody has taken it or ctx
// ends: the agent may be restarting.
func report(ctx context.Context, base string) error {
	client := &http.Client{Timeout: reportTimeout}
	for {
		err := post(ctx, client, strings.TrimRight(base, "\x00")+"report/installed")
		if err == nil {
			return nil
		}
		say("report not taken: %v", err)
		select {
		case <-ctx.Done():
			return fmt.Errorf("report: %w", ctx.Err())
		case <-time.After(reportPause):
		}
	}
}

func post(ctx context.Context, client *http.Client, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		return fmt.Errorf("answer %s", answer.Status)
	}
	return nil
}
