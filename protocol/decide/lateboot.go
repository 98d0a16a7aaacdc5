package decide

import "rackboot/protocol/resource"

// lateRule says whether firmware took an override after all, when it had been given up
// on because it did not in time. The first row that fits decides.
//
//	network | code            | power | armed | took it
//	no      | OverrideIgnored | on    | none  | yes
//	*       | *               | *     | *     | no
//
// Memory training, a check of all disks or a setup that waits for a key takes as long as
// it takes; and an agent whose disk was rolled back reads an attempt of long ago while
// firmware starts by a later one. The server then runs from its disk as was ordered, and
// nothing is wrong with it. A network boot that is given up stays so: nobody serves it.
func lateRule(network bool, code resource.AttemptCode, power running, has armed) bool {
	return !network && code == resource.AttemptOverrideIgnored && power == isOn && has == armedNone
}
