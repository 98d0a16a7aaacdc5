package files

import (
	"context"
	"io"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Bring makes a file of the hub local that no server boots from, in the way of uploaded files, and keeps it until Let. One is
// brought at a time. It waits; name is for people. Errors: those of the hub and of the agent's store of files;
// [rackboot/state/blob.ErrContent] is in the chain for a file that is not what its digest says.
func (r *Room) Bring(ctx context.Context, name, digest string, size int64) error {
	p := r.uploads
	if err := p.keepAlone(digest); err != nil {
		return err
	}
	err := p.fetch(ctx, resource.EnvISO{File: name, Digest: digest, Size: size}, p.waitTurn)
	result := isoDone
	if err != nil {
		result = string(protocol.CodeOf(err))
	}
	p.metrics.pulls.WithLabelValues(result).Inc()
	return err
}

// Read opens a file that Bring has made local.
func (r *Room) Read(digest string) (io.ReadCloser, error) {
	f, _, err := r.uploads.cfg.Blobs.Open(digest)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Let removes a file that Bring has made local, or the part of it that came.
func (r *Room) Let(digest string) error {
	p := r.uploads
	if err := p.keepAlone(""); err != nil {
		return err
	}
	if !p.cfg.Blobs.Has(digest) {
		p.drop(digest)
		return nil
	}
	return p.cfg.Blobs.Remove(digest)
}

// keepAlone pins a file in place of the one that was brought before; an empty digest pins none.
func (p *uploads) keepAlone(digest string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alone == digest {
		return nil
	}
	if digest != "" {
		if err := p.cfg.Blobs.Pin(digest); err != nil {
			return err
		}
	}
	was := p.alone
	p.alone = digest
	if was == "" {
		return nil
	}
	return p.cfg.Blobs.Unpin(was)
}
