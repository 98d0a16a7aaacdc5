// Package dispatch makes the documents of agents: it records to which database of an agent each grant goes, and
// then enters the documents of its rack in its ledger, from where the link sends them.
//
// Nothing is sent that is not stored: the incarnation first, then the document with its version.
package dispatch
