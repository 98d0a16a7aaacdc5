// Package hubs decides which of several hubs works what. It knows no store, no clock and no network.
//
// Hubs on one store share the work by units: each rack is one, and the site, which is what concerns several racks. Who
// owns a unit stands in the unit's record, with a fence that rises whenever it goes to another hub, and only there: a
// hub takes a unit by compare-and-set, and all that it writes for the unit expects that record. So two hubs that each
// hold the other one for dead, or a hub that was stopped for an hour and goes on, can cost time and nothing else.
//
// Who should own a unit follows from who is alive ([First]), and who is alive from beats ([Judge]): numbers that each
// hub writes into the store once a second. No hub trusts another one's clock, nor a time that stands in the store.
package hubs
