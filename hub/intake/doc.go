// Package intake takes in what agents say, and hands it to a few workers: nobody waits behind
// somebody else's flood.
//
// What an agent says waits in a line of its own, in one of three lanes, each of which has its own
// workers:
//
//	lane     | of                 | workers | a line has | handed over
//	first    | Hello, Applied     | 4       | 256        | one by one
//	reports  | Report             | 4       | 32         | all, the newest first
//	rest     | all else           | 4       | 16         | one by one
//
// Within a lane the agents come in turn, and what one of them said comes in the order in which it
// came, one at a time. Between lanes there is no order: an acknowledgement may overtake a report,
// as on any broker.
//
// A Report is whole, never a patch. One that was taken makes older ones of the same servers
// worthless, and those are not even opened.
//
// A line that is full, or a lane, loses its oldest message, and a lane that of the longest line.
// Nothing is lost for good: documents are sent again until they are acknowledged, events and
// Hellos until they are answered, questions until an answer comes, and reports come every 15 s.
package intake
