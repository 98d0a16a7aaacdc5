package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ExportKinds are what an export has, in the order in which it is read: holds last, so
// that the newest are in it.
func ExportKinds() []resource.Kind {
	return slices.Concat(fleetKinds, []resource.Kind{
		resource.KindRack, resource.KindSegment, resource.KindBMC, resource.KindServer, resource.KindClaim,
		resource.KindMaintenance, resource.KindBootConfiguration, resource.KindHold, resource.KindFreeze, resource.KindAgentUpgrade,
	})
}

// fleetKinds describe boot environments and the images of groups. They are of no rack, and
// in an export of one too: what is in it may name them, and which Templates a param names
// is seen only where it is rendered.
var fleetKinds = []resource.Kind{
	resource.KindParam, resource.KindTemplate, resource.KindProfile, resource.KindBootEnv,
	resource.KindBootImage, resource.KindManagedBootImages, resource.KindServerGroup, resource.KindGroupRevision, resource.KindFirmwareProfile,
}

// Export reads what people own at the hub, and what was proved of it: of the given kinds,
// nil for all, and of one rack or all where it is empty. What is only shown, secrets and
// grants are not in it, nor are files. What describes boot environments and groups is left out
// for a caller who may not read it, by name of the kind. At and Hub are left to the caller. It is no snapshot: what changes
// meanwhile may be in it by half, which the import names. The codes are those of a list,
// and not_found for the rack.
func (c *Client) Export(ctx context.Context, kinds []resource.Kind, rack string) (e Export, err error) {
	if kinds == nil {
		kinds = ExportKinds()
	}
	e = Export{APIVersion: resource.APIVersion, Kind: KindExport}
	all := map[resource.Kind][]resource.Object{}
	for _, k := range ExportKinds() { // also where only some are exported: they say what is in which rack
		all[k], err = c.Objects.List(ctx, k)
		if protocol.CodeOf(err) == protocol.CodeDenied && slices.Contains(fleetKinds, k) {
			if slices.Contains(kinds, k) {
				e.LeftOut = append(e.LeftOut, LeftOut{Kind: k, Name: "*", Reason: "they are the whole fleet's, which you may not read; somebody without a scope exports them"})
			}
			err = nil
		}
		if err != nil {
			return e, err
		}
	}
	in := placesOf(all)
	if rack != "" && !slices.ContainsFunc(all[resource.KindRack], func(o resource.Object) bool { return o.Head().Metadata.Name == rack }) {
		return e, protocol.Errorf(protocol.CodeNotFound, "export", "there is no rack %q", rack).WithHint("rackctl get racks")
	}
	secrets := map[string]bool{}
	for _, k := range ExportKinds() {
		for _, o := range all[k] {
			if !slices.Contains(kinds, k) || rack != "" && in.rackOf(o) != rack && !slices.Contains(fleetKinds, k) {
				continue
			}
			if why := leftOut(o); why != "" {
				e.LeftOut = append(e.LeftOut, LeftOut{Kind: k, Name: o.Head().Metadata.Name, Reason: why})
				continue
			}
			for _, l := range secretsOf(o) {
				if !secrets[l.Name] {
					secrets[l.Name] = true
					e.LeftOut = append(e.LeftOut, l)
				}
			}
			if r, ok := o.(*resource.Rack); ok {
				for _, key := range r.Status.AgentKeys {
					e.Keys = append(e.Keys, ExportKey{Rack: r.Metadata.Name, Key: key})
				}
			}
			raw, err := json.Marshal(bare(o))
			if err != nil {
				return e, protocol.Errorf(protocol.CodeInternal, "export", "%w", err)
			}
			e.Objects = append(e.Objects, raw)
		}
	}
	return e, nil
}

// leftOut is why a resource is not exported; empty if it is.
func leftOut(o resource.Object) string {
	if o.Head().Metadata.DeletedAt != nil {
		return "it is being deleted; let that end here"
	}
	switch o := o.(type) {
	case *resource.Maintenance:
		if o.Status.State == resource.MaintenanceActive {
			return "it has begun; let it end here, or create it again at the other hub"
		}
	case *resource.BootConfiguration:
		if p := o.Spec.Owner.Kind.Or(); p != resource.PurposeClaim {
			return "it is of a " + string(p) + ", and is made again"
		}
	}
	return ""
}

// bare leaves out what is only shown, and the grant: another hub never uses it.
func bare(o resource.Object) resource.Object {
	switch o := o.(type) {
	case *resource.Rack:
		o.Status = resource.RackStatus{Term: o.Status.Term, AgentKeys: o.Status.AgentKeys}
	case *resource.BMC:
		o.Status = resource.BMCStatus{State: o.Status.State, AcceptedBy: o.Status.AcceptedBy}
	case *resource.Server:
		resource.TakeReboots(o) // its holds are exported by themselves
		o.Status = resource.ServerStatus{AcceptedIdentity: o.Status.AcceptedIdentity, Firmware: o.Status.Firmware}
	case *resource.Claim:
		resource.TakeReboots(o)
		o.Status = resource.ClaimStatus{Server: o.Status.Server, Decision: o.Status.Decision}
	case *resource.Maintenance:
		o.Status = resource.MaintenanceStatus{}
	case *resource.Freeze:
		o.Status = resource.FreezeStatus{By: o.Status.By}
	case *resource.AgentUpgrade:
		o.Status = carriedUpgrade(o.Status)
	case *resource.BootConfiguration:
		o.Spec.Grant = nil
		o.Status.State, o.Status.HTTPBootURI, o.Status.EvidenceClass, o.Status.Secrets, o.Status.Conditions = "", "", "", "", nil
	case *resource.Hold:
		o.Status.State, o.Status.Message = "", ""
	case *resource.BootEnv:
		o.Status = resource.BootEnvStatus{}
	case *resource.BootImage:
		o.Status = CarriedBootImage(o.Status)
	case *resource.ServerGroup:
		o.Status = CarriedGroup(o.Status)
	}
	o.Head().Metadata.Revision = 0
	return o
}

// places says in which rack a resource is.
type places struct{ bmcs, servers map[string]string }

func placesOf(all map[resource.Kind][]resource.Object) places {
	p := places{map[string]string{}, map[string]string{}}
	for _, o := range all[resource.KindBMC] {
		p.bmcs[o.Head().Metadata.Name] = o.(*resource.BMC).Spec.RackRef.Name
	}
	for _, o := range all[resource.KindServer] {
		p.servers[o.Head().Metadata.Name] = p.bmcs[o.(*resource.Server).Spec.BMCRef.Name]
	}
	return p
}

func (p places) rackOf(o resource.Object) string {
	switch o := o.(type) {
	case *resource.Rack:
		return o.Metadata.Name
	case *resource.Segment:
		return o.Spec.RackRef.Name
	case *resource.BMC:
		return o.Spec.RackRef.Name
	case *resource.Server:
		return p.servers[o.Metadata.Name]
	case *resource.Claim:
		if o.Status.Server == "" && o.Spec.ServerRef != nil {
			return p.servers[o.Spec.ServerRef.Name]
		}
		return p.servers[o.Status.Server]
	case *resource.Maintenance:
		return p.servers[o.Spec.ServerRef.Name]
	case *resource.BootConfiguration:
		return p.servers[o.Spec.Server]
	case *resource.Hold:
		if o.Status.Rack != "" {
			return o.Status.Rack
		}
		return p.servers[o.Spec.Server]
	}
	return ""
}

// ParseExport reads an export file. The code of an error is invalid.
func ParseExport(raw []byte) (e Export, err error) {
	const op = "import"
	wrong := func(format string, args ...any) (Export, error) {
		return Export{}, protocol.Errorf(protocol.CodeInvalid, op, format, args...).WithHint("name a whole file that rackctl export wrote, of this version or an earlier one")
	}
	if len(raw) > MaxImport {
		return wrong("the file has more than %d bytes", MaxImport)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return wrong("the file cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return wrong("there is more after the export")
	}
	switch {
	case e.APIVersion != resource.APIVersion || e.Kind != KindExport:
		return wrong("it is %s %s, not %s %s", e.APIVersion, e.Kind, resource.APIVersion, KindExport)
	case len(e.Objects) > MaxImportObjects:
		return wrong("it has %d objects, and %d is the most", len(e.Objects), MaxImportObjects)
	}
	return e, nil
}
