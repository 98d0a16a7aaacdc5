// Package fair shares a few places among many, none of whom is trusted to ask for little.
//
// Whoever has fewer places than are free gets one more. So one alone gets half of them, two a third each, and whoever
// comes first always finds one that the greedy did not get (a dynamic threshold, as switches share the memory of their
// queues; Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998). Those who wait come in turn, one of
// each.
package fair
