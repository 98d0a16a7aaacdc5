package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	reportTimeout = 10 * time.Second // of one try
	reportPause   = time.Second      // between tries

	// authority is PEM of whom the agent's certificate is from, where the URL is https.
	authority = "/ca.pem"
)

// report says that the installation has ended, until somebody has taken it or ctx
// ends: the agent may be restarting.
func report(ctx context.Context, base string) error {
	client, err := newClient()
	if err != nil {
		return err
	}
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

// newClient trusts the authority in the initramfs, where there is one.
func newClient() (*http.Client, error) {
	client := &http.Client{Timeout: reportTimeout}
	ca, err := os.ReadFile(authority)
	if errors.Is(err, fs.ErrNotExist) {
		return client, nil
	}
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("no certificate in %s", authority)
	}
	client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	return client, nil
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
