// Package events files what happened: events for people, in the store's log, and of those that change
// something an entry in the audit log, which comes first.
//
// A [Log] keeps the newest events in memory for printing. It knows of each stored hold what was filed of
// it, so that a hold's acceptance and release are audited once each, from what is stored, also where
// the call that made them died.
package events
