// Package approvals asks people for what a rack's agent, or the hub's policy, does not do without them: many stops
// at once, releases of other people's holds, installations over a system, wipes, settings of firmware.
//
// A rack's turn makes the wishes that are needed; people grant, sign or deny them; an approval travels with the
// hold document, and the agent judges it again.
package approvals
