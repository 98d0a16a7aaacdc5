// Package cures tests that each fault which the simulated BMC can have is named by the agent, with the
// BMC's own words, and that its hint helps: done to the BMC, it ends the fault.
//
// The real agent and the real driver speak with bmc/sim in a bubble. There is no boot server: a boot has
// begun as it should when the machine came on with the override that was ordered. Accounts and virtual
// media are tried with the driver alone: what an agent does with them needs a hub and files
// (integration/site, integration/rack). What events do is in bmc/redfish.
package cures
