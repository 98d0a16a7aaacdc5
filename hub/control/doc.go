// Package control is the shell around package plan: it watches the store, binds
// claims, resolves their images once, gives grants, and sees to it that every
// agent has the newest documents. It files what agents sign, asks them what is
// behind their BMCs, and answers what the API prints of them. It has no branch on policy.
//
// Goroutines, all ended by the context given to Run:
//
//	reconcile   one pass after any change; sends and sends again; says what is so
//	images      one resolution at a time
//
// Receive is called by the link, from one goroutine.
package control
