package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// DiscoveryStateOf is how the discovery of a server stands.
func DiscoveryStateOf(f Fleet, s *resource.Server) resource.DiscoveryState {
	r := f.rack(s.Metadata.Name)
	return resource.DiscoveryOf(r != nil && r.Spec.Discovery != nil, &s.Status)
}

// whyUndiscovered says why a server without an owner cannot be bound to a claim; empty if
// it can.
func whyUndiscovered(f Fleet, s *resource.Server) string {
	name := s.Metadata.Name
	switch DiscoveryStateOf(f, s) {
	case resource.DiscoveryWanted:
		return fmt.Sprintf("server %s is not discovered yet", name)
	case resource.DiscoveryFailed:
		return fmt.Sprintf("the discovery of server %s was given up: rackctl describe server %s", name, name)
	}
	if f.DiscoveryOf(name) != nil {
		return fmt.Sprintf("the discovery of server %s ends", name)
	}
	return ""
}

// DiscoveryThen is what is to be done about the discovery of a server.
type DiscoveryThen string

// The words.
const (
	DiscoveryNothing DiscoveryThen = "nothing"
	DiscoveryWaits   DiscoveryThen = "waits"   // a condition says for what
	DiscoveryBegin   DiscoveryThen = "begin"   // its configuration is made
	DiscoveryReplace DiscoveryThen = "replace" // the configuration goes at once, for another
	DiscoveryKeep    DiscoveryThen = "keep"    // what was found is stored
	DiscoveryGiveUp  DiscoveryThen = "give up" // why is stored
	DiscoveryEnd     DiscoveryThen = "end"     // the agent is to prove Off
	DiscoveryRemove  DiscoveryThen = "remove"  // the configuration goes, and the server is Available
)

// DiscoveryWord is the next step of a discovery. Conditions are those of the server
// while it waits.
type DiscoveryWord struct {
	Then       DiscoveryThen
	Image      *resource.Image         // to begin with
	From       *resource.GroupRevision // that the image is of; nil is none
	Conditions []resource.ConditionState
	Message    string // why it is given up, or ended
}

// Discoveries says what becomes of every server's discovery, by name; servers of which
// there is nothing to say are left out. image is what is known of the image for a
// server of a rack.
func Discoveries(f Fleet, image func(*resource.Rack, *resource.Server) BootSeen) map[string]DiscoveryWord {
	f = f.Indexed()
	out := map[string]DiscoveryWord{}
	under := discoveriesUnderWay(f)
	for _, s := range f.Servers {
		var w DiscoveryWord
		rack := f.rack(s.Metadata.Name)
		if cfg := f.DiscoveryOf(s.Metadata.Name); cfg != nil {
			w = continueDiscovery(f, s, cfg)
		} else {
			w = beginDiscovery(f, s, image, rack != nil && rack.Spec.Discovery != nil && under[rack.Metadata.Name] < rack.Spec.Discovery.MaxAtOnce)
		}
		if w.Then == DiscoveryBegin {
			under[rack.Metadata.Name]++
		}
		if w.Then != DiscoveryNothing {
			out[s.Metadata.Name] = w
		}
	}
	return out
}

// discoveriesUnderWay counts the discoveries of each rack that have not ended. One that
// another owner has pushed aside counts: it goes on.
func discoveriesUnderWay(f Fleet) map[string]int {
	n := map[string]int{}
	for _, b := range f.Configs {
		if b.Spec.Owner.Kind == resource.PurposeDiscovery {
			n[f.RackOf(b.Spec.Server)]++
		}
	}
	return n
}

// beginRule says whether a discovery begins. The first row that fits decides.
//
//	wanted | owned | held | able | image   | room | then
//	no     | *     | *    | *    | *       | *    | nothing
//	yes    | yes   | *    | *    | *       | *    | nothing
//	yes    | no    | yes  | *    | *       | *    | nothing
//	yes    | no    | no   | no   | *       | *    | waits
//	yes    | no    | no   | yes  | ready   | yes  | begin
//	yes    | no    | no   | yes  | ready   | no   | nothing
//	yes    | no    | no   | yes  | asked   | *    | nothing
//	yes    | no    | no   | yes  | *       | *    | waits
//
// owned is a claim or an active maintenance; able is that the agent was heard and can do
// it; room is that the rack has fewer discoveries under way than it may. Nothing is made, and nothing of the server touched, before the image was looked at
// for the server's architecture (facts boot-policy row 2).
func beginRule(wanted, owned, held, able bool, img ImageState, room bool) DiscoveryThen {
	switch {
	case !wanted, owned, held:
		return DiscoveryNothing
	case !able:
		return DiscoveryWaits
	case img == ImageReady && room:
		return DiscoveryBegin
	case img == ImageReady, img == ImageAsked:
		return DiscoveryNothing
	}
	return DiscoveryWaits
}

func beginDiscovery(f Fleet, s *resource.Server, image func(*resource.Rack, *resource.Server) BootSeen, room bool) DiscoveryWord {
	name, r := s.Metadata.Name, f.rack(s.Metadata.Name)
	wanted := DiscoveryStateOf(f, s) == resource.DiscoveryWanted
	if !wanted {
		return DiscoveryWord{Then: DiscoveryNothing}
	}
	owned := f.ClaimOf(name) != nil || f.MaintenanceOf(name) != nil
	img := BootSeen{State: ImageAsked}
	if !owned && !f.held(name) {
		img = image(r, s)
	}
	able, why := canDiscover(f, r, s, img.Image)
	w := DiscoveryWord{Then: beginRule(wanted, owned, f.held(name), able, img.State, room), Image: img.Image, From: img.From}
	switch {
	case w.Then != DiscoveryWaits:
	case !able:
		w.Conditions = why
	case img.Code != "":
		w.Conditions = append(w.Conditions, resource.ConditionState{Code: img.Code, Message: img.Message})
	}
	return w
}

// canDiscover says whether the rack's agent can discover a server, and why not where no
// other condition does: it was not heard yet, or is sent no entry of the server.
func canDiscover(f Fleet, r *resource.Rack, s *resource.Server, img *resource.Image) (able bool, why []resource.ConditionState) {
	if r.Status.Agent == "" || withheld(f.bmc(s.Spec.BMCRef.Name)) != "" || f.Peers[r.Status.Agent].Incarnation == "" {
		return false, nil
	}
	if why := unreached(f, s, resource.DiscoveryPolicy().FirstBoot); why != "" {
		return false, []resource.ConditionState{{Code: resource.CondUnsupportedBoot, Message: "discovery: " + why}}
	}
	b := message.BootIntent{Owner: resource.Owner{Kind: resource.PurposeDiscovery}, GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.DiscoveryPolicy()}}}
	if img != nil {
		b.Image, b.Env = *img, envOf(*img)
	}
	lacking := message.Lacking(f.Peers[r.Status.Agent].Capabilities, b.Needs())
	if len(lacking) == 0 {
		return true, nil
	}
	return false, []resource.ConditionState{{Code: resource.CondAgentTooOld, Message: "discovery needs what the agent lacks: " + message.CapabilityList(lacking)}}
}

// heard is what the agent says of a discovery.
type heard string

const (
	heardNothing    heard = "nothing"
	heardDiscovered heard = "discovered" // with all that comes of the inventory
	heardGivenUp    heard = "given up"
	heardReleased   heard = "released"
)

// goesOnRule says how a discovery goes on that has a configuration. The first row that
// fits decides.
//
//	ends | wanted | disk  | agent      | then
//	yes  | *      | *     | released   | remove
//	yes  | *      | *     | *          | nothing
//	no   | no     | *     | *          | end
//	no   | yes    | other | *          | replace
//	no   | yes    | same  | discovered | keep
//	no   | yes    | same  | given up   | give up
//	no   | yes    | same  | *          | nothing
//
// What was found, or why it was given up, is stored first: wanted is no then. disk is the
// database of the agent that the grant was given to. Another one cannot know what was
// done with it, and has nothing of the discovery to end.
func goesOnRule(ends, wanted, other bool, s heard) DiscoveryThen {
	switch {
	case ends && s == heardReleased:
		return DiscoveryRemove
	case ends:
		return DiscoveryNothing
	case !wanted:
		return DiscoveryEnd
	case other:
		return DiscoveryReplace
	case s == heardDiscovered:
		return DiscoveryKeep
	case s == heardGivenUp:
		return DiscoveryGiveUp
	}
	return DiscoveryNothing
}

func continueDiscovery(f Fleet, s *resource.Server, cfg *resource.BootConfiguration) DiscoveryWord {
	name, other := s.Metadata.Name, false
	if r := f.rack(name); r != nil {
		now := f.Peers[r.Status.Agent].Incarnation
		other = now != "" && cfg.Status.GrantFor != "" && cfg.Status.GrantFor != now
	}
	says, why := agentSaid(f.Reports[name], cfg)
	w := DiscoveryWord{Message: why}
	w.Then = goesOnRule(cfg.Metadata.DeletedAt != nil, DiscoveryStateOf(f, s) == resource.DiscoveryWanted, other, says)
	return w
}

// agentSaid reads the newest report of a server about its discovery, and why it was given
// up.
func agentSaid(r *resource.ServerReport, cfg *resource.BootConfiguration) (heard, string) {
	if r == nil || r.OwnerUID != cfg.Spec.Owner.UID {
		return heardNothing, ""
	}
	if r.Released {
		return heardReleased, ""
	}
	if a, i := r.Attempt, r.Image; a != nil && a.State == resource.AttemptSucceeded && a.Evidence == protocol.EvidenceDiscovered && i != nil {
		if i.Inventory != nil || i.Digest == "" || i.Bytes > protocol.MaxReportedInventory {
			return heardDiscovered, ""
		}
		return heardNothing, "" // the inventory comes with one of the next reports
	}
	if i := slices.IndexFunc(r.Conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondDiscoveryFailed }); i >= 0 {
		return heardGivenUp, cmp.Or(r.Conditions[i].Message, "the agent does not say why")
	}
	return heardNothing, ""
}

// StrayDiscoveries are the configurations of discoveries whose server is gone: deleted, or deleted
// and made again.
func StrayDiscoveries(f Fleet) (out []*resource.BootConfiguration) {
	for _, b := range f.Configs {
		if b.Spec.Owner.Kind != resource.PurposeDiscovery {
			continue
		}
		if s := f.server(b.Spec.Server); s == nil || DiscoveryName(s) != b.Metadata.Name {
			out = append(out, b)
		}
	}
	return out
}

// Found is what a report says that a discovery has found.
func Found(r *resource.ServerReport, cfg *resource.BootConfiguration) *resource.Discovered {
	return &resource.Discovered{
		At: r.Image.At, UID: cfg.Spec.Owner.UID, ImageDigest: cfg.Spec.Image.Digest, Method: r.Attempt.Observed,
		Digest: r.Image.Digest, Bytes: r.Image.Bytes, Inventory: r.Image.Inventory,
	}
}

// DiscoveryName is the name of the configuration of a server's discovery: a server has
// one at most, and no claim has that name.
func DiscoveryName(s *resource.Server) string { return "d-" + strings.ToLower(s.Metadata.UID) }
