package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// ruleBucket begins the keys of rules.
const ruleBucket = "rule"

// systemRule begins the keys of the systems behind BMCs.
const systemRule = ruleBucket + ".system."

// rule is something that no two have: a MAC address, a claim's server. It is a key of its own,
// which is written in the commit that writes who has it, so that the store itself lets
// one of two writers win, whatever process each is in.
type rule struct {
	key string
	// part is what of it one has, where several may: the system of a BMC. Who has the empty part
	// has all of it.
	part string
}

// taker is one who has what a rule is about. The value of a rule's key is a list of them.
type taker struct {
	Kind resource.Kind `json:"kind"`
	Name string        `json:"name"`
	UID  string        `json:"uid"`
	Part string        `json:"part,omitempty"`
}

func (t taker) same(o taker) bool { return t.Kind == o.Kind && t.Name == o.Name }

// excludes reports whether two cannot both have it.
func (t taker) excludes(o taker) bool {
	return !t.same(o) && (t.Part == "" || o.Part == "" || t.Part == o.Part)
}

// rulesOf are the rules of a resource, in order; of nil there are none.
//
//	key                        | who has it
//	rule.mac.<address>         | the Server with that MAC address
//	rule.uuid.<uuid>           | the Server with that UUID
//	rule.system.<bmc>          | the Servers behind a BMC, each by its systemURI, or one alone without
//	rule.bmc.<address>         | the accepted BMC with that MAC address
//	rule.claim.<server>        | the Claim that has the server
//	rule.maintenance.<server>  | the Maintenance that has the server
//	rule.hold.<digest>         | the Hold of an owner and key on a server
//	rule.version.<digest>      | the BootImage with that version in its catalogue
//	rule.param.<digest>        | the Param that describes that name
//	rule.request.<digest>      | the request of a caller, ref, server and action that has not ended
func rulesOf(obj resource.Object) (rules []rule) {
	one := func(what, of string) {
		if of != "" {
			rules = append(rules, rule{key: ruleBucket + "." + what + "." + of})
		}
	}
	switch o := obj.(type) {
	case *resource.Server:
		one("mac", hardware(o.Spec.BootMAC))
		for _, m := range o.Spec.MACs {
			one("mac", hardware(m))
		}
		one("uuid", plain(o.Spec.UUID))
		rules = append(rules, rule{systemRule + o.Spec.BMCRef.Name, o.Spec.SystemURI})
	case *resource.BMC:
		if !o.Pending() {
			one("bmc", hardware(o.Spec.MACAddress))
		}
	case *resource.Claim:
		one("claim", o.Status.Server)
	case *resource.Maintenance:
		if o.Status.State == resource.MaintenanceActive {
			one("maintenance", o.Spec.ServerRef.Name)
		}
	case *resource.Hold:
		one("hold", digest(o.Spec.Owner, o.Spec.Key, o.Spec.Server))
	case *resource.BootImage:
		if v, err := resource.ParseImageVersion(o.Spec.Version); err == nil {
			one("version", digest(o.Spec.Catalogue, sameVersion(v)))
		}
	case *resource.Param:
		one("param", digest(o.Spec.Name))
	}
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.part, b.part)) })
	return slices.Compact(rules)
}

// requestRules are those of a request.
func requestRules(r *StoredRequest) []rule {
	if r == nil || r.Ref == "" || r.ended() {
		return nil
	}
	return []rule{{key: ruleBucket + ".request." + digest(r.By, r.Ref, r.Server, string(r.Action))}}
}

// hardware is a MAC address as the level of a key.
func hardware(mac string) string { return plain(strings.ReplaceAll(mac, ":", "")) }

// plain is a text as the level of a key: as it is, or its digest.
func plain(s string) string {
	if s == "" || validToken(s) {
		return s
	}
	return digest(s)
}

// digest stands for texts in a key, where they would be too long or have other characters.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// sameVersion is the same text for all versions that [resource.ImageVersion.Compare] says are equal.
func sameVersion(v resource.ImageVersion) string {
	parts := make([]string, len(v))
	for i, p := range v {
		parts[i] = p
		if n, err := strconv.ParseUint(p, 10, 64); err == nil {
			parts[i] = strconv.FormatUint(n, 10)
		}
	}
	return strings.Join(parts, ".")
}

func readTakers(e state.Entry) (list []taker, err error) {
	if err := json.Unmarshal(e.Value, &list); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "read rule", "stored %s cannot be read: %w", e.Key, err).
			WithHint("start the hub again: it writes the keys of rules anew where they are not right")
	}
	return list, nil
}

// stored is the key of a taker.
func (t taker) stored() string {
	if t.Kind == requestKind {
		return requestBucket + "." + t.Name
	}
	return keyOf(t.Kind, t.Name)
}
