// Package daemon puts a hub together from its file and its folder: keys, broker,
// store, control, API, the link to the agents and the metrics page.
//
//	<dataDir>/pki/     the hub's keys and the first administrator's token
//	<dataDir>/ca.pem   the authority's certificate, for rackctl and agents
//	<dataDir>/store/   JetStream
package daemon
