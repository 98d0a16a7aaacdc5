package main

import "time"

// plan is what is measured.
type plan struct {
	Servers int     // that are held
	Holds   int     // for each load
	Rate    float64 // of holds, each second
	Settle  time.Duration
	OffMin  time.Duration // from an accepted ForceOff until Off is shown
	OffMax  time.Duration

	Boots    int   // servers that boot from the network
	BootRate int   // bytes per second of each
	Small    int   // the boot file is divided by two as often
	Pull     int64 // bytes
	Images   int   // that these are
	Others   int   // other racks

	Only    string // one load besides none; empty is all
	Profile string // folder for CPU profiles; empty is none
}
