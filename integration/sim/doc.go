// Package sim puts simulated racks together: a simulated BMC, a machine behind
// it, and firmware that boots with real packets through the production servers.
// It is what rackboot-sim runs and what simulation tests use; nothing of it is in
// the daemons, and it reaches them by the network only.
package sim
