package imports

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"rackboot/hub/env"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Import takes what another hub exported: each object with its UID, whole or not at all.
// What agents and people there have said of installations counts only as far as whoever
// imports accepts it, and then as that person's word; a claim without such a word waits
// in NeedsDecision. No grant is ever taken over. objs are changed. The codes are
// unavailable and timeout; after them, the same again writes the rest.
func (r *Room) Import(ctx context.Context, objs []resource.Object, q api.ImportRequest, by string) (api.ImportAnswer, error) {
	in := importing{
		room: r, request: q, by: by, signers: map[string]map[string]*wire.Verifier{}, keys: map[string]*api.ImportKey{},
		servers: map[string]*resource.Server{}, bmcs: map[string]*resource.BMC{}, why: map[string]string{}, words: map[int]string{}, asks: map[int]string{},
	}
	for _, k := range q.Keys {
		if len(k.Key) == agentKeySize {
			if in.signers[k.Rack] == nil {
				in.signers[k.Rack] = map[string]*wire.Verifier{}
			}
			in.signers[k.Rack][hex.EncodeToString(wire.KeyID(k.Key))] = wire.NewVerifier(k.Key)
		}
	}
	for _, o := range objs {
		switch o := o.(type) {
		case *resource.Server:
			in.servers[o.Metadata.Name] = o
		case *resource.BMC:
			in.bmcs[o.Metadata.Name] = o
		}
	}
	defer r.cfg.Wake.All() // once it is unlocked
	taken, at := in.strip(objs)
	var results []store.Imported
	err := r.cfg.Groups.Without(func() (err error) {
		results, err = r.cfg.Sets.Import(ctx, taken, store.ImportOptions{DryRun: q.DryRun, By: by})
		return err
	})
	if err != nil {
		return api.ImportAnswer{}, err
	}
	out := api.ImportAnswer{Results: make([]api.ImportResult, len(objs))}
	for i, o := range objs {
		out.Results[i] = api.ImportResult{Kind: o.Head().Kind, Name: o.Head().Metadata.Name, Outcome: api.ImportDecision, Message: in.asks[i]}
	}
	for n, res := range results {
		i := at[n]
		out.Results[i].Outcome, out.Results[i].Message = importOutcome(res)
		if out.Results[i].Outcome == api.ImportCreated && in.words[i] != "" {
			out.Results[i].Message = in.words[i]
			if cfg, ok := objs[i].(*resource.BootConfiguration); ok && !q.DryRun {
				r.cfg.Claims.Adopted(ctx, cfg.Spec.Server, in.words[i])
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Values(in.keys), func(a, b *api.ImportKey) int { return cmp.Or(cmp.Compare(a.Rack, b.Rack), cmp.Compare(a.ID, b.ID)) }) {
		out.Keys = append(out.Keys, *k)
	}
	return out, nil
}

// agentKeySize is the length of an Ed25519 public key in bytes.
const agentKeySize = 32

func importOutcome(r store.Imported) (api.ImportOutcome, string) {
	switch protocol.CodeOf(r.Err) {
	case "":
	case protocol.CodeConflict:
		return api.ImportConflict, r.Err.Error()
	default:
		return api.ImportRefused, r.Err.Error()
	}
	if r.Outcome == store.Unchanged {
		return api.ImportUnchanged, ""
	}
	return api.ImportCreated, ""
}

// importing is one import.
type importing struct {
	room    *Room
	request api.ImportRequest
	by      string
	signers map[string]map[string]*wire.Verifier // by rack and id of the key
	keys    map[string]*api.ImportKey            // those that signed records
	servers map[string]*resource.Server
	bmcs    map[string]*resource.BMC
	why     map[string]string // why no record counts, by claim UID
	words   map[int]string    // what is said of an object that is created
	asks    map[int]string    // why a configuration is not taken
}

// strip leaves of each status what is taken over, and returns what is stored, with the
// places in objs.
func (in *importing) strip(objs []resource.Object) (taken []resource.Object, at []int) {
	for i, o := range objs {
		if cfg, ok := o.(*resource.BootConfiguration); ok && !in.configuration(i, cfg) {
			continue
		}
		taken, at = append(taken, o), append(at, i)
	}
	current := currentStubs(taken)
	for n, o := range taken {
		switch o := o.(type) {
		case *resource.BootImage:
			o.Status = api.CarriedBootImage(o.Status)
		case *resource.ServerGroup:
			o.Status = api.CarriedGroup(o.Status)
			if ro := o.Status.Rollout; api.LeftUnderWay(ro) {
				now := in.room.cfg.Clock().UTC()
				ro.EndedAt, in.words[at[n]] = &now, "its roll-out of revision "+strconv.Itoa(ro.Revision)+" was under way, and is Aborted here"
			}
		case *resource.GroupRevision:
			in.stubs(o, current)
		case *resource.Rack:
			// The next agent gets a name that none had there, where its disk may come from.
			o.Status = resource.RackStatus{Term: o.Status.Term}
		case *resource.BMC:
			o.Status = resource.BMCStatus{State: o.Status.State, AcceptedBy: o.Status.AcceptedBy}
		case *resource.Server:
			o.Status = resource.ServerStatus{
				AcceptedIdentity: o.Status.AcceptedIdentity, Firmware: o.Status.Firmware, Discovered: o.Status.Discovered, Discovery: o.Status.Discovery,
			}
		case *resource.Claim:
			status := resource.ClaimStatus{Server: o.Status.Server}
			if o.Status.Server != "" {
				status.Decision = &resource.Decision{Since: in.room.cfg.Clock().UTC(), Why: resource.DecisionImported, Message: in.why[o.Metadata.UID]}
			}
			o.Status = status
		case *resource.Maintenance:
			o.Status = resource.MaintenanceStatus{}
		case *resource.BootEnv:
			o.Status = resource.BootEnvStatus{}
		case *resource.Hold:
			o.Status = resource.HoldStatus{} // also one that was released there: its agent may not know
		}
	}
	return taken, at
}

// configuration judges what a configuration has to show, and strips it. False: it is not
// taken.
func (in *importing) configuration(i int, cfg *resource.BootConfiguration) bool {
	srv := in.servers[cfg.Spec.Server]
	if have, err := store.Peek[*resource.Server](in.room.cfg.Objects, cfg.Spec.Server); err == nil {
		srv = have
	}
	if srv == nil {
		srv = &resource.Server{}
	}
	proof, key := in.proof(cfg, srv)
	carried := plan.Carry(cfg, srv, proof)
	if cfg.Spec.Owner.Kind.Or() != resource.PurposeClaim {
		carried = plan.CarriedAsks
	}
	now := in.room.cfg.Clock().UTC()
	status := resource.BootConfigurationStatus{Provisioned: proof.Record, SignedProvisioned: cfg.Status.SignedProvisioned}
	switch carried {
	case plan.CarriedAsks:
		in.asks[i] = in.whyNot(cfg, proof, key)
		in.why[cfg.Spec.Owner.UID] = in.asks[i]
		return false
	case plan.CarriedAdopts:
		reason := in.request.Reason
		if w := cfg.Status.Adopted; w != nil && proof.Record == nil {
			reason = fmt.Sprintf("%s (%s had said at the other hub: %s)", reason, w.By, w.Reason)
			status = resource.BootConfigurationStatus{}
		}
		status.Adopted = &resource.Adopted{ImageDigest: cfg.Spec.Image.Digest, By: in.by, Reason: reason, At: now, Key: key}
		in.words[i] = fmt.Sprintf("claim %s keeps %s by the word of %s, who imported it: %s", cfg.Spec.Owner.Name, cfg.Spec.Image.Digest, in.by, reason)
	case plan.CarriedCounts:
	}
	cfg.Spec.Grant, cfg.Status = nil, status
	if ref := cfg.Spec.Ignition; ref != nil {
		// Its UID and digest are the other hub's. What was made again here under its name is
		// taken for the same.
		if s, err := store.Peek[*resource.Secret](in.room.cfg.Objects, ref.Secret); err == nil {
			cfg.Spec.Ignition = env.RefOf(s)
		}
	}
	return true
}

// proof verifies the record of a configuration with the keys that the export names for
// its rack, and with those of the rack here.
func (in *importing) proof(cfg *resource.BootConfiguration, srv *resource.Server) (p plan.Proof, key string) {
	p.Words = in.request.AcceptWords
	if len(cfg.Status.SignedProvisioned) == 0 {
		return p, ""
	}
	rack := ""
	if b := in.bmcs[srv.Spec.BMCRef.Name]; b != nil {
		rack = b.Spec.RackRef.Name
	} else if b, err := store.Peek[*resource.BMC](in.room.cfg.Objects, srv.Spec.BMCRef.Name); err == nil {
		rack = b.Spec.RackRef.Name
	}
	signed := cfg.Status.SignedProvisioned
	e, err := wire.Inspect(signed)
	if err != nil {
		return p, ""
	}
	key = hex.EncodeToString(e.KeyID)
	var record resource.Provisioned
	if r, err := store.Peek[*resource.Rack](in.room.cfg.Objects, rack); err == nil {
		for _, k := range r.Status.AgentKeys {
			if len(k) == agentKeySize && wire.Open(wire.NewVerifier(k), wire.FactProvisioned, signed, &record) == nil {
				p.Record, p.Ours = &record, true
				return p, key
			}
		}
	}
	if v := in.signers[rack][key]; v != nil && wire.Open(v, wire.FactProvisioned, signed, &record) == nil {
		p.Record, p.Known = &record, true
		p.Accepted = slices.Contains(in.request.AcceptKeys, key) || slices.Contains(in.request.AcceptKeys, api.AcceptAllKeys)
		k := in.keys[rack+"/"+key]
		if k == nil {
			k = &api.ImportKey{ID: key, Rack: rack, Accepted: p.Accepted}
			in.keys[rack+"/"+key] = k
		}
		k.Records++
	}
	return p, key
}

func (in *importing) whyNot(cfg *resource.BootConfiguration, p plan.Proof, key string) string {
	switch {
	case cfg.Spec.Owner.Kind.Or() != resource.PurposeClaim:
		return "it is of a " + string(cfg.Spec.Owner.Kind) + ", which begins again here"
	case cfg.Spec.BootPolicy.Boot == resource.BootNetwork:
		return "boot: Network needs a grant of this hub"
	case p.Record != nil && p.Known && !p.Accepted:
		return "the record is signed by agent key " + key + ", which was not accepted"
	case p.Record != nil:
		return "the record is of another claim, server or image"
	case len(cfg.Status.SignedProvisioned) > 0:
		return "no key that the export names for the rack has signed its record"
	case cfg.Status.Adopted != nil:
		return "the server was adopted at the other hub, and words were not accepted"
	}
	return "its first boot had no end that an agent recorded"
}
