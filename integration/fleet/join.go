package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

const (
	// joinsAtOnce bounds the joins under way.
	joinsAtOnce = 8
	// joinPause is for a hub that takes no more joins from an address for now.
	joinPause   = 2 * time.Second
	joinTimeout = time.Minute
)

// identities are those of all racks. Who has none joins, with a token of its own, as often
// as the hub lets one address do so; joined says how many did.
func (c *Config) identities(ctx context.Context, from []net.Addr) (ids []identity, joined int, err error) {
	ids = make([]identity, c.Racks)
	work := make(chan int)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var all sync.WaitGroup
	for range joinsAtOnce {
		all.Go(func() {
			for i := range work {
				fresh, err := c.identity(ctx, i, from[i], &ids[i])
				if err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				joined += fresh
				mu.Unlock()
			}
		})
	}
	for i := range ids {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	all.Wait()
	return ids, joined, context.Cause(ctx)
}

func (c *Config) identity(ctx context.Context, i int, from net.Addr, id *identity) (fresh int, err error) {
	rack := rackName(c.Skip + i)
	found, err := load(c.Dir, rack, identityFile, id)
	if found || err != nil {
		return 0, err
	}
	token, err := c.Hub.Client.Agents.NewToken(ctx, rack, api.TokenRequest{})
	if err != nil {
		return 0, err
	}
	client, err := c.stranger(from)
	if err != nil {
		return 0, err
	}
	defer client.CloseIdle()
	secret, _ := api.SplitToken(token.Token)
	next, request, err := newIdentity(secret)
	if err != nil {
		return 0, err
	}
	for {
		answer, err := join(ctx, client, request)
		switch {
		case err == nil:
			if err = next.take(answer); err == nil {
				*id = next
				err = save(c.Dir, rack, identityFile, next)
			}
			return 1, err
		case protocol.CodeOf(err) != protocol.CodeUnavailable:
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(joinPause):
		}
	}
}

func join(ctx context.Context, client *api.Client, q api.JoinRequest) (api.JoinAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	return client.Agents.Join(ctx, q)
}

// stranger is a client without an account, as each agent is before it has joined.
func (c *Config) stranger(from net.Addr) (*api.Client, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(c.Hub.CA) {
		return nil, protocol.Errorf(protocol.CodeInvalid, "join", "the CA has no PEM certificate").WithHint("give the file ca.pem that the hub wrote")
	}
	dial := net.Dialer{LocalAddr: from}
	return api.NewClient(api.Config{BaseURL: c.Hub.URL, HTTPClient: &http.Client{Transport: &http.Transport{
		DialContext: dial.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool},
	}}})
}
