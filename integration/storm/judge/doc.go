// Package judge says whether a storm broke a promise. It believes the machines' own logs
// and what is stored, and no event or message of the product: its verdicts are functions of
// a [History], without clocks, files or network.
//
// A [Violation] names the promise, the server and the time. An [Exercise] says when a
// promise was at stake, so that a promise that nothing tested is not taken for one that was
// kept.
package judge
