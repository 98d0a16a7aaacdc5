package dhcp

// workerCount is how many packets of each lane of the queue are in work at once: those that
// wait for the lease store, whose writes share one fsync, so that more of them are larger
// batches, and those that do not.
const workerCount = 256
