package store

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Whatever comes in whatever order, each index has what a walk over everything finds: own
// writes, what the watch brings late or twice, deletions on both ways, entries that are
// made again, and some that cannot be read.
func TestIndexesAreWhatAWalkFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, last := newMirror(), uint64(0)
		var past []cached // may come again
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				last++
				e := entryOf(t, last)
				past = append(past, e)
				m.apply(e)
			},
			"late": func(t *rapid.T) { // it is overtaken by one of a later revision
				last += 2
				first, second := entryOf(t, last-1), entryOf(t, last)
				second.Key = first.Key
				past = append(past, first)
				m.applyWatched(mustRead(second.Entry))
				m.applyWatched(first)
			},
			"again": func(t *rapid.T) {
				if len(past) > 0 {
					m.applyWatched(rapid.SampledFrom(past).Draw(t, "entry"))
				}
			},
			"deleted": func(t *rapid.T) {
				last++
				m.applyWatched(cached{Entry: state.Entry{Key: entryKey(t), Revision: last, Deleted: true}})
			},
			"bury": func(t *rapid.T) {
				key := entryKey(t)
				revision := last
				if e, ok := m.get(key); ok && rapid.Bool().Draw(t, "present") {
					revision = e.Revision
				}
				m.bury(key, revision)
			},
			"": func(t *rapid.T) {
				for name, i := range m.indexes.named {
					if want, got := walked(m, i), indexed(i); !maps.EqualFunc(want, got, slices.Equal[[]*cached]) {
						t.Fatalf("%s: %v; a walk finds %v", name, got, want)
					}
				}
			},
		})
	})
}

// indexed is what an index has.
func indexed(i *index) map[term][]*cached {
	out := map[term][]*cached{}
	for of, h := range i.entries {
		for word := range h.one {
			out[term{of, word}] = h.find(word)
		}
		for word, list := range h.more {
			if len(list) < 2 || h.one[word] != nil {
				return nil // which no walk finds
			}
			out[term{of, word}] = list
		}
	}
	return out
}

// walked is what an index is to have: the very entries that are in the mirror.
func walked(m *mirror, i *index) map[term][]*cached {
	out := map[term][]*cached{}
	for bucket := range m.buckets {
		if !slices.Contains(m.indexes.of[bucket], i) {
			continue
		}
		for _, e := range m.list(bucket) {
			for _, k := range i.terms(e) {
				if k.word != "" && !slices.Contains(out[k], e) {
					out[k] = append(out[k], e)
				}
			}
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b *cached) int { return strings.Compare(a.Key, b.Key) })
	}
	return out
}

func entryKey(t *rapid.T) string {
	bucket := rapid.SampledFrom([]string{"res.servers", "res.bmcs", "res.claims", "res.holds", "res.bootconfigurations", bucketOf(resource.KindProfile), "res.params", requestBucket, bucketApproval, ignitionBucket, formerBucket, envBucket}).Draw(t, "bucket")
	return bucket + "." + rapid.SampledFrom([]string{"a", "a-b", "b", "c"}).Draw(t, "name")
}

// entryOf is an entry of any kind; one in eight cannot be read.
func entryOf(t *rapid.T, revision uint64) cached {
	key := entryKey(t)
	word := func(of string) string { return rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, of) }
	ref := resource.Ref{Name: word("reference")}
	var v any
	switch bucket, name := split(key); bucket {
	case "res.servers":
		v = &resource.Server{Spec: resource.ServerSpec{
			BMCRef: ref, SegmentRef: resource.Ref{Name: word("segment")}, BootMAC: word("mac"), MACs: []string{word("mac"), word("mac")},
			UUID: word("uuid"), Profiles: []string{word("profile")}, Params: map[string]any{word("param"): 1},
		}}
	case "res.bmcs":
		v = &resource.BMC{Spec: resource.BMCSpec{RackRef: ref, MACAddress: word("mac"), CredentialsRef: "secret:" + word("secret")}}
	case "res.claims":
		v = &resource.Claim{Spec: resource.ClaimSpec{ServerRef: &ref}, Status: resource.ClaimStatus{Server: word("server")}}
	case "res.holds":
		v = &resource.Hold{Spec: resource.HoldSpec{Server: word("server")}, Status: resource.HoldStatus{Rack: word("rack")}}
	case "res.params":
		v = &resource.Param{Spec: resource.ParamSpec{Name: word("param")}}
	case requestBucket:
		r := StoredRequest{Request: resource.Request{ID: name, Server: word("server")}, Rack: word("rack")}
		r.Precondition.OwnerUID = word("claim")
		r.Report.Outcome = rapid.SampledFrom([]resource.Outcome{"", resource.OutcomePending, resource.OutcomeUnknown}).Draw(t, "outcome")
		v = r
	case ignitionBucket, formerBucket, envBucket:
		v = SealedIgnition{Config: name, IgnitionIntent: message.IgnitionIntent{Sealed: word("digest")}, Body: []byte("body")}
	case bucketApproval:
		r := StoredApproval{}
		r.ID, r.Rack, r.Targets = name, word("rack"), []string{word("target"), word("target")}
		r.State = rapid.SampledFrom([]resource.ApprovalState{resource.ApprovalPending, resource.ApprovalApproved, resource.ApprovalDenied}).Draw(t, "state")
		v = r
	default:
		v = &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: word("server"), Owner: resource.Owner{UID: word("owner")}, BootEnv: word("env")}}
		if bucket == bucketOf(resource.KindProfile) {
			v = &resource.Profile{Spec: resource.ProfileSpec{Params: map[string]any{word("param"): 1}}}
		}
	}
	value, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if bucket, _ := split(key); bucket == envBucket {
		value = append(value, "\nwhat was sealed"...)
	}
	if rapid.IntRange(0, 7).Draw(t, "unreadable") == 0 {
		value = []byte(`{"spec":7`)
	}
	return mustRead(state.Entry{Key: key, Value: value, Revision: revision})
}

// mustRead decodes as the watch does: what cannot be read is kept without an object.
func mustRead(e state.Entry) cached {
	c, err := read(e)
	if err != nil {
		c.obj = nil
	}
	return c
}

// Each Key has its row: a Find of another one would have none to look in.
func TestEachKeyHasItsIndex(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "index.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if generic, ok := v.Type.(*ast.IndexExpr); !ok || fmt.Sprint(generic.X) != "Key" {
			return true
		}
		found++
		name := strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)
		if newIndexes().named[name] == nil {
			t.Errorf("%s has no row in newIndexes", v.Names[0].Name)
		}
		return true
	})
	if found == 0 {
		t.Fatal("no Key was found")
	}
}

// What is found is in order of name, shared as everything that is read is, and gone with
// its resource. Nothing has an empty key.
func TestFind(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, append(storetest.Site(), storetest.Rack("r2"), storetest.BMC("a1", "r1"), storetest.BMC("c1", "r2"))...)
	namesOf := func(list []*resource.BMC) (out []string) {
		for _, b := range list {
			out = append(out, b.Metadata.Name)
		}
		return out
	}
	if got := namesOf(Referring[*resource.BMC](s.Objects, resource.KindRack, "r1")); !slices.Equal(got, []string{"a1", "b1", "b2"}) {
		t.Errorf("the BMCs of r1: %v", got)
	}
	shared, err := Peek[*resource.Server](s.Objects, "n2")
	if err != nil {
		t.Fatal(err)
	}
	if got := Find(s.Objects, ServersByMAC, "52:54:00:00:00:02"); len(got) != 1 || got[0] != shared {
		t.Errorf("the server of the MAC address: %v", got)
	}
	if got := Find(s.Objects, ServersByUUID, ""); len(got) > 0 {
		t.Errorf("servers without a UUID are found: %v", got)
	}
	if got := Referring[*resource.Claim](s.Objects, resource.KindServer, "n1"); len(got) > 0 {
		t.Errorf("claims where there are none: %v", got)
	}
	if _, err := s.Delete(t.Context(), resource.KindBMC, "a1"); err != nil {
		t.Fatal(err)
	}
	if got := namesOf(Referring[*resource.BMC](s.Objects, resource.KindRack, "r1")); !slices.Equal(got, []string{"b1", "b2"}) {
		t.Errorf("after a1 was deleted: %v", got)
	}
}
