package store

import (
	"encoding/json"

	"rackboot/agent/guard"
	"rackboot/protocol/decide"
)

// Seed is what a store has in guard mode that cannot be opened: the pairs of a guard set. Holds
// that are coming are not in it: they were not enforced.
func Seed(set guard.Set) (map[string][]byte, error) {
	digest, err := segmentsDigest(nil)
	if err != nil {
		return nil, err
	}
	segments, err := json.Marshal(Segments{SegmentTrial: decide.SegmentTrial{Confirmed: digest}})
	if err != nil {
		return nil, err
	}
	pairs := map[string][]byte{keySegments: segments, keyBegan: []byte("0"), keyBeganHead: []byte("{}")}
	if len(set.Incarnations) > 0 {
		pairs[keyIncarnation] = []byte(set.Incarnations[0])
	}
	for key, v := range set.Shared {
		pairs[key] = v
	}
	for name, s := range set.Servers {
		for key, v := range map[string][]byte{keyIntents + name: s.Intent, keyRecords + name: s.Record, keySecrets + s.BMC: s.Secret, keyAccounts + s.BMC: s.Account} {
			if len(v) > 0 {
				pairs[key] = v
			}
		}
		for id, h := range s.Holds {
			if !h.Coming {
				pairs[keyHolds+name+"/"+id] = h.Value
			}
		}
	}
	return pairs, nil
}
