// Package rack tests one agent against simulated servers, with real Redfish, DHCP
// and HTTP on loopback and documents signed as by a hub.
package rack
