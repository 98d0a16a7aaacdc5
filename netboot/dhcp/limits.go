package dhcp

// workerCount is how many packets of each lane of the queue are in work at once, all but one of which wait: for an ARP
// probe, or for a write other than that of a granted lease, which [leasing.Writer] has.
const workerCount = 256
