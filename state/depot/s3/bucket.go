package s3

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"rackboot/protocol"
	"rackboot/state/depot"
)

// Bucket keeps backups in a bucket. It is safe for concurrent use.
type Bucket struct {
	cfg       Config
	endpoint  *url.URL
	part      uint64 // size of a part in bytes
	transport *http.Transport
}

var _ depot.Place = (*Bucket)(nil)

// String implements depot.Place.
func (b *Bucket) String() string {
	return "s3://" + path.Join(b.cfg.Bucket, b.cfg.Prefix) + " at " + b.endpoint.Host
}

// key is an object's name.
func (b *Bucket) key(name string) string { return path.Join(b.cfg.Prefix, name) }

// after bounds what is cleaned up when a call has ended.
const after = 30 * time.Second

// Put implements depot.Place.
func (b *Bucket) Put(ctx context.Context, name string, write func(io.Writer) error, check func(io.Reader) error) error {
	const op = "keep backup"
	c, err := b.client()
	if err != nil {
		return err
	}
	_, err = c.StatObject(ctx, b.cfg.Bucket, b.key(name), minio.StatObjectOptions{})
	if err == nil {
		return protocol.Errorf(protocol.CodeConflict, op, "%s has %s already", b, name).WithHint("give another name, or wait a second")
	}
	if err := b.failed(op, err); protocol.CodeOf(err) != protocol.CodeNotFound || minio.ToErrorResponse(err).Code == minio.NoSuchBucket {
		return err
	}
	if err := b.upload(ctx, c, name, write); err != nil {
		b.giveUp(ctx, c, name)
		return err
	}
	if err := b.readBack(ctx, name, check); err != nil {
		b.giveUp(ctx, c, name)
		return err
	}
	return nil
}

// giveUp takes back what is there of an object. A store may have kept it and failed to say so.
func (b *Bucket) giveUp(ctx context.Context, c *minio.Client, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), after)
	defer cancel()
	_ = c.RemoveIncompleteUpload(ctx, b.cfg.Bucket, b.key(name)) // the error of before says more; Sweep tries again
	_ = c.RemoveObject(ctx, b.cfg.Bucket, b.key(name), minio.RemoveObjectOptions{})
}

// broken is an error of who writes. The library takes some errors of readers for an end.
type broken struct{ err error }

func (b broken) Error() string { return b.err.Error() }
func (b broken) Unwrap() error { return b.err }

func (b *Bucket) upload(ctx context.Context, c *minio.Client, name string, write func(io.Writer) error) error {
	const op = "keep backup"
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := write(w)
		if err != nil {
			_ = w.CloseWithError(broken{err}) // never fails
		} else {
			_ = w.Close() // never fails
		}
		written <- err
	}()
	_, err := c.PutObject(ctx, b.cfg.Bucket, b.key(name), r, -1, minio.PutObjectOptions{
		ContentType: "application/octet-stream", PartSize: b.part, NumThreads: 1, SendContentMd5: true,
	})
	_ = r.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // never fails
	wrong := <-written
	var own broken
	switch {
	case err == nil && wrong == nil:
		return nil
	case err != nil && !errors.As(err, &own): // of the store; that of who writes is a consequence
		return b.failed(op, err)
	default:
		return b.failed(op, wrong)
	}
}

func (b *Bucket) readBack(ctx context.Context, name string, check func(io.Reader) error) error {
	r, err := b.Open(ctx, name)
	if err != nil {
		return err
	}
	defer r.Close()
	return check(r)
}

// Open implements depot.Place.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	const op = "read backup"
	c, err := b.client()
	if err != nil {
		return nil, err
	}
	o, err := c.GetObject(ctx, b.cfg.Bucket, b.key(name), minio.GetObjectOptions{})
	if err == nil {
		_, err = o.Stat() // which asks the store
	}
	if err != nil {
		return nil, b.failed(op, err)
	}
	return &object{b, o}, nil
}

// object is one that is being read.
type object struct {
	bucket *Bucket
	*minio.Object
}

func (o *object) Read(p []byte) (int, error) {
	n, err := o.Object.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = o.bucket.failed("read backup", err)
	}
	return n, err
}

// List implements depot.Place.
func (b *Bucket) List(ctx context.Context) ([]depot.Kept, error) {
	c, err := b.client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing
	var list []depot.Kept
	prefix := b.key("")
	if prefix != "" {
		prefix += "/"
	}
	for o := range c.ListObjects(ctx, b.cfg.Bucket, minio.ListObjectsOptions{Prefix: prefix}) {
		if o.Err != nil {
			return nil, b.failed("list backups", o.Err)
		}
		name := strings.TrimPrefix(o.Key, prefix)
		if made, ok := depot.MadeAt(name); ok {
			list = append(list, depot.Kept{Name: name, Size: o.Size, Made: made})
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, b.failed("list backups", err)
	}
	depot.Sort(list)
	return list, nil
}

// Remove implements depot.Place.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	c, err := b.client()
	if err != nil {
		return err
	}
	return b.failed("remove backup", c.RemoveObject(ctx, b.cfg.Bucket, b.key(name), minio.RemoveObjectOptions{}))
}

// Sweep implements depot.Place.
func (b *Bucket) Sweep(ctx context.Context) error {
	const op = "sweep backups"
	c, err := b.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for u := range c.ListIncompleteUploads(ctx, b.cfg.Bucket, b.key("rackboot-hub-"), true) {
		if u.Err != nil {
			return b.failed(op, u.Err)
		}
		if _, ok := depot.MadeAt(path.Base(u.Key)); !ok || u.Key != b.key(path.Base(u.Key)) {
			continue
		}
		if err := c.RemoveIncompleteUpload(ctx, b.cfg.Bucket, u.Key); err != nil {
			return b.failed(op, err)
		}
	}
	return nil
}

// failed gives an error a code and a hint; nil is none.
func (b *Bucket) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ours := errors.AsType[*protocol.Error](err); ours {
		return err
	}
	wrap := func(code protocol.Code, hint string, args ...any) error {
		return protocol.Errorf(code, op, "%s: %w", b, err).WithHint(hint, args...)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return wrap(protocol.CodeTimeout, "nothing is left of it; try again")
	}
	switch r := minio.ToErrorResponse(err); r.Code {
	case minio.NoSuchBucket:
		return wrap(protocol.CodeNotFound, "make the bucket %s first, or correct its name", b.cfg.Bucket)
	case minio.NoSuchKey, "NotFound":
		return wrap(protocol.CodeNotFound, "rackctl backup list shows what is there")
	case minio.AccessDenied, "InvalidAccessKeyId", "AllAccessDisabled", "ExpiredToken", "InvalidToken":
		return wrap(protocol.CodeDenied, "the account must be allowed to put, get, list and delete objects, and to list and abort uploads, in %s", b.cfg.Bucket)
	case "SignatureDoesNotMatch", "AuthorizationHeaderMalformed", "InvalidRegion":
		return wrap(protocol.CodeDenied, "check the secret key and the region; a proxy may not change the request")
	case "RequestTimeTooSkewed", "RequestExpired":
		return wrap(protocol.CodeDenied, "set the clock of this host")
	case "SlowDown", "SlowDownRead", "SlowDownWrite", "ServiceUnavailable", "InternalError", "TooManyRequests":
		return wrap(protocol.CodeUnavailable, "the store is busy or failing; it is tried again, and if it stays so, look there")
	case "QuotaExceeded", "XMinioStorageFull", "EntityTooLarge":
		return wrap(protocol.CodeUnavailable, "make room in the store, or keep fewer backups")
	}
	return wrap(protocol.CodeUnavailable, "look whether %s is reached from this host, and at its certificate", b.endpoint.Host)
}
