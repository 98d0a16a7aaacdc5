package decide

import (
	"fmt"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// grantKey is the key of a grant's use.
func grantKey(b *message.BootIntent) string {
	return provisionKey(b.Owner.UID, b.Generation)
}

func provisionKey(uid string, generation uint64) string { return fmt.Sprintf("%s/%d", uid, generation) }

// provisioned says whether the configuration's first boot has ended well: by
// the agent's own record, or the hub's verified echo of one.
func provisioned(b *message.BootIntent, r *Record, echo *resource.Provisioned) bool {
	return r.ProvisionedFor(b.Owner.UID, b.Generation) != nil ||
		echo != nil && echo.OwnerUID == b.Owner.UID && echo.Generation == b.Generation
}

// grantFits says why a grant does not permit the intent's first boot; empty if
// it does.
func grantFits(g *message.Grant, in *message.ServerIntent) string {
	b := in.Boot
	switch {
	case g.ServerUID != in.UID || g.Server != in.Server:
		return "the grant is for server " + g.Server
	case g.OwnerUID != b.Owner.UID || g.Generation != b.Generation:
		return "the grant is for another claim or generation"
	case g.Purpose.Or() != b.Owner.Kind.Or():
		return "the grant is for a " + string(g.Purpose.Or())
	case g.Repeat != always(b):
		return "the grant repeats or is for one boot, and the boot policy says otherwise"
	case g.ImageDigest != b.Image.Digest:
		return "the grant is for image " + g.ImageDigest
	case g.MaxAttempts < 1:
		return "the grant allows no attempt"
	case g.FirstBoot != b.BootPolicy.FirstBoot:
		return "the grant is for first boot " + string(g.FirstBoot)
	case g.Network != b.BootPolicy.Network:
		return "the grant is for one network boot method or for either, and the boot policy says otherwise"
	}
	return ""
}

func (r *Record) spend(why string) {
	key := provisionKey(r.Attempt.Order.OwnerUID, r.Attempt.Order.Generation)
	use := r.Owners.Used[key]
	switch {
	case r.Attempt.forDiscovery():
		return // its attempts are counted, whatever they fetched
	case r.Attempt.Order.Repeat:
		r.ran()
		return
	}
	use.Spent, use.Reason = true, why
	r.Owners.use(key, use)
}

// giveBack takes back one use of the grant of the record's attempt, which armed nothing. An approval
// that let it through counts for the next. A discovery has to come to an end: its attempts are counted.
func (r *Record) giveBack() {
	key := provisionKey(r.Attempt.Order.OwnerUID, r.Attempt.Order.Generation)
	if use, ok := r.Owners.Used[key]; ok && use.Attempts > 0 && !r.Attempt.forDiscovery() {
		use.Attempts--
		r.Owners.use(key, use)
	}
}

// ran notes that the files of the record's attempt were fetched, for a grant that
// repeats.
func (r *Record) ran() {
	key := provisionKey(r.Attempt.Order.OwnerUID, r.Attempt.Order.Generation)
	if use, ok := r.Owners.Used[key]; ok && r.Attempt.Order.Repeat {
		use.Ran, use.Attempts, use.Cleared = true, 0, ClearedBoot{}
		r.Owners.use(key, use)
	}
}

// accepting says whether an attempt may take evidence with a token.
func accepting(a *Attempt, token string) bool {
	return a.knows(token) && slices.Contains([]resource.AttemptState{
		resource.AttemptPowerRequested, resource.AttemptConsumed, resource.AttemptFetched,
	}, a.Stage.State)
}

// MayFetch says whether a file of the attempt may be sent now.
func MayFetch(held, missing bool, a *Attempt, token, file string) bool {
	return !held && !missing && accepting(a, token) && a.Network() && !a.bootsAgain(file)
}

// bootsAgain says whether who asks for the file is firmware at the next boot: the URL that its
// BMC has goes on to the installer once, and then the BMC keeps both it and the override
// (CoercedContinuous). Those that are told their URL by DHCP Serve refuses already.
func (a *Attempt) bootsAgain(file string) bool {
	return a.ByURL() && file == a.Order.File && a.Stage.State == resource.AttemptFetched && a.Stage.Arming.Outcome == protocol.BootCoercedContinuous
}
