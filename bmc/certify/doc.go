// Package certify tries a machine and its BMC with the orders that Rackboot gives, and says which of
// them did what they said: a user's own machine, before it is trusted with a fence.
//
// It gives orders in cycles for as long as it is asked: it reads, arms and disarms boot overrides, asks
// the system to stop, forces it off, reads Off for a settle window, powers it on, and forces it off
// while firmware starts. Each order is judged by what is read afterwards, never by its answer. At the
// end, also after a failure or an interruption, overrides are disarmed, the power restore policy is put
// back, and the machine is in the power state in which it was found.
//
// Nobody else may power the machine on or off meanwhile: what somebody else does is taken for a fault of
// the BMC. Virtual media and boots from the network are not tried: they need a segment and an agent.
package certify
