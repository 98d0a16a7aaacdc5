// Package badger implements [rackboot/state.Store], the agent's store, on
// Badger with fsynced writes and small memory settings.
//
// # Transactions
//
// Writing transactions run one after the other under one lock. Badger's own
// conflict detection sees keys that were read, but not keys that appear in a
// range that was scanned; two transactions that each scan for a hold and then
// write would both commit. The lock makes that impossible and costs little,
// because a commit is one fsync either way. Batch is the way to share it: one
// goroutine runs the functions of all waiting callers in one transaction.
// Readers never wait.
//
// # Limits
//
// A key is 1 to [MaxKey] bytes, a value 0 to [MaxValue] bytes. All writes of a
// transaction together stay below some 600 KiB. Values never go to Badger's
// value log, whose fsync errors Badger only logs.
//
// # Full disk
//
// Badger writes through mappings of sparse files, and a page that the disk has
// no room for ends the process with SIGBUS. So every write first asks the file
// system, and is refused as unavailable while less than [Config.MinFree] is
// left. When space is back, writes work again without a restart.
//
// # Keys
//
//	meta/schema   the schema version of the directory, decimal; not visible
//	              through a Txn, and not writable
//
// All other keys belong to the caller.
package badger
