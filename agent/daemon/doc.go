// Package daemon puts an agent together from its local file and its folder: the
// store, the blobs, the identity that joining gave it, the BMC driver, the link
// to the hub and the metrics page.
//
//	<dataDir>/identity/   keys, certificate, hub's keys; made by Join
//	<dataDir>/state/      Badger
//	<dataDir>/guard.0, .1 the guard set: what is guarded without state/; see package guard
//	<dataDir>/loss.json   the word that the database is lost, until the agent takes it
//	<dataDir>/blobs/      boot files by sha256
//	<dataDir>/upgrade/    releases of the agent, and which one runs; see package installed
//	<dataDir>/agent.sock  the agent's own API; see package local
package daemon
