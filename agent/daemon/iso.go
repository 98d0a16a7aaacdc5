package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"rackboot/agent/files"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// ISOs says how the agent fetches uploaded files from the hub. They are kept among the
// boot files, whose bound is Images.QuotaMiB.
type ISOs struct {
	// Bandwidth bounds all fetches together, in bytes per second; 0 does not.
	Bandwidth int64 `yaml:"bandwidth"`
	// Spread bounds the random wait before a fetch. LoadConfig makes it [DefaultISOSpread];
	// nil is none.
	Spread *time.Duration `yaml:"spread"`
}

const (
	// DefaultISOSpread is ISOs.Spread of a file that does not give it.
	DefaultISOSpread = 15 * time.Second
	// maxISOSpread keeps a wait below that of one try.
	maxISOSpread = time.Hour
	// minBandwidth is the least that gets a file anywhere before it is another one.
	minBandwidth = 1 << 10
)

func (c *ISOs) check() error {
	if c.Spread == nil {
		c.Spread = new(DefaultISOSpread)
	}
	switch {
	case c.Bandwidth < 0 || c.Bandwidth > 0 && c.Bandwidth < minBandwidth:
		return fmt.Errorf("isos.bandwidth: %d is not 0, for no bound, nor %d bytes per second or more", c.Bandwidth, minBandwidth)
	case *c.Spread < 0 || *c.Spread > maxISOSpread:
		return fmt.Errorf("isos.spread: %s is not 0s to %s", *c.Spread, maxISOSpread)
	}
	return nil
}

func (c ISOs) limits() files.ISOLimits {
	out := files.ISOLimits{Bandwidth: c.Bandwidth}
	if c.Spread != nil {
		out.Spread = *c.Spread
	}
	return out
}

// isoSource fetches uploaded files from the hub's API, with the agent's certificate.
type isoSource struct {
	keep *keeper
	apis []string // of the agent's file; in place of those that the hub tells
}

// Fetch implements files.ISOSource. It asks the hub's endpoints in turn; a refusal is of
// the hub, whichever endpoint it came by.
func (s isoSource) Fetch(ctx context.Context, digest string, offset, n int64) (io.ReadCloser, error) {
	id, apis := s.keep.now(), s.apis
	if len(apis) == 0 {
		apis = id.apis()
	}
	if len(apis) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "fetch file", "no API of the hub is known: this agent joined with a release that kept none").
			WithHint("give link.api in the agent's file, or join anew")
	}
	var errs []error
	for _, url := range apis {
		client, err := api.NewClient(api.Config{BaseURL: url, CA: id.hubCA(), Time: s.keep.time, Certificate: id.Answer.Certificate, Key: id.LinkKey})
		if err != nil {
			return nil, err
		}
		body, err := client.ISOs.Read(ctx, digest, offset, n)
		if err == nil {
			return &isoBody{body, client}, nil
		}
		client.CloseIdle()
		if protocol.CodeOf(err) == protocol.CodeDenied || ctx.Err() != nil {
			return nil, err
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// isoBody ends its client's connection with itself.
type isoBody struct {
	io.ReadCloser
	client *api.Client
}

// Close implements io.Closer.
func (b *isoBody) Close() error {
	err := b.ReadCloser.Close()
	b.client.CloseIdle()
	return err
}
