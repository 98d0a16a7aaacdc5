package jetstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
)

const (
	// pieceSize is how long each piece of a content is but the last: with its headers it is below the servers' default
	// max_payload of 1 MB. It is part of the layout.
	pieceSize = 512 << 10
	// piecesSent is how many pieces are on their way to the servers at once, and piecesRead how many from them.
	piecesSent = 4
	piecesRead = 4
	apiMsgGet  = "API.STREAM.MSG.GET."
	sumHeader  = "Rackboot-Sum" // CRC-32 of a piece, eight hex digits
	digestSum  = "sha256:"
)

// ErrPieces is in the chain of an error when what the servers have of a content is damaged, or not all of it.
var ErrPieces = errors.New("the servers have not all of it as it was")

// ErrSource is in the chain of an error of Put when what was to be kept is not what its digest says.
var ErrSource = errors.New("it is something else")

// ErrNoPlace is in the chain of an error when the servers have not the room that a bucket may need.
var ErrNoPlace = errors.New("no room on the servers")

// noPlace reports whether no servers have room for a stream, or the account has none.
func noPlace(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && slices.Contains([]jetstream.ErrorCode{errNoPeers, errInsufficient, errStorageExceeded, errMaxBytes}, api.ErrorCode)
}

// Bucket keeps large contents by their SHA-256 on one stream, in pieces: "<name>.<64 hex digits>.<number>". Who writes a
// content twice, or two who write it at once, write the same messages, of which the newest of each subject stays: so a
// Put that was cut off is gone on with by anybody, and leaves nothing that has no name. Which contents are whole the
// bucket does not know. All methods are safe for concurrent use.
type Bucket struct {
	cfg Config
	st  atomic.Pointer[stream] // nil before it was opened
	mu  sync.Mutex             // held by who opens it
}

// NewBucket is a bucket that nobody has opened yet. Errors: invalid.
func NewBucket(cfg Config) (*Bucket, error) {
	cfg, err := cfg.withDefaults("open bucket")
	if err != nil {
		return nil, err
	}
	return &Bucket{cfg: cfg}, nil
}

// OpenBucket creates the stream of the bucket or opens it. Errors: as OpenKV.
func OpenBucket(ctx context.Context, cfg Config) (*Bucket, error) {
	b, err := NewBucket(cfg)
	if err != nil {
		return nil, err
	}
	return b, b.Ready(ctx)
}

// Ready opens the stream, and creates it where it is not there, also where it was and somebody has removed it. Its ID is
// that of now then. Errors: as OpenKV.
func (b *Bucket) Ready(ctx context.Context) error {
	const op = "open bucket"
	b.mu.Lock()
	defer b.mu.Unlock()
	if st := b.st.Load(); st != nil {
		_, err := ask(ctx, st, func(ctx context.Context) (*jetstream.StreamInfo, error) { return st.s.Info(ctx) })
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			return readKnown(op, b.cfg.Name, err)
		}
	}
	st, err := openStream(ctx, op, b.cfg, jetstream.StreamConfig{
		Description: "Rackboot contents", MaxMsgsPerSubject: 1, AllowDirect: true, Compression: jetstream.NoCompression, MaxBytes: cmp.Or(b.cfg.MaxBytes, -1),
	})
	if noPlace(err) {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w: they cannot set %d bytes aside: %s", ErrNoPlace, b.cfg.MaxBytes, err).
			WithHint("lower isos.quotaMiB of the hub's file, or raise max_file_store of the NATS servers, or the account's limit, above it and what the store needs")
	}
	if err != nil {
		return err
	}
	b.st.Store(st)
	return nil
}

// open is the stream, which is opened if nobody has.
func (b *Bucket) open(ctx context.Context) (*stream, error) {
	if st := b.st.Load(); st != nil {
		return st, nil
	}
	if err := b.Ready(ctx); err != nil {
		return nil, err
	}
	return b.st.Load(), nil
}

// ID names the stream. One that was removed and made again has another ID: nothing is in it of what was. It is empty
// before the first Ready.
func (b *Bucket) ID() string {
	st := b.st.Load()
	if st == nil {
		return ""
	}
	return strconv.FormatInt(st.s.CachedInfo().Created.UnixNano(), 36)
}

// subject is that of a piece, or with "*" for at of all pieces.
func (st *stream) pieceSubject(name, at string) string { return st.prefix + name + "." + at }

// hexOf is the name of a content in subjects.
func hexOf(op, digest string) (string, error) {
	name, ok := strings.CutPrefix(digest, digestSum)
	if !ok || len(name) != hex.EncodedLen(sha256.Size) || strings.Trim(name, "0123456789abcdef") != "" {
		return "", protocol.Errorf(protocol.CodeInvalid, op, "digest %.100q is not sha256: and 64 lower-case hex digits", digest)
	}
	return name, nil
}

func piecesOf(size int64) int64 { return (size + pieceSize - 1) / pieceSize }

func lengthOf(at, size int64) int64 { return min(pieceSize, size-at*pieceSize) }

func sumOf(data []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(data)) }

// Put sends the pieces of a content that are not there, or with anew all of them, and says how many bytes it sent. It
// reads the whole content and compares it with its digest. What was sent before an error stays. Errors: invalid
// (ErrSource), unavailable (insufficient storage, no server, the content cannot be read), timeout.
func (b *Bucket) Put(ctx context.Context, digest string, size int64, content io.ReaderAt, anew bool) (sent int64, err error) {
	const op = "put content"
	name, err := hexOf(op, digest)
	if err != nil {
		return 0, err
	}
	st, err := b.open(ctx)
	if err != nil {
		return 0, err
	}
	there := map[string]uint64{}
	if !anew {
		if there, err = st.pieces(ctx, op, st.pieceSubject(name, "*")); err != nil {
			return 0, err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	free := make(chan []byte, piecesSent)
	var under sync.WaitGroup
	for range piecesSent {
		free <- make([]byte, pieceSize)
	}
	sum := sha256.New()
	for at := range piecesOf(size) {
		var buf []byte
		select {
		case buf = <-free:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		data := buf[:lengthOf(at, size)]
		if n, err := content.ReadAt(data, at*pieceSize); n < len(data) {
			cancel(protocol.Errorf(protocol.CodeUnavailable, op, "%s at %d: %w", digest, at*pieceSize, err))
			break
		}
		sum.Write(data)
		subject := st.pieceSubject(name, strconv.FormatInt(at, 10))
		if there[subject] > 0 {
			free <- buf
			continue
		}
		sent += int64(len(data))
		under.Go(func() {
			if err := st.sendPiece(ctx, op, subject, data); err != nil {
				cancel(err)
			}
			free <- buf
		})
	}
	under.Wait()
	if err := context.Cause(ctx); err != nil {
		return sent, mapKnown(op, digest, err)
	}
	if got := digestSum + hex.EncodeToString(sum.Sum(nil)); got != digest {
		return sent, protocol.Errorf(protocol.CodeInvalid, op, "%w: %s hashes to %s", ErrSource, digest, got)
	}
	return sent, nil
}

// readKnown is readError of an error that may have a code, or be none.
func readKnown(op, what string, err error) error {
	if _, ok := errors.AsType[*protocol.Error](err); ok || err == nil {
		return err
	}
	return readError(op, what, err)
}

// mapKnown leaves an error that has a code.
func mapKnown(op, what string, err error) error {
	if _, ok := errors.AsType[*protocol.Error](err); ok {
		return err
	}
	return mapError(op, what, err)
}

// send stores one piece. Sent twice it is the same piece.
func (st *stream) sendPiece(ctx context.Context, op, subject string, data []byte) error {
	_, err := ask(ctx, st, func(ctx context.Context) (uint64, error) {
		msg := &nats.Msg{Subject: subject, Data: data, Header: nats.Header{}}
		msg.Header.Set(sumHeader, sumOf(data))
		return st.publishOnce(ctx, op, msg)
	})
	return err
}

// pieces are the subjects of a filter of which there is a message.
func (st *stream) pieces(ctx context.Context, op, filter string) (map[string]uint64, error) {
	info, err := ask(ctx, st, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return st.s.Info(ctx, jetstream.WithSubjectFilter(filter))
	})
	if err != nil {
		return nil, readError(op, st.cfg.Name, err)
	}
	return info.State.Subjects, nil
}

// Digests are the contents of which there is the first piece, in order. Errors: unavailable, timeout.
func (b *Bucket) Digests(ctx context.Context) (out []string, err error) {
	st, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	subjects, err := st.pieces(ctx, "list contents", st.pieceSubject("*", "0"))
	if err != nil {
		return nil, err
	}
	for subject := range subjects {
		name, _, _ := strings.Cut(subject[len(st.prefix):], ".")
		out = append(out, digestSum+name)
	}
	slices.Sort(out)
	return out, nil
}

// Lacks is how many pieces of a content of size bytes are not there. Errors: invalid, unavailable, timeout.
func (b *Bucket) Lacks(ctx context.Context, digest string, size int64) (int64, error) {
	const op = "look at content"
	name, err := hexOf(op, digest)
	if err != nil {
		return 0, err
	}
	st, err := b.open(ctx)
	if err != nil {
		return 0, err
	}
	there, err := st.pieces(ctx, op, st.pieceSubject(name, "*"))
	if err != nil {
		return 0, err
	}
	return max(0, piecesOf(size)-int64(len(there))), nil
}

// Used is how many bytes all contents have on each server. Errors: unavailable, timeout.
func (b *Bucket) Used(ctx context.Context) (uint64, error) {
	st, err := b.open(ctx)
	if err != nil {
		return 0, err
	}
	info, err := ask(ctx, st, func(ctx context.Context) (*jetstream.StreamInfo, error) { return st.s.Info(ctx) })
	if err != nil {
		return 0, readError("measure bucket", st.cfg.Name, err)
	}
	return info.State.Bytes, nil
}

// Remove removes the pieces of a content; one of which there is nothing is no error. Errors: invalid, unavailable, timeout.
func (b *Bucket) Remove(ctx context.Context, digest string) error {
	const op = "remove content"
	name, err := hexOf(op, digest)
	if err != nil {
		return err
	}
	st, err := b.open(ctx)
	if err != nil {
		return err
	}
	_, err = ask(ctx, st, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, st.s.Purge(ctx, jetstream.WithPurgeSubject(st.pieceSubject(name, "*")))
	})
	if err != nil {
		return mapKnown(op, digest, err)
	}
	return nil
}

// Open reads a content of size bytes from an offset on. Each piece is compared with its sum; that all of them are the
// content only its digest says. The reader is for one goroutine, which closes it. Its errors: invalid (ErrPieces),
// unavailable, timeout.
func (b *Bucket) Open(ctx context.Context, digest string, size, offset int64) (io.ReadCloser, error) {
	const op = "read content"
	name, err := hexOf(op, digest)
	if err != nil {
		return nil, err
	}
	st, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	if offset < 0 || offset > size {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s has %d bytes, and none at %d", digest, size, offset)
	}
	r := &bucketReader{skip: offset % pieceSize, coming: make(chan chan piece, piecesRead-1)}
	r.ctx, r.stop = context.WithCancel(ctx)
	go func() {
		defer close(r.coming)
		for at := offset / pieceSize; at < piecesOf(size); at++ {
			one := make(chan piece, 1)
			select {
			case r.coming <- one:
			case <-r.ctx.Done():
				return
			}
			go func() { one <- st.piece(r.ctx, op, name, at, lengthOf(at, size)) }()
		}
	}()
	return r, nil
}

type piece struct {
	data []byte
	err  error
}

// bucketReader reads pieces in their order, the next ones while one is read.
type bucketReader struct {
	ctx    context.Context
	stop   context.CancelFunc
	coming chan chan piece
	skip   int64
	rest   []byte
	err    error
}

func (r *bucketReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		r.next()
	}
	if r.err != nil {
		return 0, r.err
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *bucketReader) next() {
	one, more := <-r.coming
	if !more {
		r.err = io.EOF
		if err := r.ctx.Err(); err != nil {
			r.err = readError("read content", "a piece", err)
		}
		return
	}
	got := <-one // get ends with the context
	r.rest, r.err = got.data, got.err
	if r.err == nil {
		r.rest, r.skip = r.rest[r.skip:], 0
	}
}

func (r *bucketReader) Close() error {
	r.stop()
	return nil
}

// get reads one piece. Any server that has it is asked first; one that lags behind may not have it yet, or none as it was, and then the leader is.
func (st *stream) piece(ctx context.Context, op, name string, at, length int64) piece {
	subject := st.pieceSubject(name, strconv.FormatInt(at, 10))
	fit := func(h nats.Header, data []byte) bool {
		return int64(len(data)) == length && h.Get(sumHeader) == sumOf(data)
	}
	m, err := ask(ctx, st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return st.s.GetLastMsgForSubject(ctx, subject)
	})
	if err == nil && fit(m.Header, m.Data) {
		return piece{data: m.Data}
	}
	if err == nil || errors.Is(err, jetstream.ErrMsgNotFound) {
		m, err = ask(ctx, st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) { return st.ofLeader(ctx, subject) })
	}
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return piece{err: protocol.Errorf(protocol.CodeInvalid, op, "%w: piece %d of %s is missing", ErrPieces, at, name)}
	case err != nil:
		return piece{err: readError(op, name, err)}
	case !fit(m.Header, m.Data):
		return piece{err: protocol.Errorf(protocol.CodeInvalid, op, "%w: piece %d of %s is damaged", ErrPieces, at, name)}
	}
	return piece{data: m.Data}
}

// ofLeader asks the stream's leader, which a client of a stream with direct reads does not do otherwise.
func (st *stream) ofLeader(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	cfg := st.cfg
	api := "$JS."
	if cfg.Domain != "" {
		api += cfg.Domain + "."
	}
	question, err := json.Marshal(map[string]string{"last_by_subj": subject})
	if err != nil {
		return nil, err
	}
	raw, err := cfg.Conn.RequestWithContext(ctx, api+apiMsgGet+cfg.Name, question)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Found *struct {
			Headers []byte `json:"hdrs"`
			Data    []byte `json:"data"`
		} `json:"message"`
		Error *jetstream.APIError `json:"error"`
	}
	switch err := json.Unmarshal(raw.Data, &answer); {
	case err != nil:
		return nil, err
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, jetstream.ErrMsgNotFound
	case answer.Error != nil:
		return nil, answer.Error
	case answer.Found == nil:
		return nil, jetstream.ErrInvalidJetStreamResponse
	}
	m := &jetstream.RawStreamMsg{Subject: subject, Data: answer.Found.Data}
	if len(answer.Found.Headers) > 0 {
		if m.Header, err = nats.DecodeHeadersMsg(answer.Found.Headers); err != nil {
			return nil, err
		}
	}
	return m, nil
}
