package dhcp6

// workerCount is how many messages of each lane of the queue are in work at once, all but one of which wait for the
// lease store, whose writes share one fsync, so that more of them are larger batches.
const workerCount = 64
