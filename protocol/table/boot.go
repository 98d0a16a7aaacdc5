package table

import (
	"maps"
	"slices"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

func bootConfiguration(o *resource.BootConfiguration, now time.Time) []filled {
	revision := ""
	if o.Spec.Group != "" {
		revision = resource.GroupRevisionName(o.Spec.Group, o.Spec.Revision)
	}
	var provisioned Cell
	if p := o.Status.Provisioned; p != nil {
		provisioned = at(&p.At)
	} else if w := o.Status.Adopted; w != nil {
		provisioned = text("by the word of " + w.By)
	}
	return []filled{
		name(o),
		column("SERVER", "The server that it is of.", text(o.Spec.Server)),
		column("PURPOSE", "What the boot is for.", text(o.Spec.Owner.Kind.Or())),
		column("OWNER", "Whose boot it is.", text(o.Spec.Owner.Name)),
		column("STATE", "Where it stands.", text(o.Status.State)),
		column("PROVISIONED", "When it was proved to be installed, or by whose word it is.", provisioned),
		conditions(o.Status.Conditions, now),
		wide("EVIDENCE", "The class of the evidence of what has booted.", text(o.Status.EvidenceClass)),
		wide("SECRETS", "The way that its user data goes.", text(o.Status.Secrets)),
		wide("IMAGE", "The image as it was named.", text(o.Spec.Image.Reference)),
		wide("DIGEST", "The digest of the image.", text(o.Spec.Image.Digest)),
		wide("REVISION", "The revision of the group that it is of.", text(revision)),
	}
}

func bootEnv(o *resource.BootEnv, _ time.Time) []filled {
	valid := "yes"
	if !o.Status.Valid {
		valid = "no"
	}
	return []filled{
		name(o),
		column("OS", "Its operating system.", text(o.Spec.OS.Name)),
		column("ARCHITECTURES", "The architectures that it boots.", list(slices.Sorted(maps.Keys(o.Spec.OS.SupportedArchitectures)))),
		column("VALID", "Whether it can be rendered.", text(valid)),
		column("SERVERS", "How many servers have it.", number(o.Status.Servers)),
		age(o),
		wide("FILES", "The files that it boots from.", list(isoNames(o.Spec.OS))),
		wide("REQUIRED-PARAMS", "The parameters that it cannot do without.", list(o.Spec.RequiredParams)),
		wide("ERRORS", "What keeps it from being rendered.", text(strings.Join(o.Status.Errors, "; "))),
		wide("DESCRIPTION", "What people call it.", text(o.Spec.Description)),
	}
}

// isoNames are the files of an operating system, sorted and without repeats.
func isoNames(os resource.EnvOS) []string {
	seen := map[string]bool{}
	if os.IsoFile != "" {
		seen[os.IsoFile] = true
	}
	for _, a := range os.SupportedArchitectures {
		if a.IsoFile != "" {
			seen[a.IsoFile] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func template(o *resource.Template, _ time.Time) []filled {
	return []filled{
		name(o),
		column("BYTES", "How long it is.", number(len(o.Spec.Contents))),
		age(o),
		wide("DESCRIPTION", "What people call it.", text(o.Spec.Description)),
	}
}

func profile(o *resource.Profile, _ time.Time) []filled {
	secret := ""
	if o.Spec.ParamsSecretRef != nil {
		secret = o.Spec.ParamsSecretRef.Name
	}
	return []filled{
		name(o),
		column("PARAMS", "How many parameters it sets.", number(len(o.Spec.Params))),
		column("SECRET", "The Secret that has others.", text(secret)),
		age(o),
		wide("NAMES", "The parameters that it sets.", list(slices.Sorted(maps.Keys(o.Spec.Params)))),
		wide("DESCRIPTION", "What people call it.", text(o.Spec.Description)),
	}
}

func param(o *resource.Param, _ time.Time) []filled {
	kind := ""
	if s, ok := o.Spec.Schema.(map[string]any); ok {
		kind, _ = s["type"].(string)
	}
	return []filled{
		name(o),
		column("PARAM", "The parameter that it describes.", text(o.Spec.Name)),
		column("TYPE", "The type of its values.", text(kind)),
		age(o),
		wide("DESCRIPTION", "What people call it.", text(o.Spec.Description)),
	}
}

func firmwareProfile(o *resource.FirmwareProfile, _ time.Time) []filled {
	return []filled{
		name(o),
		column("BOOT-ORDER", "What firmware tries, in order.", list(o.Spec.BootOrder)),
		column("HTTP", "Whether firmware boots by HTTP.", text(o.Spec.HTTP)),
		column("PXE", "Whether firmware boots by PXE.", text(o.Spec.PXE)),
		column("SECURE-BOOT", "Whether Secure Boot is on.", text(o.Spec.SecureBoot)),
		column("POWER-RESTORE", "What comes when mains power returns.", text(o.Spec.PowerRestore)),
		column("ATTRIBUTES", "How many other settings it has.", number(len(o.Spec.Attributes))),
		age(o),
		wide("SELECTOR", "The servers that it is for.", text(o.Spec.Selector.String())),
	}
}

func secret(o *resource.Secret, now time.Time) []filled {
	return []filled{
		name(o),
		column("TYPE", "What is in it.", text(o.Spec.Type)),
		column("VERSION", "Counts its changes.", count(o.Status.Version)),
		column("USED-BY", "What uses it.", list(o.Status.UsedBy)),
		conditions(o.Status.Conditions, now),
		age(o),
		wide("CHANGED", "When it was changed last.", at(o.Status.ChangedAt)),
		wide("DIGEST", "Tells what is in it from what was, and says nothing else of that.", text(o.Status.Digest)),
	}
}
