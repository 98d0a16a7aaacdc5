package store

import (
	"bytes"
	"encoding/json"

	"rackboot/protocol"
)

// Resources are taken apart as JSON where the code is the same for all kinds.
type parts struct {
	Spec   json.RawMessage `json:"spec,omitempty"`
	Status json.RawMessage `json:"status,omitempty"`
}

func partsOf(obj protocol.Object) (p parts, err error) {
	raw, err := json.Marshal(obj)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(raw, &p)
}

func clone(obj protocol.Object) (protocol.Object, error) {
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	out := protocol.NewObject(protocol.KindOfType(obj))
	if out == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "%T is no resource", obj)
	}
	return out, json.Unmarshal(raw, out)
}

func sameSpec(a, b protocol.Object) (bool, error) {
	pa, err := partsOf(a)
	if err != nil {
		return false, err
	}
	pb, err := partsOf(b)
	return bytes.Equal(pa.Spec, pb.Spec), err
}

// clearStatus drops the status that the input had.
func clearStatus(obj protocol.Object) {
	switch o := obj.(type) {
	case *protocol.Rack:
		o.Status = protocol.RackStatus{}
	case *protocol.BMC:
		o.Status = protocol.BMCStatus{}
	case *protocol.Server:
		o.Status = protocol.ServerStatus{}
	case *protocol.Claim:
		o.Status = protocol.ClaimStatus{}
	case *protocol.Maintenance:
		o.Status = protocol.MaintenanceStatus{}
	case *protocol.BootEnv:
		o.Status = protocol.BootEnvStatus{}
	case *protocol.BootImage:
		o.Status = protocol.BootImageStatus{}
	case *protocol.Secret:
		o.Status = protocol.SecretStatus{}
	case *protocol.ServerGroup:
		o.Status = protocol.ServerGroupStatus{}
	}
}

// copyStatus gives dst the status of src, which is of the same kind.
func copyStatus(dst, src protocol.Object) error {
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
