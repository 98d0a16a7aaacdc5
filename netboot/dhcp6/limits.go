package dhcp6

// workerCount is how many messages are in work at once. Workers wait for the lease
// store, and their writes share one fsync: more of them, larger batches.
const workerCount = 64
