package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// FlawKind is in which way something stored does not fit.
type FlawKind string

// The kinds of flaws.
const (
	FlawUnread    FlawKind = "unread"    // it cannot be decoded
	FlawReference FlawKind = "reference" // what it refers to is not there
	FlawRule      FlawKind = "rule"      // a rule's key is not as the resources are; the next start writes it
	FlawTwice     FlawKind = "twice"     // two have what only one may have
)

// Flaw is something stored that does not fit.
type Flaw struct {
	Kind FlawKind
	Key  string
	Why  string
}

// Unread are the entries of a list that cannot be decoded, and the others.
func Unread(entries []state.Entry) (flaws []Flaw, rest []state.Entry) {
	for _, e := range entries {
		if why := undecoded(e); why != "" {
			flaws = append(flaws, Flaw{FlawUnread, e.Key, why})
		} else {
			rest = append(rest, e)
		}
	}
	return flaws, rest
}

func undecoded(e state.Entry) string {
	if _, err := read(e); err != nil {
		return err.Error()
	}
	bucket, _ := split(e.Key)
	switch bucket {
	case requestBucket, bucketApproval, answerBucket, isoBucket, agentPackageBucket, contentBucket, repositoryBucket, BesideLedger, BesideInventory, BesideSealed, ignitionBucket, formerBucket, bulkBucket, partBucket:
		if !json.Valid(e.Value) {
			return "it is no JSON"
		}
	case ruleBucket:
		if _, err := readTakers(e); err != nil {
			return err.Error()
		}
	}
	return ""
}

// Flaws are what does not fit together in an open store, of which entries are a list.
func (s *Store) Flaws(entries []state.Entry) (out []Flaw) {
	have := map[string]string{}
	for _, e := range entries {
		if strings.HasPrefix(e.Key, ruleBucket+".") {
			have[e.Key] = string(e.Value)
		}
	}
	want := s.wanted()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		for _, t := range want[key] {
			if i := slices.IndexFunc(want[key], t.excludes); i >= 0 {
				out = append(out, Flaw{FlawTwice, key, fmt.Sprintf("%s %s and %s have what only one may have", t.Kind, t.Name, want[key][i].Name)})
				break
			}
		}
		value, err := json.Marshal(want[key])
		if err != nil || have[key] != string(value) {
			out = append(out, Flaw{FlawRule, key, "it is not as the resources are"})
		}
		delete(have, key)
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		out = append(out, Flaw{FlawRule, key, "nobody has it"})
	}
	for _, kind := range resource.Kinds() {
		for _, e := range s.core.mirror.list(bucketOf(kind)) {
			if e.obj == nil || mayDangle(e.obj) {
				continue
			}
			for _, ref := range referencesOf(e.obj) {
				if _, err := s.Objects.Get(ref.Kind, ref.Name); protocol.CodeOf(err) == protocol.CodeNotFound {
					out = append(out, Flaw{FlawReference, e.Key, fmt.Sprintf("%s: %s %q does not exist", ref.Path, ref.Kind, ref.Name)})
				}
			}
		}
	}
	return out
}
