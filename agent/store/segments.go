package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Segments is what is kept of the rack's segments beside those in force.
type Segments struct {
	decide.SegmentTrial
	// Kept are the confirmed ones, to go back to.
	Kept []resource.SegmentIntent `json:"kept,omitempty"`
	// Differ names those that are tried, or were rolled back, and are not as in Kept.
	Differ []string `json:"differ,omitempty"`
}

// segmentsDigest is of the content of segments. The addresses of BMCs are not of it:
// they follow what is accepted, not what somebody wrote, and cut nobody off.
func segmentsDigest(segments []resource.SegmentIntent) (string, error) {
	segments = slices.Clone(segments)
	for i := range segments {
		segments[i].BMCMACs = nil
	}
	raw, err := json.Marshal(segments)
	if err != nil {
		return "", fmt.Errorf("segments: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// back is kept with the BMCs of the newest document.
func back(kept, newest []resource.SegmentIntent) []resource.SegmentIntent {
	kept = slices.Clone(kept)
	for i, k := range kept {
		for _, n := range newest {
			if n.Name == k.Name {
				kept[i].BMCMACs = n.BMCMACs
			}
		}
	}
	return kept
}

// differ names the segments that are in one of the two only, or not the same in both.
func differ(a, b []resource.SegmentIntent) (names []string, err error) {
	content := func(list []resource.SegmentIntent) (map[string][]byte, error) {
		all := map[string][]byte{}
		for _, s := range list {
			s.BMCMACs = nil
			raw, err := json.Marshal(s)
			if err != nil {
				return nil, fmt.Errorf("segment %s: %w", s.Name, err)
			}
			all[s.Name] = raw
		}
		return all, nil
	}
	x, err := content(a)
	if err != nil {
		return nil, err
	}
	y, err := content(b)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Concat(a, b) {
		if !bytes.Equal(x[s.Name], y[s.Name]) && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// adoptSegments takes what is in force for confirmed where what is kept says another thing: a
// crash came between the two writes of a document (offerSegments).
func adoptSegments(t state.Txn) error {
	rack, there, err := get[message.RackIntent](t, keyRack)
	if err != nil || !there {
		return err
	}
	have, _, err := get[Segments](t, keySegments)
	if err != nil {
		return err
	}
	digest, err := segmentsDigest(rack.Segments)
	if err != nil || digest == have.Tried || have.Tried == "" && digest == have.Confirmed {
		return err
	}
	return put(t, keySegments, Segments{SegmentTrial: decide.SegmentTrial{Confirmed: digest}, Kept: rack.Segments})
}

// offerSegments puts the rack of a document into force, with the segments that it is
// to have. Both may be large. What is kept comes first: adoptSegments mends it where the
// rack did not follow.
func offerSegments(t state.Txn, rack message.RackIntent, cut func()) error {
	have, _, err := get[Segments](t, keySegments)
	if err != nil {
		return err
	}
	digest, err := segmentsDigest(rack.Segments)
	if err != nil {
		return err
	}
	act, trial := decide.OfferSegments(have.SegmentTrial, digest)
	have.SegmentTrial = trial
	if rack.Standby { // nobody is cut off by what is not served
		act, have.SegmentTrial = decide.SegmentsServe, decide.SegmentTrial{Confirmed: digest}
	}
	switch act {
	case decide.SegmentsServe:
		have.Kept, have.Differ = rack.Segments, nil
	case decide.SegmentsTry:
		if have.Differ, err = differ(have.Kept, rack.Segments); err != nil {
			return err
		}
	case decide.SegmentsRefuse:
		rack.Segments = back(have.Kept, rack.Segments)
	case decide.SegmentsWait, decide.SegmentsConfirm, decide.SegmentsBack, decide.SegmentsLeave:
	}
	if err := put(t, keySegments, have); err != nil {
		return err
	}
	cut()
	if err := put(t, keyRack, rack); err != nil {
		return err
	}
	cut()
	return nil
}

// Trials are those of changed segments.
type Trials struct {
	disk   *disk
	events *Events
}

// Segments reads what is kept of the rack's segments.
func (ts *Trials) Segments() (have Segments, err error) {
	err = ts.disk.db.View(func(t state.Txn) error {
		have, _, err = get[Segments](t, keySegments)
		return err
	})
	return have, err
}

// Look goes on with a trial of changed segments, after the agent ran for a
// while more, and says what came of it; left is what remains of the window. What was
// rolled back is an event.
func (ts *Trials) Look(now time.Time, ran, window time.Duration, heard bool) (act decide.SegmentAction, after Segments, left time.Duration, err error) {
	ts.disk.crash.At("agent.segments.look")
	err = ts.disk.update(func(t state.Txn) error {
		have, _, err := get[Segments](t, keySegments)
		if err != nil {
			return err
		}
		after = have
		act, after.SegmentTrial, left = decide.LookAtSegments(have.SegmentTrial, ran, window, heard)
		switch act {
		case decide.SegmentsWait:
			return put(t, keySegments, after)
		case decide.SegmentsConfirm:
			rack, _, err := get[message.RackIntent](t, keyRack)
			if err != nil {
				return err
			}
			after.Kept, after.Differ = rack.Segments, nil
			return put(t, keySegments, after)
		case decide.SegmentsBack:
			return ts.rollBack(t, now, after, window)
		case decide.SegmentsServe, decide.SegmentsTry, decide.SegmentsRefuse, decide.SegmentsLeave:
		}
		return nil
	})
	if err != nil {
		return "", Segments{}, 0, failing("follow the trial of changed segments", err)
	}
	ts.disk.crash.At("agent.segments.looked")
	return act, after, left, nil
}

func (ts *Trials) rollBack(t state.Txn, now time.Time, after Segments, window time.Duration) error {
	rack, _, err := get[message.RackIntent](t, keyRack)
	if err != nil {
		return err
	}
	rack.Segments = back(after.Kept, rack.Segments)
	if err := put(t, keyRack, rack); err != nil {
		return err
	}
	if err := put(t, keySegments, after); err != nil {
		return err
	}
	return ts.events.append(t, resource.Event{At: now, Code: resource.EventSegmentRolledBack, Message: fmt.Sprintf(
		"%s: no word of the hub in the %s after the change", strings.Join(after.Differ, ", "), window)})
}
