// Package intake takes in what agents say, and hands it to a few workers: nobody waits behind
// somebody else's flood.
//
// What an agent says waits in a line of its own, in one of four lanes, each of which has its own
// four workers:
//
//	lane     | of                        | a line has | a turn is
//	first    | Hello, Applied            | 256        | the oldest message
//	reports  | Report                    | 32         | all, the newest first
//	events   | EventBatch                | 16         | all, the newest first
//	rest     | Answer, what nobody knows | 32         | the oldest message
//
// Within a lane the agents come in turn, and what one of them said comes in the order in which it
// came, one at a time. Between lanes there is no order: an acknowledgement may overtake a report,
// as on any broker.
//
// A Report tells all of its shard, or all that has changed since one that the hub said it has, and an EventBatch
// begins with the first event that was not acknowledged: one that was taken makes the older ones worthless, and
// those are not even opened.
//
// A line that is full, or a lane, loses its oldest message, and a lane that of the longest line.
// Nothing is lost for good: documents are sent again until they are acknowledged, events and
// Hellos until they are answered, questions until an answer comes, and reports come every 15 s.
package intake
