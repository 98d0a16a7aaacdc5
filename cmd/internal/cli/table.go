package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

// objectsView makes the view of resources of one kind.
func objectsView(kind resource.Kind, objs []resource.Object, now time.Time) view {
	v := view{columns: columnsOf(kind)}
	for _, o := range objs {
		v.items = append(v.items, item{
			value: o, name: strings.ToLower(string(kind)) + "/" + o.Head().Metadata.Name, cells: cellsOf(o, now),
		})
	}
	return v
}

func columns(narrow string, wide ...string) []column {
	var out []column
	for n := range strings.FieldsSeq(narrow) {
		out = append(out, column{name: n})
	}
	for _, n := range wide {
		out = append(out, column{name: n, wide: true})
	}
	return out
}

func columnsOf(kind resource.Kind) []column {
	switch kind {
	case resource.KindServer:
		return columns("NAME PHASE POWER ATTEMPT INTENDED OBSERVED CLAIM HOLDS CONDITIONS AGE", "BMC", "SEGMENT", "BOOT-MAC", "STOPPED-SINCE", "SAFE-STOP", "DETECTION", "BOOTENV", "OS", "HARDWARE")
	case resource.KindClaim:
		return columns("NAME PHASE SERVER POWER IMAGE CONDITIONS AGE", "FIRST-BOOT", "UID")
	case resource.KindHold:
		return columns("NAME SERVER KEY OWNER MODE STATE READ AGE REASON", "REF", "TTL", "ENFORCED", "STOPPED-SINCE", "MESSAGE")
	case resource.KindAgent:
		return columns("NAME RACK TERM VERSION REPORT-AGE CONDITIONS", "INCARNATION")
	case resource.KindRack:
		return columns("NAME AGENT TERM SOFT-TIMEOUT SETTLE POLL", "DESCRIPTION")
	case resource.KindSegment:
		return columns("NAME RACK ROLE PREFIX POOL ADDRESS", "BASE-URL", "LEASE", "SCAN", "MAC-PREFIXES")
	case resource.KindBMC:
		return columns("NAME RACK STATE ADDRESS VENDOR MODEL SERVERS FOUND-BY CONDITIONS", "MAC", "FINGERPRINT", "ACCEPTED-BY", "CREDENTIALS")
	case resource.KindSecret:
		return columns("NAME TYPE VERSION USED-BY CONDITIONS AGE", "CHANGED", "DIGEST")
	case resource.KindMaintenance:
		return columns("NAME SERVER STATE POLICY PRIORITY POWER AGE REASON", "APPROVAL", "IMAGE", "MESSAGE")
	case resource.KindBootEnv:
		return columns("NAME OS ARCHITECTURES VALID SERVERS AGE", "FILES", "REQUIRED-PARAMS", "ERRORS", "DESCRIPTION")
	case resource.KindBootImage:
		return columns("NAME CATALOGUE VERSION ARCHITECTURES VERIFIED STAMP CONDITIONS AGE", "MAX-IGNITION", "DIGEST", "SOURCE")
	case resource.KindServerGroup:
		return columns("NAME CATALOGUE MANAGED REVISION CURRENT ROLLOUT CONDITIONS AGE", "SKIPPED", "VERIFIED")
	case resource.KindGroupRevision:
		return columns("NAME GROUP NUMBER CAUSE BOOTIMAGE VERSION VERIFIED AGE", "BY", "REASON")
	case resource.KindManagedBootImages:
		return columns("NAME MODE SKEW")
	case resource.KindTemplate:
		return columns("NAME BYTES AGE", "DESCRIPTION")
	case resource.KindProfile:
		return columns("NAME PARAMS SECRET AGE", "NAMES", "DESCRIPTION")
	case resource.KindParam:
		return columns("NAME PARAM TYPE AGE", "DESCRIPTION")
	case resource.KindBootConfiguration:
		return columns("NAME SERVER PURPOSE OWNER STATE PROVISIONED CONDITIONS", "IMAGE", "DIGEST", "REVISION")
	}
	return columns("NAME")
}

func cellsOf(obj resource.Object, now time.Time) []string {
	name := obj.Head().Metadata.Name
	switch o := obj.(type) {
	case *resource.Server:
		return serverCells(o, now)
	case *resource.Claim:
		return claimCells(o, now)
	case *resource.Maintenance:
		return maintenanceCells(o, now)
	case *resource.Hold:
		return holdCells(o, now)
	case *resource.Agent:
		return []string{
			name, o.Spec.RackRef.Name, strconv.FormatUint(o.Spec.Term, 10), o.Status.Version,
			age(o.Status.LastReport, now), conditionCodes(o.Status.Conditions, now), o.Status.Incarnation,
		}
	case *resource.Rack:
		term := ""
		if o.Status.Term > 0 {
			term = strconv.FormatUint(o.Status.Term, 10)
		}
		return []string{
			name, o.Status.Agent, term, o.Spec.SoftTimeout.String(), o.Spec.SettleWindow.String(),
			o.Spec.PollInterval.String(), o.Spec.Description,
		}
	case *resource.Segment:
		scan, prefixes := "", ""
		if b := o.Spec.BMCs; b != nil {
			scan, prefixes = strings.Join(b.Scan, ","), strings.Join(b.MACPrefixes, ",")
		}
		return []string{
			name, o.Spec.RackRef.Name, string(o.Spec.Role), o.Spec.Prefix, o.Spec.Pool.From + "-" + o.Spec.Pool.To, o.Spec.Address,
			o.Spec.BaseURL, o.Spec.LeaseTime.String(), scan, prefixes,
		}
	case *resource.BMC:
		return bmcCells(o, now)
	case *resource.BootEnv, *resource.Template, *resource.Profile, *resource.Param:
		return bootEnvCells(o, now)
	case *resource.BootImage:
		return bootImageCells(o, now)
	case *resource.ServerGroup:
		return groupCells(o, now)
	case *resource.GroupRevision:
		return revisionCells(o, now)
	case *resource.ManagedBootImages:
		return []string{name, string(o.Spec.Mode), string(o.Spec.Skew.Mode)}
	case *resource.Secret:
		return []string{
			name, string(o.Spec.Type), strconv.FormatUint(o.Status.Version, 10), strings.Join(o.Status.UsedBy, ","),
			conditionCodes(o.Status.Conditions, now), age(o.Metadata.CreatedAt, now), stamp(o.Status.ChangedAt), o.Status.Digest,
		}
	case *resource.BootConfiguration:
		provisioned, revision := "", ""
		if o.Spec.Group != "" {
			revision = resource.GroupRevisionName(o.Spec.Group, o.Spec.Revision)
		}
		if p := o.Status.Provisioned; p != nil {
			provisioned = stamp(&p.At)
		} else if w := o.Status.Adopted; w != nil {
			provisioned = "by the word of " + w.By
		}
		return []string{
			name, o.Spec.Server, string(o.Spec.Owner.Kind.Or()), o.Spec.Owner.Name, string(o.Status.State), provisioned,
			conditionCodes(o.Status.Conditions, now), o.Spec.Image.Reference, o.Spec.Image.Digest, revision,
		}
	}
	return []string{name}
}

func holdCells(h *resource.Hold, now time.Time) []string {
	since, ttl := "", ""
	if r := h.Status.Receipt; r != nil {
		since = stamp(&r.StoppedSince)
	}
	if h.Spec.TTL != 0 {
		ttl = h.Spec.TTL.String() + " " + string(h.Spec.OnExpiry)
	}
	if h.Status.ExpiredAt != nil {
		ttl += ", expired"
	}
	return []string{
		h.Metadata.Name, h.Spec.Server, h.Spec.Key, h.Spec.Owner, string(h.Spec.Mode), string(h.Status.State), readCell(h.Status.ReadAt, h.Status.Stale, now), age(h.Metadata.CreatedAt, now), h.Spec.Reason,
		h.Spec.Ref, ttl, stamp(h.Status.EnforcedAt), since, h.Status.Message,
	}
}

// readCell is the age of the last recorded read.
func readCell(at *time.Time, stale bool, now time.Time) string {
	text := age(at, now)
	if stale {
		text = strings.TrimSpace(text + " stale")
	}
	return text
}

func serverCells(s *resource.Server, now time.Time) []string {
	var power, attempt, intended, observed, read, since string
	holds := 0
	if r := s.Status.Report; r != nil {
		power, read = string(r.Observation.Power), age(&r.Observation.ReadAt, now)
		if at := s.Status.ReadAt; at != nil { // by the hub's clock
			read = readCell(at, s.Status.Stale, now)
		}
		since = stamp(r.StoppedSince)
		if t := r.Attempt; t != nil {
			attempt = fmt.Sprintf("%s#%d", t.State, t.Number)
			intended, observed = string(t.Intended), string(t.Observed)
		}
		for _, h := range r.Holds {
			if h.Word != resource.HoldReleased {
				holds++
			}
		}
	}
	return []string{
		s.Metadata.Name, string(s.Status.Phase), power, attempt, intended, observed, s.Status.Claim,
		strconv.Itoa(holds), conditionCodes(s.Status.Conditions, now), read,
		s.Spec.BMCRef.Name, s.Spec.SegmentRef.Name, s.Spec.BootMAC, since,
		string(s.Status.SafeStop), string(s.Status.Detection), s.Status.BootEnv, s.Status.OS, hardware(s.Status.Discovered),
	}
}

func claimCells(c *resource.Claim, now time.Time) []string {
	phase := string(c.Status.Phase)
	if c.Metadata.DeletedAt != nil && phase == "" {
		phase = string(resource.PhaseReleasing)
	}
	return []string{
		c.Metadata.Name, phase, c.Status.Server, string(c.Spec.Power), bootSource(c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv),
		conditionCodes(c.Status.Conditions, now), age(c.Metadata.CreatedAt, now),
		string(c.Spec.BootPolicy.FirstBoot), c.Metadata.UID,
	}
}

// age is how long ago something was, in one or two units.
func age(t *time.Time, now time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	d := now.Sub(*t).Round(time.Second)
	switch {
	case d < 0:
		return "0s" // the clocks differ
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func stamp(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
