package jetstream

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// fetchAhead is how many messages a reader may have in flight. It bounds the
// memory of a reader that does not keep up.
const fetchAhead = 256

// heartbeat is how often the server says that there is nothing, as often as it may. A reader begins again when it
// misses two: in a cluster the first request may come before the consumer hears it, and a server that was started anew
// knows no consumer.
const heartbeat = 500 * time.Millisecond

// listMoment is how long a list waits for a message before it looks for another reason than a slow server. It is
// longer than two heartbeats, or the library's count of missed ones, which begins with each wait, would never end.
const listMoment = 3 * heartbeat

// reader follows the stream with a consumer of its own, and notices a lost message: it begins again after the last that
// came. So does the library's ordered consumer, which waits ten seconds for an answer that a server has not given before
// it ended, and asks nobody else meanwhile.
type reader struct {
	st    *stream
	cfg   jetstream.ConsumerConfig // of the first consumer
	ahead int

	c  jetstream.Consumer
	it jetstream.MessagesContext // nil where there is none until it begins again
	// empty says that there was nothing to deliver at the start.
	empty bool
	// came is how many messages came of this consumer, and at the sequence of the last that came.
	came, at uint64
}

// idle is how long the server keeps a consumer that nobody asks for anything.
const idle = 5 * time.Minute

// start is where a reader begins.
type start struct {
	policy   jetstream.DeliverPolicy
	sequence uint64   // of DeliverByStartSequencePolicy
	subjects []string // all of the stream if there are none
	headers  bool     // without data
}

func (f start) config() jetstream.ConsumerConfig {
	if len(f.subjects) == 0 && f.policy == jetstream.DeliverLastPerSubjectPolicy {
		f.subjects = []string{">"} // it wants one
	}
	return jetstream.ConsumerConfig{
		DeliverPolicy: f.policy, OptStartSeq: f.sequence, FilterSubjects: f.subjects, HeadersOnly: f.headers,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: idle,
	}
}

// begin makes a reader, and asks again while the server does not answer.
func (st *stream) begin(ctx context.Context, op string, f start) (*reader, error) {
	return st.beginAhead(ctx, op, f, fetchAhead)
}

// beginAhead is begin with so many messages in flight.
func (st *stream) beginAhead(ctx context.Context, op string, f start, ahead int) (*reader, error) {
	r := &reader{st: st, cfg: f.config(), ahead: ahead}
	if err := r.consume(ctx, op); err != nil {
		return nil, err
	}
	r.empty = r.c.CachedInfo().NumPending == 0
	return r, nil
}

// consume makes a consumer that begins after what has come.
func (r *reader) consume(ctx context.Context, op string) error {
	cfg := r.cfg
	if r.at > 0 {
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, r.at+1
	}
	c, err := ask(ctx, r.st, func(ctx context.Context) (jetstream.Consumer, error) {
		return r.st.s.CreateConsumer(ctx, cfg) // each has a name of its own: a first try may have made one
	})
	if err != nil {
		return readError(op, r.st.cfg.Name, err)
	}
	it, err := c.Messages(jetstream.PullMaxMessages(r.ahead), jetstream.PullHeartbeat(heartbeat), jetstream.WithMessagesErrOnMissingHeartbeat(true))
	if err != nil {
		return readError(op, r.st.cfg.Name, err)
	}
	r.c, r.it, r.came = c, it, 0
	return nil
}

// again begins again, whatever the server says, for as long as one call to it may take.
func (r *reader) again(ctx context.Context, op string) error {
	ctx, cancel := r.st.deadline(ctx)
	defer cancel()
	for {
		err := r.consume(ctx, op)
		if err == nil || ctx.Err() != nil || r.st.cfg.Conn.IsClosed() {
			return err
		}
		select {
		case <-time.After(againPause):
		case <-ctx.Done():
			return err
		}
	}
}

// next waits for the next message, as long as one call to the server may take.
func (r *reader) next(ctx context.Context, op string) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	ctx, cancel := r.st.deadline(ctx)
	defer cancel()
	return r.wait(ctx, op)
}

// wait waits for the next message until ctx ends.
func (r *reader) wait(ctx context.Context, op string) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	return r.within(ctx, op, 0)
}

// moment is next for a moment only: then errStuck. To begin again it takes the time of a call.
func (r *reader) moment(ctx context.Context, op string) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	return r.within(ctx, op, listMoment)
}

// within waits for the next message until ctx ends, or nothing has come for so long, which is errStuck; 0 is any time.
func (r *reader) within(ctx context.Context, op string, most time.Duration) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	for {
		if r.it == nil {
			if err := r.again(ctx, op); err != nil {
				return nil, nil, err
			}
		}
		moment, stop := ctx, context.CancelFunc(func() {})
		if most > 0 {
			moment, stop = context.WithTimeout(ctx, most)
		}
		msg, err := r.it.Next(jetstream.NextContext(moment))
		over := moment.Err() != nil
		stop()
		switch {
		case err == nil:
			meta, err := msg.Metadata()
			if err != nil {
				return nil, nil, readError(op, r.st.cfg.Name, err)
			}
			if r.came++; meta.Sequence.Consumer == r.came {
				r.at = meta.Sequence.Stream
				return msg, meta, nil
			}
			// What was sent between two connections is lost.
		case ctx.Err() != nil:
			return nil, nil, readError(op, r.st.cfg.Name, err)
		case over:
			return nil, nil, errStuck
		}
		r.end() // else its server is gone, or the consumer, or nothing is heard of them
	}
}

// end ends a consumer, which times out by itself: who could be told may be gone.
func (r *reader) end() {
	r.it.Stop()
	r.it = nil
}

// close takes the consumer off the server. If that fails, the server does it
// after five minutes without a request.
func (r *reader) close(ctx context.Context) {
	if r.it == nil {
		return
	}
	r.it.Stop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lostAfter)
	defer cancel()
	if err := r.st.s.DeleteConsumer(ctx, r.c.CachedInfo().Name); err != nil {
		r.st.cfg.Logger.Debug("consumer left to time out", "stream", r.st.cfg.Name, "err", err)
	}
}

// drain delivers what the stream holds now, in sequence order, until fn
// returns false or the end is reached. What the disk has changed and the server cannot read is passed over, where
// the beginning is a sequence.
func (st *stream) drain(ctx context.Context, op string, f start, fn func(jetstream.Msg, *jetstream.MsgMetadata) bool) error {
	for stuck := 0; ; stuck++ {
		at, err := st.drainOnce(ctx, op, f, fn)
		if !errors.Is(err, errStuck) {
			return err
		}
		if at > 0 {
			stuck = 0
		}
		if stuck == maxStuck {
			return protocol.Errorf(protocol.CodeTimeout, op, "%s: the server does not deliver what is there", st.cfg.Name).
				WithHint("it may lag behind the others: try again; if it stays so, look at your NATS servers")
		}
		first := max(at+1, f.sequence)
		if f.sequence, err = st.readable(ctx, op, first, f.subjects); err != nil || f.sequence == 0 {
			return err
		}
		if f.sequence != first {
			st.cfg.Logger.Error("the store cannot read what it has; it is passed over", "stream", st.cfg.Name, "from", first, "to", f.sequence-1,
				"hint", "the disk has damaged it: rackboot-hub check says more")
		}
	}
}

// maxStuck bounds how often in a row nothing comes of what is there, each time for listMoment.
const maxStuck = 10

// drainOnce is drain until nothing comes that is there, which is errStuck. It returns the sequence of what came last.
func (st *stream) drainOnce(ctx context.Context, op string, f start, fn func(jetstream.Msg, *jetstream.MsgMetadata) bool) (at uint64, err error) {
	r, err := st.begin(ctx, op, f)
	if err != nil {
		return 0, err
	}
	defer r.close(ctx)
	resumes := f.policy == jetstream.DeliverByStartSequencePolicy
	if r.empty && (!resumes || st.cfg.Replicas <= 1) { // else the copy that it reads from may lag behind
		return 0, nil
	}
	next := r.next
	if resumes {
		next = r.moment // it goes on from there, if the server was only slow
	}
	for {
		msg, meta, err := next(ctx, op)
		if err != nil {
			return at, err
		}
		at = meta.Sequence.Stream
		if !fn(msg, meta) {
			return at, nil
		}
	}
}

// maxUnreadable bounds the messages in a row that are passed over: each is a question.
const maxUnreadable = 10_000

// readable is the sequence, from one on, of the next message of a subject that the server can read; 0 if there is none.
func (st *stream) readable(ctx context.Context, op string, from uint64, subjects []string) (uint64, error) {
	newest, err := st.newestSeq(ctx, op)
	if err != nil {
		return 0, err
	}
	for seq := from; seq <= newest && seq-from < maxUnreadable; seq++ {
		m, err := ask(ctx, st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
			return st.s.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subjects[0]))
		})
		if err == nil {
			return m.Sequence, nil
		}
		if !errors.Is(err, jetstream.ErrMsgNotFound) {
			return 0, readError(op, st.cfg.Name, err)
		}
	}
	return 0, nil
}

// List reads the newest message of each key; see [KV.Survey]. A key whose newest message cannot be read is an
// error: its absence would mean nothing.
func (k *KV) List(ctx context.Context, prefix string) ([]state.Entry, uint64, error) {
	const op = "kv list"
	if err := state.CheckPrefix(op, prefix); err != nil {
		return nil, 0, err
	}
	s, err := k.survey(ctx, op)
	if err != nil {
		return nil, 0, err
	}
	if len(s.Unreadable) > 0 {
		return nil, 0, protocol.Errorf(protocol.CodeUnavailable, op, "%s: %d keys cannot be read, %s among them", k.st.cfg.Name, len(s.Unreadable), s.Unreadable[0]).
			WithHint("the disk has damaged the store: look with rackboot-hub check, and put the newest copy of the hub's folder in its place")
	}
	var out []state.Entry
	for _, e := range s.Live {
		if strings.HasPrefix(e.Key, prefix) {
			out = append(out, e)
		}
	}
	return out, s.Revision, nil
}

// Survey is everything of a KV.
type Survey struct {
	Live     []state.Entry     // in key order
	Deleted  map[string]uint64 // the revisions of deletions that are there
	Revision uint64            // at which it was complete
	// Unreadable are keys whose newest message is there and cannot be read: the disk has changed it.
	Unreadable []string
}

// Survey reads the newest message of each key until it has what the stream's leader had at the
// beginning: the copy that it reads from may lag behind. Writes that happen meanwhile may be in
// it, whole commits of them: it does not end within one. Large stores take their time: an error
// is that nothing came for as long as a call may take.
//
// A deletion that was removed between the beginning and the end is not seen, though its key was. So
// whoever removes some says so first, and a survey that sees that begins again.
func (k *KV) Survey(ctx context.Context) (Survey, error) { return k.survey(ctx, "kv survey") }

func (k *KV) survey(ctx context.Context, op string) (Survey, error) {
	for range listTries {
		if s, err := k.list(ctx, op); !errors.Is(err, errRemoved) && !errors.Is(err, errStuck) {
			return s, err
		}
	}
	return Survey{}, protocol.Errorf(protocol.CodeUnavailable, op, "%s: it changes too fast to be read, or the server is slow", k.st.cfg.Name).WithHint("try again")
}

// listTries bounds how often a list is begun again.
const listTries = 5

// errRemoved is that a list cannot know what was deleted while it was read. errStuck is that the server does not
// deliver what it says is there.
var (
	errRemoved = errors.New("deletions were removed while it was read")
	errStuck   = errors.New("what is there is not delivered")
)

func (k *KV) list(ctx context.Context, op string) (Survey, error) {
	rev, err := k.st.newestSeq(ctx, op)
	if err != nil || rev == 0 {
		return Survey{}, err
	}
	found := newFound()
	var at uint64
	var floors []uint64
	r, err := k.st.begin(ctx, op, start{policy: jetstream.DeliverLastPerSubjectPolicy})
	if err != nil {
		return Survey{}, err
	}
	defer r.close(ctx)
	counted, looks := false, 0
	var later *goal
	for ended := r.empty && k.st.cfg.Replicas == 1; !ended; { // where all was lost, nothing comes
		msg, meta, err := k.listed(ctx, op, r, rev)
		if errors.Is(err, errStuck) && counted && k.st.cfg.Replicas == 1 {
			break // a single copy that is behind its own last sequence has lost what is missing
		}
		if errors.Is(err, errStuck) {
			return k.oneByOne(ctx, op, rev)
		}
		if err != nil {
			return Survey{}, err
		}
		k.st.at("list")
		m := k.message(msg, meta)
		at = m.seq
		if m.isEntry {
			found.add(m.entry)
		}
		later.saw(msg.Subject())
		if msg.Subject() == k.st.prefix+purgedLevel {
			p, err := parsePurged(op, k.st.cfg.Name, msg.Data())
			if err != nil {
				return Survey{}, err
			}
			if floors = append(floors, p.Floor); p.Floor > floors[0] {
				return Survey{}, errRemoved
			}
		}
		if counted, ended, err = k.ends(ctx, op, m, later); err != nil {
			return Survey{}, err
		}
		if counted && !ended {
			switch looks++; looks {
			case patience:
				later, err = k.st.goal(ctx, op, func(subject string) bool { return found.has(subject[len(k.st.prefix):]) })
				ended = later.reached(m.seq)
			case maxLooks:
				err = errRemoved // it begins again, as where deletions were removed
			}
			if err != nil {
				return Survey{}, err
			}
		}
	}
	return found.survey(max(at, rev)), nil
}

// found is what a survey has found; of each key the newest.
type found struct {
	live    map[string]state.Entry
	deleted map[string]uint64
}

func newFound() found { return found{map[string]state.Entry{}, map[string]uint64{}} }

func (f found) add(e state.Entry) {
	if e.Deleted {
		delete(f.live, e.Key)
		f.deleted[e.Key] = e.Revision
		return
	}
	delete(f.deleted, e.Key)
	f.live[e.Key] = e
}

func (f found) has(key string) bool {
	_, lives := f.live[key]
	_, deleted := f.deleted[key]
	return lives || deleted
}

func (f found) survey(rev uint64) Survey {
	live := slices.SortedFunc(maps.Values(f.live), func(a, b state.Entry) int { return strings.Compare(a.Key, b.Key) })
	return Survey{Live: live, Deleted: f.deleted, Revision: rev}
}

// oneByOne asks for the newest message of each key by itself. The server stops delivering where it cannot read
// what is next (errBadMsg in filestore.go), and goes on for nobody; a question for one message says that there is none.
// Only a damaged store is read so.
func (k *KV) oneByOne(ctx context.Context, op string, rev uint64) (Survey, error) {
	info, err := ask(ctx, k.st, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return k.st.s.Info(ctx, jetstream.WithSubjectFilter(k.st.prefix+">"))
	})
	if err != nil {
		return Survey{}, readError(op, k.st.cfg.Name, err)
	}
	found := newFound()
	var bad []string
	for _, subject := range slices.Sorted(maps.Keys(info.State.Subjects)) {
		if k.st.ours(subject) {
			continue
		}
		key := subject[len(k.st.prefix):]
		e, err := k.last(ctx, op, key)
		switch {
		case errors.Is(err, state.ErrNotFound):
			bad = append(bad, key)
		case err != nil:
			return Survey{}, err
		default:
			found.add(e)
		}
	}
	if len(bad) == 0 { // the server was slow, and some of this may be half of a commit
		return Survey{}, errStuck
	}
	s := found.survey(rev)
	s.Unreadable = bad
	return s, nil
}

// listed is the next message of a list that began at rev. Where the server finds that what it was to deliver is gone,
// it waits for something new, each time (getNextMsg of consumer.go, of a last message per subject), and so it does where
// it cannot read what is next. So after a moment without a message it is asked whether something was removed meanwhile,
// and if nothing was, the list is stuck.
func (k *KV) listed(ctx context.Context, op string, r *reader, rev uint64) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	ctx, cancel := k.st.deadline(ctx)
	defer cancel()
	msg, meta, err := r.moment(ctx, op)
	if !errors.Is(err, errStuck) {
		return msg, meta, err
	}
	p, err := k.st.readPurged(ctx, op)
	switch {
	case err != nil:
		return nil, nil, err
	case p.seq > rev || len(p.Going) > 0:
		return nil, nil, errRemoved
	}
	return nil, nil, errStuck
}

// maxLooks bounds how often a list that may have everything finds that more was written, or that what its goal needs
// is not there.
const maxLooks = 1000

// ends reports whether a list has everything with this message. The server counts what is pending down when it takes
// away the message that a write replaces, and up again when the write is handed to its consumers (storeMsg of filestore.go,
// signalConsumers of stream.go): between the two none is counted, and a key is neither in what was listed nor pending. So a
// list ends only with the newest message that there is, or with its goal if it has one; counted says that nothing else
// is missing.
func (k *KV) ends(ctx context.Context, op string, m message, later *goal) (counted, ended bool, err error) {
	one := k.st.cfg.Replicas == 1
	switch {
	case m.pending > 0:
		return false, false, nil
	case !m.within() && later != nil:
		return true, later.reached(m.seq), nil
	case !m.within():
		newest, err := k.st.newestSeq(ctx, op)
		return true, m.seq >= newest, err
	case !one:
		return false, false, nil
	}
	// The rest of the batch is being written, and this waits until it is; or it never comes.
	_, err = ask(ctx, k.st, func(ctx context.Context) (*jetstream.RawStreamMsg, error) { return k.st.s.GetMsg(ctx, m.seq+1) })
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		k.st.cfg.Logger.Error("the last commit in the store is there in part", "stream", k.st.cfg.Name, "revision", m.seq,
			"hint", "the NATS server has lost data, or reached its storage limit within the commit")
		return true, true, nil
	}
	if err != nil {
		return false, false, readError(op, k.st.cfg.Name, err)
	}
	return false, false, nil
}
