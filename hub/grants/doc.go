// Package grants makes the boot configurations of claims, maintenances and discoveries, each with the grant by
// which an agent may boot a server from the network.
//
// A configuration and its grant are one key of the store, written once. A grant names the owner, the server, the
// image and the generation; an agent uses it up.
package grants
