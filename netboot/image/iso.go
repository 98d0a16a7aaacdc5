package image

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"rackboot/netboot/iso"
	"rackboot/protocol/resource"
)

const (
	// isoBlock is how much of an ISO is read at once, in bytes, and maxBlocks how often.
	isoBlock  = 64 << 10
	maxBlocks = 64
)

// inspectISO looks whether an image's ISO is one that UEFI firmware of the architecture
// boots. Of one whose folders lie widely apart, or at a registry that knows no ranges, not
// all can be told; the agent looks at the whole again.
func (r *registry) inspectISO(ctx context.Context, client *http.Client, a resource.Artefact, arch string) error {
	return iso.Check(&remoteISO{ctx: ctx, registry: r, client: client, artefact: a, blocks: map[int64][]byte{}}, arch)
}

// remoteISO reads parts of an artefact.
type remoteISO struct {
	ctx      context.Context
	registry *registry
	client   *http.Client
	artefact resource.Artefact
	blocks   map[int64][]byte // by offset
}

// ReadAt implements io.ReaderAt.
func (i *remoteISO) ReadAt(p []byte, at int64) (n int, err error) {
	if at+int64(len(p)) > i.artefact.Size {
		return 0, io.EOF
	}
	for n < len(p) {
		off := (at + int64(n)) / isoBlock * isoBlock
		b, ok := i.blocks[off]
		if !ok {
			if len(i.blocks) == maxBlocks {
				return n, iso.ErrBeyond
			}
			if b, err = i.block(off); err != nil {
				return n, err
			}
			i.blocks[off] = b
		}
		n += copy(p[n:], b[at+int64(n)-off:])
	}
	return n, nil
}

// block reads one block. A registry that gives the whole for a range is read no further
// than its first.
func (i *remoteISO) block(off int64) ([]byte, error) {
	r := i.registry
	req, err := http.NewRequestWithContext(i.ctx, http.MethodGet, fmt.Sprintf("%s://%s/v2/%s/blobs/%s", r.repo.Scheme(), r.host, r.repo.RepositoryStr(), i.artefact.Digest), http.NoBody)
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(isoBlock, i.artefact.Size-off))
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+int64(len(b))-1))
	resp, err := i.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := transport.CheckError(resp, http.StatusOK, http.StatusPartialContent); err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK && off > 0 {
		return nil, iso.ErrBeyond
	}
	_, err = io.ReadFull(resp.Body, b)
	return b, err
}
