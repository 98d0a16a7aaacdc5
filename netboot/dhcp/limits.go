package dhcp

// workerCount is how many packets are in work at once. Workers wait for the
// lease store, and their writes share one fsync: more of them, larger batches. A
// slow fsync must leave some for those who only want an offer; 64 do not, with
// 2,500 exchanges a second on a busy disk.
const workerCount = 256
