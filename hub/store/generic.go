package store

import (
	"bytes"
	"encoding/json"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Resources are taken apart as JSON where the code is the same for all kinds.
type parts struct {
	Spec   json.RawMessage `json:"spec,omitempty"`
	Status json.RawMessage `json:"status,omitempty"`
}

func partsOf(obj resource.Object) (p parts, err error) {
	raw, err := json.Marshal(obj)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(raw, &p)
}

func clone(obj resource.Object) (resource.Object, error) {
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	out := resource.NewObject(resource.KindOfType(obj))
	if out == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "%T is no resource", obj)
	}
	return out, json.Unmarshal(raw, out)
}

func sameSpec(a, b resource.Object) (bool, error) {
	pa, err := partsOf(a)
	if err != nil {
		return false, err
	}
	pb, err := partsOf(b)
	return bytes.Equal(pa.Spec, pb.Spec), err
}

// clearStatus drops the status that the input had.
func clearStatus(obj resource.Object) {
	switch o := obj.(type) {
	case *resource.Rack:
		o.Status = resource.RackStatus{}
	case *resource.BMC:
		o.Status = resource.BMCStatus{}
	case *resource.Server:
		o.Status = resource.ServerStatus{}
	case *resource.Claim:
		o.Status = resource.ClaimStatus{}
	case *resource.Maintenance:
		o.Status = resource.MaintenanceStatus{}
	case *resource.BootEnv:
		o.Status = resource.BootEnvStatus{}
	case *resource.BootImage:
		o.Status = resource.BootImageStatus{}
	case *resource.Secret:
		o.Status = resource.SecretStatus{}
	case *resource.ServerGroup:
		o.Status = resource.ServerGroupStatus{}
	case *resource.AgentUpgrade:
		o.Status = resource.AgentUpgradeStatus{}
	}
}

// copyStatus gives dst the status of src, which is of the same kind.
func copyStatus(dst, src resource.Object) error {
	clearStatus(dst)
	p, err := partsOf(src)
	if err != nil || p.Status == nil {
		return err
	}
	raw, err := json.Marshal(parts{Status: p.Status})
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, dst)
}
