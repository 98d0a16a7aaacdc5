package jetstream

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats-server/v2/server/archive"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
)

// A copy of a stream is an archive of nats-server: its first entry is of the stream, then one for each
// message, with its sequence, then an empty one.
//
// # One moment
//
// A copy is the stream as it was when its newest message was the last that is copied. It is read in the
// order of sequences, while others write, until nothing more comes. Of each key the newest revision up
// to there is in it: it goes only when newer ones have come, and when the last message is read there
// are none. A commit is in it whole. What must not happen meanwhile is that the deletions of keys are
// removed: an older revision may have been read already, and the key would be there again. Then
// the copy fails.

// copyEntry is the name of a copy's first entry. No subject has this character.
const copyEntry = "$stream"

// copied is the content of the first entry.
type copied struct {
	Config jetstream.StreamConfig `json:"config"`
	// Last is the sequence of the newest message when the copy was begun. Where it is gone by now the
	// sequences go on behind it all the same.
	Last uint64 `json:"last"`
}

// Copied says what is in a copy.
type Copied struct {
	Name string
	// First and Last are sequences of messages; 0 where there are none.
	First, Last uint64
	Messages    uint64
	// Kinds counts the messages by the first level of their keys, at most maxKinds of them.
	Kinds map[string]uint64
}

// maxKinds bounds the kinds that are counted.
const maxKinds = 1024

// add counts a message.
func (c *Copied) add(prefix, subject string, seq uint64) {
	if c.First == 0 {
		c.First = seq
	}
	c.Last = seq
	c.Messages++
	kind, _, _ := strings.Cut(strings.TrimPrefix(subject, prefix), ".")
	if _, known := c.Kinds[kind]; known || len(c.Kinds) < maxKinds {
		c.Kinds[kind]++
	}
}

// Copy writes a copy of the stream to w, as it is at a moment before it returns. Errors: unavailable,
// also while deletions are being removed, timeout when ctx ends, and those of w.
func (k *KV) Copy(ctx context.Context, w io.Writer) (Copied, error) {
	return k.st.copy(ctx, w, nil, k.within)
}

func (k *KV) within(m jetstream.Msg, meta *jetstream.MsgMetadata) bool {
	return k.message(m, meta).within()
}

// Sum is a SHA-256 of all messages of the stream, with their sequences, times and headers: two streams of which one
// was made of the other have the same. Errors: as of Copy.
func (k *KV) Sum(ctx context.Context) (Copied, []byte, error) { return k.st.sum(ctx, k.within) }

// Sum is that of a KV.
func (l *Log) Sum(ctx context.Context) (Copied, []byte, error) { return l.st.sum(ctx, alone) }

func (st *stream) sum(ctx context.Context, within func(jetstream.Msg, *jetstream.MsgMetadata) bool) (Copied, []byte, error) {
	all := sha256.New()
	c, err := st.copy(ctx, io.Discard, all, within)
	return c, all.Sum(nil), err
}

// alone is of streams whose messages do not belong together.
func alone(jetstream.Msg, *jetstream.MsgMetadata) bool { return false }

// Copy writes a copy of the stream to w. Errors: as of a KV.
func (l *Log) Copy(ctx context.Context, w io.Writer) (Copied, error) {
	return l.st.copy(ctx, w, nil, alone)
}

// copy is Copy; each message goes into sum too, if there is one.
func (st *stream) copy(ctx context.Context, w io.Writer, sum hash.Hash, within func(jetstream.Msg, *jetstream.MsgMetadata) bool) (Copied, error) {
	const op = "copy stream"
	out := Copied{Name: st.cfg.Name, Kinds: map[string]uint64{}}
	before, err := st.readPurged(ctx, op)
	if err != nil {
		return out, err
	}
	info, err := ask(ctx, st, func(ctx context.Context) (*jetstream.StreamInfo, error) { return st.s.Info(ctx) })
	if err != nil {
		return out, readError(op, st.cfg.Name, err)
	}
	a := archive.NewWriter(w)
	head, err := json.Marshal(copied{Config: info.Config, Last: info.State.LastSeq})
	if err != nil {
		return out, err
	}
	if err := put(a, archive.Header{Name: copyEntry, PayloadSize: int64(len(head))}, head); err != nil {
		return out, err
	}
	var wrong error
	looks, seen := 0, map[string]bool{} // subjects, where a copy may need a goal: asking a server of its own takes no time
	var later *goal
	r, err := st.beginAhead(ctx, op, start{policy: jetstream.DeliverAllPolicy}, copyAhead)
	if err != nil {
		return out, err
	}
	err = r.copied(ctx, op, func(m jetstream.Msg, meta *jetstream.MsgMetadata) bool {
		h := rawHeader(m.Headers())
		out.add(st.prefix, m.Subject(), meta.Sequence.Stream)
		about := archive.Header{
			Name: m.Subject(), HeaderSize: int64(len(h)), PayloadSize: int64(len(m.Data())), Timestamp: meta.Timestamp.UnixNano(), Sequence: meta.Sequence.Stream,
		}
		if sum != nil {
			_, _ = fmt.Fprintf(sum, "%q %d %d %d %d\n%s%s", about.Name, about.HeaderSize, about.PayloadSize, about.Timestamp, about.Sequence, h, m.Data()) // never fails
		}
		wrong = put(a, about, h, m.Data())
		st.at("copy")
		if st.cfg.Replicas > 1 {
			seen[m.Subject()] = true
		}
		later.saw(m.Subject())
		if wrong != nil || meta.NumPending > 0 || within(m, meta) {
			return wrong == nil
		}
		// The count may lack what replaces a message that is gone; see ends.
		if later != nil {
			return !later.reached(meta.Sequence.Stream)
		}
		newest, err := st.newestSeq(ctx, op)
		if err != nil || meta.Sequence.Stream >= newest {
			wrong = err
			return false
		}
		switch looks++; {
		case looks == patience && st.cfg.Replicas > 1:
			later, wrong = st.goal(ctx, op, func(subject string) bool { return seen[subject] })
		case looks == maxLooks:
			wrong = protocol.Errorf(protocol.CodeUnavailable, op, "%s: it changes too fast to be copied", st.cfg.Name).WithHint("try again")
		}
		return wrong == nil && !later.reached(meta.Sequence.Stream)
	})
	if err := errors.Join(wrong, err); err != nil {
		return out, err
	}
	after, err := st.readPurged(ctx, op)
	if err != nil {
		return out, err
	}
	if after.Floor != before.Floor || goingWhole(before) {
		return out, protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", st.cfg.Name, errRemoved).WithHint("try again")
	}
	return out, put(a, archive.Header{})
}

// copied delivers what is there until fn returns false or nothing more is there, and closes the reader. The
// server's count of what is to come may have messages in it that fell out of the history meanwhile (seen with
// nats-server v2.15.2 where writers stop at once), so that after a moment without a message it is asked what it has.
func (r *reader) copied(ctx context.Context, op string, fn func(jetstream.Msg, *jetstream.MsgMetadata) bool) error {
	defer r.close(ctx)
	if r.empty && r.st.cfg.Replicas == 1 { // else the copy that it reads from may lag behind
		return nil
	}
	for at := uint64(0); ; {
		msg, meta, err := r.copiedNext(ctx, op, at)
		if err != nil || msg == nil {
			return err
		}
		at = meta.Sequence.Stream
		if !fn(msg, meta) {
			return nil
		}
	}
}

// copiedNext is the message after the one at a sequence, which is waited for as long as one call to the server may
// take; nil if nothing is there.
func (r *reader) copiedNext(ctx context.Context, op string, at uint64) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	ctx, cancel := r.st.deadline(ctx)
	defer cancel()
	for {
		msg, meta, err := r.moment(ctx, op)
		if !errors.Is(err, errStuck) {
			return msg, meta, err
		}
		info, err := ask(ctx, r.st, func(ctx context.Context) (*jetstream.StreamInfo, error) { return r.st.s.Info(ctx) })
		if err != nil {
			return nil, nil, readError(op, r.st.cfg.Name, err)
		}
		if has := info.State; has.LastSeq <= at || has.FirstSeq > has.LastSeq {
			return nil, nil, nil
		}
	}
}

// copyAhead is how many messages a copy has in flight: who takes it may be slow, and they may be long.
const copyAhead = 16

// goingWhole reports whether keys are being removed.
func goingWhole(p purged) bool {
	return slices.ContainsFunc(p.Going, func(g going) bool { return g.Whole })
}

func put(a *archive.Writer, h archive.Header, parts ...[]byte) error {
	if err := a.WriteHeader(&h); err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := a.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// rawHeader is a header as NATS has it on the wire; nothing for none.
func rawHeader(h nats.Header) []byte {
	if len(h) == 0 {
		return nil
	}
	out := []byte("NATS/1.0\r\n")
	for _, k := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[k] {
			out = fmt.Appendf(out, "%s: %s\r\n", k, v)
		}
	}
	return append(out, "\r\n"...)
}

const (
	apiRestore = "API.STREAM.RESTORE."
	// restoreChunk is how much of a copy is sent at once, in bytes; a server takes at most 256 KiB.
	restoreChunk = 128 << 10
	// restoreWait is how long the server may take for a piece, and for its end.
	restoreWait = time.Minute
)

// Restore makes the stream that cfg names of a copy, on a server that has none of its name, with the sequences and
// times that the messages had. How many replicas it has, and where, cfg says, and not the stream that was copied: that may
// have been on other servers. r must not pause for seconds: the server gives up then. Errors: conflict where there is such a stream, invalid for what is no copy of it, unavailable, timeout.
func Restore(ctx context.Context, cfg Config, r io.Reader) (Copied, error) {
	const op = "restore stream"
	name := cfg.Name
	out := Copied{Name: name, Kinds: map[string]uint64{}}
	in := archive.NewReader(r)
	head, err := readHead(in, name)
	if err != nil {
		return out, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", name, err).WithHint("the copy is damaged, or of something else")
	}
	head.Config.Replicas, head.Config.Placement = max(cfg.Replicas, 1), nil
	pieces := &pieces{ctx: ctx, conn: cfg.Conn, domain: cfg.Domain, op: op, name: name}
	if err := pieces.begin(head.Config); err != nil {
		return out, err
	}
	packed := s2.NewWriter(pieces, s2.WriterConcurrency(1), s2.WriterBlockSize(restoreChunk))
	if err := convert(in, packed, head, &out); err != nil {
		_ = pieces.end() // which the server refuses; without it, it waits
		if _, ours := errors.AsType[*protocol.Error](err); ours {
			return out, err
		}
		return out, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", name, err).WithHint("the copy is damaged")
	}
	if err := packed.Close(); err != nil {
		return out, err
	}
	return out, pieces.end()
}

func readHead(in *archive.Reader, name string) (head copied, err error) {
	h, err := in.Next()
	if err != nil {
		return head, err
	}
	if h.Name != copyEntry || h.PayloadSize > maxHead {
		return head, fmt.Errorf("it begins with %.40q", h.Name)
	}
	if err := json.NewDecoder(in).Decode(&head); err != nil {
		return head, err
	}
	if head.Config.Name != name {
		return head, fmt.Errorf("it is of %.40q", head.Config.Name)
	}
	return head, nil
}

// maxHead bounds the first entry of a copy in bytes, and maxCopied an entry.
const (
	maxHead   = 1 << 20
	maxCopied = 64 << 20
)

// convert writes a copy as the server reads one: that begins with a state (nats-server v2.15.2,
// RestoreStreamV2), of which it takes the first sequence, and the last if that is gone.
func convert(in *archive.Reader, to io.Writer, head copied, out *Copied) error {
	a, prefix := archive.NewWriter(to), strings.ToLower(head.Config.Name)+"."
	begin := func(first uint64) error {
		state, err := json.Marshal(map[string]uint64{"first_seq": first, "last_seq": max(head.Last, first-1)})
		if err != nil {
			return err
		}
		return put(a, archive.Header{Name: "state.json", PayloadSize: int64(len(state))}, state)
	}
	for {
		h, err := in.Next()
		if err != nil {
			return err
		}
		if h.Sequence == 0 {
			if h.Name != "" || h.HeaderSize+h.PayloadSize > 0 {
				return fmt.Errorf("after %d messages an entry without a sequence", out.Messages)
			}
			if out.Messages == 0 {
				if err := begin(head.Last + 1); err != nil {
					return err
				}
			}
			return put(a, archive.Header{})
		}
		if h.Sequence <= out.Last || !strings.HasPrefix(h.Name, prefix) || h.HeaderSize > maxCopied || h.PayloadSize > maxCopied {
			return fmt.Errorf("after %d messages one that cannot be there: %.80q, sequence %d", out.Messages, h.Name, h.Sequence)
		}
		if out.Messages == 0 {
			if err := begin(h.Sequence); err != nil {
				return err
			}
		}
		out.add(prefix, h.Name, h.Sequence)
		if err := a.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.CopyN(a, in, h.HeaderSize+h.PayloadSize); err != nil {
			return err
		}
	}
}

// pieces sends what is written to the server that restores, one piece after the other.
type pieces struct {
	ctx    context.Context
	conn   *nats.Conn
	domain string
	op     string
	name   string
	to     string // subject
}

// answer is what the server says to a request; to a piece it may say nothing.
type answer struct {
	Error   *jetstream.APIError `json:"error"`
	Deliver string              `json:"deliver_subject"`
}

func (p *pieces) ask(subject string, data []byte) (a answer, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, restoreWait)
	defer cancel()
	m, err := p.conn.RequestWithContext(ctx, subject, data)
	if err != nil {
		return a, mapError(p.op, p.name, err)
	}
	if len(m.Data) > 0 {
		if err := json.Unmarshal(m.Data, &a); err != nil {
			return a, mapError(p.op, p.name, err)
		}
	}
	if a.Error != nil {
		if a.Error.ErrorCode == jetstream.JSErrCodeStreamNameInUse || a.Error.ErrorCode == errRestoreExists {
			return a, protocol.Errorf(protocol.CodeConflict, p.op, "%s is there already", p.name).WithHint("restore into an empty folder")
		}
		return a, mapError(p.op, p.name, a.Error)
	}
	return a, nil
}

func (p *pieces) begin(config jetstream.StreamConfig) error {
	raw, err := json.Marshal(map[string]any{"config": config})
	if err != nil {
		return err
	}
	prefix := "$JS."
	if p.domain != "" {
		prefix += p.domain + "."
	}
	a, err := p.ask(prefix+apiRestore+p.name, raw)
	for end := time.Now().Add(restoreWait); nobody(err) && time.Now().Before(end); a, err = p.ask(prefix+apiRestore+p.name, raw) {
		select {
		case <-time.After(againPause):
		case <-p.ctx.Done():
			return err
		}
	}
	p.to = a.Deliver
	return err
}

// nobody reports whether a request reached no server that could have begun with it, as while servers elect a leader.
func nobody(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == errNoLeader || errors.Is(err, nats.ErrNoResponders)
}

// Write implements io.Writer.
func (p *pieces) Write(b []byte) (int, error) {
	for part := range slices.Chunk(b, restoreChunk) {
		if _, err := p.ask(p.to, part); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (p *pieces) end() error {
	_, err := p.ask(p.to, nil)
	return err
}

// Exists reports whether there is a stream of the name. Errors: unavailable, timeout.
func Exists(ctx context.Context, cfg Config) (bool, error) {
	const op = "look for stream"
	cfg, err := cfg.withDefaults(op)
	if err != nil {
		return false, err
	}
	js, err := cfg.api()
	if err != nil {
		return false, mapError(op, cfg.Name, err)
	}
	return ask(ctx, &stream{cfg: cfg}, func(ctx context.Context) (bool, error) {
		_, err := js.Stream(ctx, cfg.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return false, nil
		}
		if err != nil {
			return false, readError(op, cfg.Name, err)
		}
		return true, nil
	})
}
