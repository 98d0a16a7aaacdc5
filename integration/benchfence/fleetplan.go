package main

import "time"

// fleetPlan is what the simulator's process makes.
type fleetPlan struct {
	Held, Boot, Pull int
	// A ForceOff takes from OffMin to OffMax, by server, until Off is shown.
	OffMin, OffMax time.Duration
	DHCP           string // where firmware's packets go
	Rate           int    // bytes per second that a booted server reads
}

// server is one simulated server, as its parent sees it.
type server struct {
	Name, Group, MAC, Address, Fingerprint string
}

// cut is the BMC's own part of a hold.
type cut struct{ Forced, Off time.Time }
