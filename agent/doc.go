// Package agent is the shell around package decide: one loop per server that
// observes, decides, persists, acts and reports, strictly in that order, and the
// boot servers that answer from the same state. It has no branch on policy.
//
// Goroutines, all ended by the context given to Run:
//
//	server loop      one per server; owns the server's BMC driver
//	link             one MQTT connection; hands messages to Receive
//	greeter          says Hello when it is due, and looks at the hub's time and freshness; see agent/link
//	reports          reports by shard, debounced and bounded, and event batches; see agent/reports
//	files            bring what servers boot from; see agent/files
//	dhcp, http, tftp one server of each per local segment; see agent/boot
package agent
