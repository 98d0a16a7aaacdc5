package plan

import (
	"cmp"
	"fmt"
	"slices"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// ImageState is how far the image of a maintenance is known, with its user data.
type ImageState string

// The states.
const (
	ImageAsked   ImageState = "asked" // nothing has answered yet
	ImageFailing ImageState = "failing"
	ImageInvalid ImageState = "invalid" // it cannot be booted as the policy says, or its user data not used
	ImageReady   ImageState = "ready"   // also where none is needed
)

// BootSeen is what the hub knows of what a maintenance boots; Image and Ignition only
// when they are ready and needed.
type BootSeen struct {
	State ImageState
	// Code is of the condition that stands against it, if one does; Message says why.
	Code     resource.ConditionCode
	Message  string
	Image    *resource.Image
	Ignition *resource.IgnitionRef
	// From is the revision of a group that it is of; nil is none.
	From *resource.GroupRevision
}

// why says why it is not there.
func (b BootSeen) why() string {
	if b.Code == "" {
		return b.Message
	}
	return string(b.Code) + ": " + b.Message
}

// MaintenanceWord is what becomes of a maintenance, and why it is no more.
type MaintenanceWord struct {
	State    resource.MaintenanceState
	Message  string
	Position int // in the queue of its server, from 1; 0 unless it is Queued
}

// Maintain says what becomes of every maintenance, by name. boots are by name.
func Maintain(f Fleet, boots map[string]BootSeen) map[string]MaintenanceWord {
	f = f.Indexed()
	first := map[string]*resource.Maintenance{} // that would begin next, by server
	writing := map[string]int{}                 // firmware settings, by rack
	for _, m := range f.Maintenances {
		server := m.Spec.ServerRef.Name
		if m.Status.State == resource.MaintenanceActive && len(m.Spec.Firmware) > 0 {
			writing[f.RackOf(server)]++
		}
		img := boots[m.Metadata.Name].State
		if m.Status.State != resource.MaintenanceActive && !denied(m) && ownerAgreed(f, m) && (img == ImageReady || img == ImageAsked) &&
			(first[server] == nil || before(m, first[server])) {
			first[server] = m
		}
	}
	out := map[string]MaintenanceWord{}
	for _, m := range f.Maintenances {
		server, img := m.Spec.ServerRef.Name, boots[m.Metadata.Name]
		waits := ""
		if now := f.MaintenanceOf(server); now != nil {
			waits = fmt.Sprintf("server %s has maintenance %s", server, now.Metadata.Name)
		} else if n := first[server]; n != nil && n != m {
			waits = fmt.Sprintf("maintenance %s comes first", n.Metadata.Name)
		}
		cannot, rack := cannotBegin(f, m, img), f.RackOf(server)
		if cannot == "" && len(m.Spec.Firmware) > 0 && writing[rack] >= resource.MaxFirmwareAtOnce {
			cannot = fmt.Sprintf("firmware settings of %d servers of rack %s are being written", writing[rack], rack)
		}
		w := MaintenanceWord{State: maintenanceRule(m.Status.State == resource.MaintenanceActive, denied(m), img.State, ownerAgreed(f, m), cannot == "", waits == "")}
		switch w.State {
		case resource.MaintenanceActive:
			if m.Status.State != w.State && len(m.Spec.Firmware) > 0 {
				writing[rack]++
			}
		case resource.MaintenanceDenied:
			w.Message = fmt.Sprintf("by %q: %s", m.Status.Approval.By, m.Status.Approval.Reason)
		case resource.MaintenanceError:
			w.Message = img.why()
		case resource.MaintenanceAwaitingApproval:
			w.Message = fmt.Sprintf("server %s has claim %s: rackctl maintenance approve %s --reason REASON", server, f.ClaimOf(server).Metadata.Name, m.Metadata.Name)
		case resource.MaintenanceQueued:
			w.Message = cmp.Or(waits, img.why(), cannot, "its image is looked up")
		}
		out[m.Metadata.Name] = w
	}
	numberQueued(f, out)
	return out
}

// numberQueued numbers those that are Queued, for each server by itself.
func numberQueued(f Fleet, words map[string]MaintenanceWord) {
	waiting := map[string][]*resource.Maintenance{}
	for _, m := range f.Maintenances {
		if words[m.Metadata.Name].State == resource.MaintenanceQueued {
			waiting[m.Spec.ServerRef.Name] = append(waiting[m.Spec.ServerRef.Name], m)
		}
	}
	for _, line := range waiting {
		slices.SortFunc(line, func(a, b *resource.Maintenance) int {
			if before(a, b) {
				return -1
			}
			return 1
		})
		for i, m := range line {
			w := words[m.Metadata.Name]
			w.Position = i + 1
			words[m.Metadata.Name] = w
		}
	}
}

// maintenanceRule is the table of what becomes of a maintenance. The first row that
// fits decides.
//
//	active | denied | image   | agreed | able | first | state
//	yes    | *      | *       | *      | *    | *     | Active
//	no     | yes    | *       | *      | *    | *     | Denied
//	no     | no     | invalid | *      | *    | *     | Error
//	no     | no     | *       | no     | *    | *     | AwaitingApproval
//	no     | no     | ready   | yes    | yes  | yes   | Active
//	no     | no     | *       | yes    | *    | *     | Queued
//
// An image that cannot be booted, or user data that cannot be used, is an event on the
// maintenance and nothing else: the server is not touched, and nobody is asked. able is that the claim does not end just
// now, and that the agent can do it.
func maintenanceRule(active, denied bool, img ImageState, agreed, able, first bool) resource.MaintenanceState {
	switch {
	case active:
		return resource.MaintenanceActive
	case denied:
		return resource.MaintenanceDenied
	case img == ImageInvalid:
		return resource.MaintenanceError
	case !agreed:
		return resource.MaintenanceAwaitingApproval
	case img == ImageReady && able && first:
		return resource.MaintenanceActive
	}
	return resource.MaintenanceQueued
}

func denied(m *resource.Maintenance) bool {
	a := m.Status.Approval
	return a != nil && a.Denied && a.Generation == m.Metadata.Generation
}

// agreed says whether nobody has to be asked any more.
//
//	claimed | policy        | approved | agreed
//	no      | *             | *        | yes
//	yes     | Enforced      | *        | yes
//	yes     | OwnerApproval | yes      | yes
//	yes     | OwnerApproval | no       | no
func agreed(claimed bool, p resource.MaintenancePolicy, approved bool) bool {
	return !claimed || p == resource.MaintenanceEnforced || approved
}

func ownerAgreed(f Fleet, m *resource.Maintenance) bool {
	a := m.Status.Approval
	return agreed(f.ClaimOf(m.Spec.ServerRef.Name) != nil, m.Spec.Policy, a != nil && !a.Denied && a.Generation == m.Metadata.Generation)
}

// before orders the queue: by priority, then by age.
func before(a, b *resource.Maintenance) bool {
	if a.Spec.Priority != b.Spec.Priority {
		return a.Spec.Priority > b.Spec.Priority
	}
	if x, y := a.Metadata.CreatedAt, b.Metadata.CreatedAt; x != nil && y != nil && !x.Equal(*y) {
		return x.Before(*y)
	}
	return a.Metadata.Name < b.Metadata.Name
}

// cannotBegin says why a maintenance cannot begin now; empty if it can.
func cannotBegin(f Fleet, m *resource.Maintenance, seen BootSeen) string {
	server := m.Spec.ServerRef.Name
	if c := f.ClaimOf(server); c != nil && c.Metadata.DeletedAt != nil {
		return fmt.Sprintf("claim %s ends first", c.Metadata.Name)
	}
	rack := f.rack(server)
	if rack == nil || f.Peers[rack.Status.Agent].Incarnation == "" {
		return "the rack's agent was not heard yet"
	}
	b := message.BootIntent{Owner: resource.Owner{Kind: resource.PurposeMaintenance}, GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: m.Spec.Boot.BootPolicy}}}
	if seen.Image != nil {
		b.Image, b.Env = *seen.Image, envOf(*seen.Image)
	}
	if seen.Ignition != nil {
		b.Ignition = message.IgnitionOf(*seen.Ignition)
	}
	need := b.Needs()
	if len(m.Spec.Firmware) > 0 {
		if s := f.server(server); s != nil && s.Spec.DisablePowerOff {
			return "spec.disablePowerOff of server " + server + ": settings are written while it is Off, and nothing stops it"
		}
		need = firmwareNeeds()
	} else if m.Spec.ServerPower == resource.WantOff {
		need = []message.Capability{message.CapPurposes}
	}
	if lacking := message.Lacking(f.Peers[rack.Status.Agent].Capabilities, need); len(lacking) > 0 {
		return string(resource.CondAgentTooOld) + ": it lacks " + message.CapabilityList(lacking)
	}
	return ""
}

// firmwareNeeds is what an agent has to know that writes firmware settings.
func firmwareNeeds() []message.Capability {
	return []message.Capability{message.CapPurposes, message.CapFirmwareWrite}
}

// Maintained are the conditions of a maintenance that has begun which the hub alone can
// see: what it boots was fixed then. ignition is the present version of the Secret that it
// names; nil if there is none.
func Maintained(f Fleet, m *resource.Maintenance, ignition *resource.IgnitionRef) (out []resource.ConditionState) {
	cfg := f.configFor(m.Metadata.UID)
	if cfg == nil || m.Metadata.DeletedAt != nil {
		return nil
	}
	b, srv, why := m.Spec.Boot, f.server(cfg.Spec.Server), ""
	switch {
	case differs(b.Image, b.ImageFrom, b.BootEnv, cfg):
		why = sourceDiffers("maintenance", b.Image, b.ImageFrom, b.BootEnv, cfg)
	case !b.BootPolicy.Same(cfg.Spec.BootPolicy):
		why = "the maintenance's boot policy differs from the configuration's"
	case (cfg.Spec.Group == "" || b.IgnitionSecretRef != nil) && !ignitionFits(cfg.Spec.Ignition, b.IgnitionSecretRef, ignition):
		why = "the maintenance's user data differs from what the server is given"
	case srv != nil && resource.JoinKernelArgs(srv.Spec.KernelArgs, b.KernelArgs) != cfg.Spec.KernelArgs:
		why = fmt.Sprintf("the kernel arguments of server and maintenance differ from what the server is booted with, %q", cfg.Spec.KernelArgs)
	default:
		return nil
	}
	return []resource.ConditionState{{Code: resource.CondReprovisionRequired, Message: why}}
}
