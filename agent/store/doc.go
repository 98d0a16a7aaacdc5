// Package store keeps what an agent must not forget, over a transactional
// state.Store. Everything that belongs together is written in one transaction,
// which is on disk before anything is sent or acknowledged. What may grow with the rack is
// written in several, each complete in itself: see updateInParts. Writers that wait for the disk
// share a transaction: see update.
//
//	key                        value
//	meta/incarnation           random id made with the database, or by a renewal
//	meta/term                  highest fence term seen
//	meta/fence                 highest fence followed
//	meta/hub-head              the hub's sealed word on its store that was told last
//	meta/replaced              another agent serves the rack
//	meta/standby               the agent stands by, as it joined or as the hold document says
//	meta/acked                 number of the last event that was acknowledged
//	meta/event                 number of the last event
//	meta/loaders               boot loaders in use, by digest
//	meta/probe                 when somebody last asked whether this can be written
//	meta/head                  what all of this comes to; see Head
//	meta/began                 that before the start since which no hub has answered
//	meta/began-head            the head then
//	doc/hold, doc/rack/<n>     head and digest of the document in force
//	rack                       the rack's settings, and the segments in force
//	segments                   the segments last in force with the hub in contact; since
//	                           when others are tried, and which were rolled back
//	intent/<server>            the server's intent, its shard, and whether a newer
//	                           document left it out
//	hold/<server>/<id>         an enforced hold
//	released/<id>              a hold that ended here, until the hub has heard of it
//	request/<server>/<id>      a one-shot that the hub still sends
//	record/<server>            decide.Record
//	image/<server>             what the server's image reported last, with its inventory
//	tpm/<server>               whose TPM was enrolled, and its keys
//	trace/<server>/<serial>    what was seen of a power-on, as far as it was flushed
//	secret/<BMC>               an account, encrypted; see package agent/secret
//	session/<BMC>/<account>    a session at a BMC, until it was ended; see Sessions
//	lease/<segment>/<address>  a DHCP binding
//	lease6/<segment>/<address> a DHCPv6 binding
//	event/<seq>                an event that the hub has not acknowledged, or the
//	                           record of lost ones, under the last one's number
package store
