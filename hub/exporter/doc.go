// Package exporter is what Prometheus sees of the fleet at the hub: how servers, racks, claims and holds stand, and
// what became of boots.
//
// What a server's row says is what `rackctl get servers` says. Rows are kept, and made anew for a rack of which
// something was written or heard, and each minute in any case, because rooms find conditions that nobody writes. What
// time alone changes, how old a read is and whether an agent is silent, is judged at each scrape. Stale is stale: the
// power of a server whose read is too old is Unknown.
//
// Series of single servers and claims can be switched off; those of racks and of the hub are always there.
package exporter
