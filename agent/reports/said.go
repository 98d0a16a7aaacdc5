package reports

import (
	"math/rand/v2"
	"time"

	"rackboot/protocol/message"
)

// tells is how much of a shard a report tells.
type tells string

const (
	tellsAll     tells = "all"
	tellsChanges tells = "changes"
	tellsReads   tells = "reads"
)

// wholeEvery is how often a shard is said whole though the hub has all of it, at the latest: so that
// inventories come by turns, and nothing rests on a message of long ago. The first time comes
// sooner by a part of it, so that agents whose hub has started do not come in step.
const wholeEvery = 5 * time.Minute

// said is what was said of a shard, and what of it the hub has.
type said struct {
	// revisions are, by server, the report that said first what is so now; 0 is none yet.
	revisions map[string]uint64
	hub       uint64    // the report that the hub said last it has
	grown     uint64    // the report that said first of the server that came last
	came      bool      // one came that no report has said of
	whole     time.Time // from when wholeEvery counts
}

// changes notes that there is news of a server.
func (s *said) changes(server string) {
	if _, known := s.revisions[server]; !known {
		s.came = true
	}
	s.revisions[server] = 0
}

// had takes which report the hub has. lost reports that it had a later one before.
func (s *said) had(seq uint64) (lost bool) {
	lost, s.hub = seq < s.hub, seq
	return lost
}

// tells decides what a report tells of the servers of the shard, gives what it tells first its number, and
// returns the servers that it tells of. news is that it tells something new, and all that nothing less will do.
//
//	all or the hub has none or a server came since or wholeEvery | changed      | tells
//	yes                                                          | *            | all
//	no                                                           | none         | reads
//	no                                                           | up to half   | changes
//	no                                                           | more of them | all
func (s *said) tells(names []string, seq uint64, news, all bool, now time.Time) (_ tells, of []string) {
	if s.came {
		s.grown, s.came = seq, false
	}
	for _, name := range names {
		revision := s.revisions[name]
		if revision == 0 {
			s.revisions[name], revision = seq, seq
		}
		if revision > s.hub {
			of = append(of, name)
		}
	}
	switch {
	case all, s.hub == 0, s.hub < s.grown, now.Sub(s.whole) >= wholeEvery, 2*len(of) > len(names):
	case len(of) == 0:
		return tellsReads, nil
	default:
		return tellsChanges, of
	}
	s.whole = now
	if news {
		s.whole = now.Add(-rand.N(wholeEvery / 2))
	}
	return tellsAll, names
}

// of are the revisions of servers.
func (s *said) of(names []string) (out []uint64) {
	for _, name := range names {
		out = append(out, s.revisions[name])
	}
	return out
}

// digest is that of the shard.
func (s *said) digest(names []string) []byte {
	return message.ShardDigest(func(yield func(string, uint64) bool) {
		for _, name := range names {
			if !yield(name, s.revisions[name]) {
				return
			}
		}
	})
}
