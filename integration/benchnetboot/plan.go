package main

import "time"

// plan is what is measured.
type plan struct {
	only    string
	period  time.Duration // of one run of perfdhcp
	maxRate int           // no rate above is tried
	clients int           // of HTTP
	size    int64         // of the HTTP file
	tftp    int64         // size of the TFTP file
	rounds  int           // of each part; the median counts
	// Of the storm: how many servers boot at once, the size of what they load by TFTP, and
	// which fields, all if empty.
	storm     int
	stormTFTP int64
	stormSize int64 // by HTTP
	field     string
}
