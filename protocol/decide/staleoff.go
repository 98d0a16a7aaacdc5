package decide

// offRule says what a read of Off tells an attempt that has sent On: off, or nothing
// (other). seen is that firmware was seen to run, by its own request or by an override
// that is gone; begun is whether the read was begun before that or after. The first row
// that fits decides.
//
//	seen | begun  | armed | effect | answer
//	yes  | before | *     | *      | other
//	no   | *      | ours  | *      | off
//	*    | *      | *     | due    | other
//	*    | *      | *     | over   | off
//
// A BMC may show Off for a while after it powered a server on (beskar7 203; OpenStack
// ironic waits 15 s), while On may still show its effect. An override that is armed says
// that firmware has not run: then On was dropped, and is sent again. It says so no longer
// once firmware itself asked for its boot file: the read is older than what it did.
func offRule(seen, before bool, has armed, due bool) running {
	switch {
	case seen && before:
		return isOther
	case !seen && has == armedOurs:
		return isOff
	case due:
		return isOther
	}
	return isOff
}
