package store

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// Key names what resources of type T are found by, without a walk over all of them; see
// [Find]. Each has its row in newIndexes.
type Key[T resource.Object] string

// The keys.
const (
	RacksByAgent          Key[*resource.Rack]              = "racks by the agents that serve them or stand by"
	BMCsByMAC             Key[*resource.BMC]               = "bmcs by spec.macAddress"
	BMCsAccepted          Key[*resource.BMC]               = "accepted BMCs by MAC address, also one that was seen"
	ServersByMAC          Key[*resource.Server]            = "servers by MAC address"
	ServersByUUID         Key[*resource.Server]            = "servers by UUID"
	ServersByParam        Key[*resource.Server]            = "servers by param"
	ProfilesByParam       Key[*resource.Profile]           = "profiles by param"
	GroupsByParam         Key[*resource.ServerGroup]       = "groups by param"
	ParamsByName          Key[*resource.Param]             = "params by spec.name"
	ClaimsByServer        Key[*resource.Claim]             = "claims by the server that they have"
	HoldsByRack           Key[*resource.Hold]              = "holds by status.rack"
	ClaimsUnbound         Key[*resource.Claim]             = "claims without a server"
	ClaimsByGroup         Key[*resource.Claim]             = "claims by the group whose image they take"
	AgentsOrdered         Key[*resource.Agent]             = "agents with an open order to run another release"
	ServersMarked         Key[*resource.Server]            = "servers with a mark of firmware work"
	ConfigsByServer       Key[*resource.BootConfiguration] = "configurations by server"
	ConfigsByGroup        Key[*resource.BootConfiguration] = "configurations by the group whose image they have"
	ConfigsByOwner        Key[*resource.BootConfiguration] = "configurations by the UID of their owner"
	ConfigsByBootEnv      Key[*resource.BootConfiguration] = "configurations by boot environment"
	ConfigsByBootImage    Key[*resource.BootConfiguration] = "configurations by boot image"
	RevisionsByGroup      Key[*resource.GroupRevision]     = "revisions by the UID of their group"
	RevisionsByBootImage  Key[*resource.GroupRevision]     = "revisions by the entry that they are of"
	RevisionsBySecret     Key[*resource.GroupRevision]     = "revisions by the Secrets of their user data"
	BootImagesByCatalogue Key[*resource.BootImage]         = "boot images by catalogue"
	SecretsByType         Key[*resource.Secret]            = "secrets by type"
)

// Any is the one key of AgentsOrdered, ClaimsUnbound and ServersMarked.
const Any = "any"

// What is found by keys that are no resources' own has these names.
const (
	byReference   = "resources by what their spec refers to"
	openRequests  = "requests that have not ended"
	openApprovals = "approvals that are not over"
	bySealed      = "what was sealed for agents by its digest"
)

func newIndexes() *indexes {
	x := &indexes{named: map[string]*index{}, of: map[string][]*index{}}
	one := func(s string) []string { return []string{s} }
	row(x, RacksByAgent, func(r *resource.Rack) []string { return append(one(r.Status.Agent), one(r.Status.Standby)...) })
	row(x, BMCsByMAC, func(b *resource.BMC) []string { return one(b.Spec.MACAddress) })
	row(x, BMCsAccepted, func(b *resource.BMC) []string {
		if b.Pending() {
			return nil
		}
		return one(b.MAC())
	})
	row(x, ServersByMAC, func(s *resource.Server) []string { return append(one(s.Spec.BootMAC), s.Spec.MACs...) })
	row(x, ServersByUUID, func(s *resource.Server) []string { return one(s.Spec.UUID) })
	row(x, ServersByParam, func(s *resource.Server) []string { return paramNames(s.Spec.Params) })
	row(x, ProfilesByParam, func(p *resource.Profile) []string { return paramNames(p.Spec.Params) })
	row(x, GroupsByParam, func(g *resource.ServerGroup) []string { return paramNames(g.Spec.Params) })
	row(x, ParamsByName, func(p *resource.Param) []string { return one(p.Spec.Name) })
	row(x, ClaimsByServer, func(c *resource.Claim) []string { return one(c.Status.Server) })
	row(x, ClaimsUnbound, func(c *resource.Claim) []string { return anyIf(c.Status.Server == "") })
	row(x, ClaimsByGroup, func(c *resource.Claim) []string {
		if c.Spec.ImageFrom == nil {
			return nil
		}
		return one(c.Spec.ImageFrom.Group)
	})
	row(x, AgentsOrdered, func(a *resource.Agent) []string { return anyIf(a.Status.Order.Open()) })
	row(x, ServersMarked, func(s *resource.Server) []string { return anyIf(s.Status.Firmware != nil) })
	row(x, ConfigsByServer, func(b *resource.BootConfiguration) []string { return one(b.Spec.Server) })
	row(x, ConfigsByGroup, func(b *resource.BootConfiguration) []string { return one(b.Spec.Group) })
	row(x, HoldsByRack, func(h *resource.Hold) []string { return one(h.Status.Rack) })
	row(x, ConfigsByOwner, func(b *resource.BootConfiguration) []string { return one(b.Spec.Owner.UID) })
	row(x, ConfigsByBootEnv, func(b *resource.BootConfiguration) []string { return one(b.Spec.BootEnv) })
	row(x, ConfigsByBootImage, func(b *resource.BootConfiguration) []string { return one(b.Spec.Image.BootImage) })
	row(x, RevisionsByGroup, func(r *resource.GroupRevision) []string { return one(r.Spec.GroupUID) })
	row(x, RevisionsByBootImage, func(r *resource.GroupRevision) []string { return one(r.Spec.BootImage) })
	row(x, RevisionsBySecret, stubSecrets)
	row(x, SecretsByType, func(s *resource.Secret) []string { return one(string(s.Spec.Type)) })
	row(x, BootImagesByCatalogue, func(b *resource.BootImage) []string { return one(b.Spec.Catalogue) })

	var referrers []string
	for _, k := range resource.Kinds() {
		if _, ok := resource.NewObject(k).(resource.Referrer); ok {
			referrers = append(referrers, bucketOf(k))
		}
	}
	x.add(byReference, referenceTerms, referrers...)
	x.add(openRequests, requestTerms, requestBucket)
	x.add(openApprovals, approvalTerms, bucketApproval)
	x.add(bySealed, sealedTerms, ignitionBucket, formerBucket, envBucket)
	return x
}

// stubSecrets are the Secrets that a revision names for its user data.
func stubSecrets(r *resource.GroupRevision) (names []string) {
	for _, ref := range []*resource.IgnitionRef{r.Spec.Stub, r.Spec.OriginalStub} {
		if ref != nil && (len(names) == 0 || names[0] != ref.Secret) {
			names = append(names, ref.Secret)
		}
	}
	return names
}

// index finds the entries of some buckets by what is in them.
type index struct {
	name    string
	terms   func(*cached) []term // of an entry; one without a word is none
	entries map[string]holders   // by the Of of terms
}

// term is what entries are found by: a word, and what it is of, where an index has words of several kinds. The word is
// text that the entry has anyway: put together with the kind it would be more text for each reference of a fleet.
type term struct{ of, word string }

func (i *index) find(t term) []*cached { return i.entries[t.of].find(t.word) }

// indexes are those of a mirror, and change with it, under its lock.
type indexes struct {
	named map[string]*index
	of    map[string][]*index // by bucket
}

func row[T resource.Object](x *indexes, k Key[T], keys func(T) []string) {
	x.add(string(k), func(e *cached) (out []term) {
		if obj, ok := e.obj.(T); ok { // else it cannot be read, and is in no list either
			for _, word := range keys(obj) {
				out = append(out, term{word: word})
			}
		}
		return out
	}, bucketOf(resource.KindOf[T]()))
}

func anyIf(so bool) []string {
	if so {
		return []string{Any}
	}
	return nil
}

func (x *indexes) add(name string, terms func(*cached) []term, buckets ...string) {
	i := &index{name: name, terms: terms, entries: map[string]holders{}}
	x.named[name] = i
	for _, b := range buckets {
		x.of[b] = append(x.of[b], i)
	}
}

// change takes one entry's place by another of the same key: old is nil before the
// first, now after the last.
func (x *indexes) change(bucket string, old, now *cached) {
	for _, i := range x.of[bucket] {
		had, has := i.of(old), i.of(now)
		for _, k := range had {
			if !slices.Contains(has, k) {
				i.drop(k, old.Key)
			}
		}
		for _, k := range has {
			i.put(k, now)
		}
	}
}

func (i *index) of(e *cached) []term {
	if e == nil || e.Deleted {
		return nil
	}
	return slices.DeleteFunc(i.terms(e), func(t term) bool { return t.word == "" })
}

func (i *index) put(t term, e *cached) {
	of, there := i.entries[t.of]
	if !there {
		of = holders{map[string]*cached{}, map[string][]*cached{}}
		i.entries[t.of] = of
	}
	of.put(t.word, e)
}

func (i *index) drop(t term, key string) {
	of := i.entries[t.of]
	if of.drop(t.word, key); len(of.one) == 0 && len(of.more) == 0 {
		delete(i.entries, t.of)
	}
}

// holders are entries by a word. Of most words there is one.
type holders struct {
	one  map[string]*cached
	more map[string][]*cached // in order of their keys
}

// find returns the entries with a word, in order of their keys, for reading only.
func (h holders) find(word string) []*cached {
	if e := h.one[word]; e != nil {
		return []*cached{e}
	}
	return h.more[word]
}

func (h holders) put(word string, e *cached) {
	list := h.find(word)
	at, there := slices.BinarySearchFunc(list, e.Key, keyOrder)
	switch {
	case len(list) == 0 || there && len(list) == 1:
		delete(h.one, word) // whose text is that of the entry before
		h.one[word] = e
	case there:
		list[at] = e
	default:
		delete(h.one, word)
		h.more[word] = slices.Insert(list, at, e)
	}
}

func keyOrder(e *cached, key string) int { return strings.Compare(e.Key, key) }

func (h holders) drop(word, key string) {
	list := h.find(word)
	at, there := slices.BinarySearchFunc(list, key, keyOrder)
	switch {
	case !there:
	case len(list) == 1:
		delete(h.one, word)
	case len(list) == 2:
		delete(h.more, word)
		h.one[word] = list[1-at]
	default:
		h.more[word] = slices.Delete(list, at, at+1)
	}
}

func reference(kind resource.Kind, name string) string { return string(kind) + "/" + name }

func referenceTerms(e *cached) (terms []term) {
	r, ok := e.obj.(resource.Referrer)
	if !ok {
		return nil
	}
	for _, ref := range r.References() {
		terms = append(terms, refersTo(ref.Kind, ref.Name))
	}
	return terms
}

func refersTo(kind resource.Kind, name string) term { return term{string(kind), name} }

// anyOpen is what all that has not ended is found by.
func anyOpen() term { return term{word: Any} }

// requestTerms are of a request that has not ended.
func requestTerms(e *cached) []term {
	var r StoredRequest
	if json.Unmarshal(e.Value, &r) != nil || r.ID == "" || r.ended() {
		return nil
	}
	return []term{anyOpen(), refersTo(resource.KindServer, r.Server), refersTo(resource.KindRack, r.Rack), claimed(r.Precondition.OwnerUID)}
}

// claimed is a claim's UID as a term.
func claimed(uid string) term { return refersTo(resource.KindClaim, uid) }

// approvalTerms are of a wish that is not over.
func approvalTerms(e *cached) []term {
	r, err := decodeApproval(e.Value, e.Revision)
	if err != nil || r.State.Over() {
		return nil
	}
	terms := []term{anyOpen(), refersTo(resource.KindRack, r.Rack)}
	for _, t := range r.Targets {
		terms = append(terms, approvedTarget(t))
	}
	return terms
}

// approvedTarget is a hold or a server as a term of approvals.
func approvedTarget(name string) term { return term{"target", name} }

// sealedTerms is the digest of what was sealed. It is read no further than that: behind it
// is all that was sealed.
func sealedTerms(e *cached) []term {
	d := json.NewDecoder(bytes.NewReader(e.Value))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	for d.More() {
		field, err := d.Token()
		var value any
		if err != nil || d.Decode(&value) != nil {
			return nil
		}
		if digest, ok := value.(string); ok && field == "sealed" {
			return []term{{word: digest}}
		}
	}
	return nil
}

func paramNames(params map[string]any) (out []string) {
	for name := range params {
		out = append(out, name)
	}
	return out
}
