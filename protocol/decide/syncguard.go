package decide

// SyncGuarding is what an agent in guard mode makes of a Sync: it has no store to follow a hub in, or
// to take a new incarnation in. asks says whether the Sync asks for a Hello.
//
//	action  | asks | guarding
//	renew   | *    | again
//	again   | yes  | again
//	again   | no   | heed
//	stop    | *    | stop
//	ignore  | *    | ignore
//	doubt   | *    | doubt
//	rival   | *    | rival
//	*       | *    | heed
//
// An answer counts as one: the hub has told a nonce by it, and its time. What the hub's documents are
// is asked again after guard mode.
func SyncGuarding(a SyncAction, asks bool) SyncAction {
	switch a {
	case SyncRenew:
		return SyncAgain
	case SyncAgain:
		if asks {
			return SyncAgain
		}
	case SyncStop, SyncIgnore, SyncDoubt, SyncRival:
		return a
	case SyncBehind, SyncHeed, SyncLacking, SyncAnswer:
	}
	return SyncHeed
}
