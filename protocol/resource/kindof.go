package resource

// KindOf is the kind of the resource type T, such as KindServer for *Server;
// empty for a type that is no resource.
func KindOf[T Object]() Kind {
	var none T
	return KindOfType(none)
}

// KindOfType is the kind of the resource's type, whatever its header says, also of a nil
// pointer; empty for a type that is no resource.
func KindOfType(obj Object) Kind {
	switch obj.(type) {
	case *Secret:
		return KindSecret
	case *Param:
		return KindParam
	case *Profile:
		return KindProfile
	case *Template:
		return KindTemplate
	case *BootEnv:
		return KindBootEnv
	case *BootImage:
		return KindBootImage
	case *ManagedBootImages:
		return KindManagedBootImages
	case *ServerGroup:
		return KindServerGroup
	case *Rack:
		return KindRack
	case *Segment:
		return KindSegment
	case *BMC:
		return KindBMC
	case *Server:
		return KindServer
	case *Claim:
		return KindClaim
	case *Maintenance:
		return KindMaintenance
	case *Agent:
		return KindAgent
	case *BootConfiguration:
		return KindBootConfiguration
	case *GroupRevision:
		return KindGroupRevision
	case *FirmwareProfile:
		return KindFirmwareProfile
	case *Freeze:
		return KindFreeze
	case *AgentUpgrade:
		return KindAgentUpgrade
	case *Hold:
		return KindHold
	}
	return ""
}
