package resource

import "rackboot/protocol"

// HoldLimit is what keeps a hold from being forced, or from lasting through a loss of mains power, as far
// as the server's BMC says.
type HoldLimit string

// The limits.
const (
	LimitNoForceOff HoldLimit = "NoForceOff" // a server that does not shut down by itself stays On
	LimitNoStop     HoldLimit = "NoStop"     // nor can it be asked to
	// LimitRestoreKept is of a server that keeps its power restore policy, which may power it on.
	LimitRestoreKept HoldLimit = "PowerRestoreKept"
)

// holdLimits are what people read, with what the hold can prove all the same.
var holdLimits = []struct {
	limit HoldLimit
	words string
}{
	{LimitNoForceOff, "the BMC offers no ForceOff: the system is asked to shut down, and is proved off if it does; if it does not, cut its power"},
	{LimitNoStop, "the BMC offers neither ForceOff nor GracefulShutdown: nothing stops the server, and it is proved off only once somebody does"},
	{LimitRestoreKept, "the Server keeps its power restore policy: when mains power returns it may come on, and is then forced off; that it stays off is not proved of a time in which its agent does not run"},
}

// HoldLimits lists the limits.
func HoldLimits() (out []HoldLimit) {
	for _, l := range holdLimits {
		out = append(out, l.limit)
	}
	return out
}

// Words is the limit for people; empty for none.
func (l HoldLimit) Words() string {
	for _, h := range holdLimits {
		if h.limit == l {
			return h.words
		}
	}
	return string(l)
}

// LimitOf says what keeps a hold on a server from being forced, by what its BMC offers, or from lasting
// through a loss of mains power. keeps says that the Server keeps its power restore policy. The first row that fits decides.
//
//	ForceOff | GracefulShutdown | keeps | limit
//	no       | no               | *     | NoStop
//	no       | *                | *     | NoForceOff
//	*        | *                | yes   | PowerRestoreKept
//	*        | *                | *     | nothing
//
// What a BMC does not say is tried. Which policy a server keeps does not count: anybody may change it, and
// it is read seldom.
func LimitOf(o protocol.Offers, keeps bool) HoldLimit {
	switch {
	case o.ForceOff == protocol.OfferedNo && o.GracefulShutdown == protocol.OfferedNo:
		return LimitNoStop
	case o.ForceOff == protocol.OfferedNo:
		return LimitNoForceOff
	case keeps:
		return LimitRestoreKept
	}
	return ""
}
