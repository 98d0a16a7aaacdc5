package redfish

// howMany systems are of a kind.
type howMany string

const (
	hasNone howMany = "none"
	hasOne  howMany = "one"
	hasMany howMany = "many"
)

func countOfAll(systems []*system) howMany {
	switch len(systems) {
	case 0:
		return hasNone
	case 1:
		return hasOne
	}
	return hasMany
}

// unreadTime is for how long a system cannot be read that may be the host.
type unreadTime string

const (
	unreadNone  unreadTime = "none"
	unreadShort unreadTime = "short"
	unreadLong  unreadTime = "long"
)

// choice is which system of a BMC is the host, where nobody said it.
type choice string

const (
	chooseFits      choice = "fits"
	chooseOpen      choice = "open"
	chooseOther     choice = "other" // a board was changed: whoever reads its identity says so
	chooseWait      choice = "wait"
	chooseNone      choice = "none"
	chooseAmbiguous choice = "ambiguous"
)

// chooseRule says so by how many hosts show the UUID or serial number that the system is known by,
// say nothing of it, or show another; and for how long one is unread that may be the host. The
// first row that fits decides.
//
//	fits | open | other | unread | choice
//	one  | *    | *     | *      | fits
//	many | *    | *     | *      | ambiguous
//	*    | many | *     | *      | ambiguous
//	*    | one  | *     | short  | wait
//	*    | one  | *     | *      | open
//	*    | *    | *     | short  | wait
//	*    | *    | *     | long   | wait
//	*    | *    | none  | *      | none
//	*    | *    | one   | *      | other
//	*    | *    | *     | *      | ambiguous
func chooseRule(fits, open, other howMany, unread unreadTime) choice {
	switch {
	case fits == hasOne:
		return chooseFits
	case fits == hasMany, open == hasMany:
		return chooseAmbiguous
	case open == hasOne && unread != unreadShort:
		return chooseOpen
	case unread != unreadNone:
		return chooseWait
	case other == hasNone:
		return chooseNone
	case other == hasOne:
		return chooseOther
	}
	return chooseAmbiguous
}
