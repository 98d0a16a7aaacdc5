// Package backup makes backups of a running hub: for who asks, and by itself at intervals.
//
// # What is copied, and in which order
//
//	1  the stream of resources and all else that the hub knows
//	2  the stream of events
//	3  the audit log
//	4  keys, and what people were given of them
//	5  with files: uploaded files, and images of the hub's registry
//
// Each is as it was at one moment, and none of them at the moment of the one before. Together they are
// what a crash could have left, because the hub writes in this order too, the other way round: an entry
// of the audit log is on disk before its head is kept in the store, and an event before the store says
// that it was filed. So what is copied later has all that was said of it in what was copied earlier, and
// perhaps more. Keys change while no hub runs only. What has content elsewhere may name content that is
// gone from there, as after a crash.
//
// What was acknowledged before a backup began is in it.
package backup
