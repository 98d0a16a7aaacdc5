package decide

// Login is what came of trying an account at a BMC: a fresh login, then a read of a
// system.
type Login string

// The outcomes of a login.
const (
	LoginUntried     Login = ""            // not since the last write
	LoginOK          Login = "ok"          // it reads power and sees the reset action
	LoginLimited     Login = "limited"     // it logs in, and may not read or reset; or must change its password first
	LoginDenied      Login = "denied"      // refused
	LoginUnreachable Login = "unreachable" // no answer, or none that says anything
)

// AccountPhase is how far the change of an account has come on the agent's disk.
type AccountPhase string

// The phases.
const (
	AccountNew     AccountPhase = ""        // nothing was sent
	AccountWriting AccountPhase = "writing" // it may have been sent: recorded before it is
	AccountProved  AccountPhase = "proved"  // next was proved; what becomes of the old user is due
	AccountRotated AccountPhase = "rotated" // next is the account
	AccountKept    AccountPhase = "kept"    // current is the account, and next was given up
	AccountLost    AccountPhase = "lost"    // neither logs in
)

// AccountWrite is what the BMC said to the write of next.
type AccountWrite string

// The answers to a write.
const (
	WriteUnknown  AccountWrite = ""         // none, or the agent was started again since
	WriteAccepted AccountWrite = "accepted" // which some BMCs say and then keep the old one
	WriteRefused  AccountWrite = "refused"
)

// accountWrites lists the answers.
var accountWrites = []AccountWrite{WriteUnknown, WriteAccepted, WriteRefused}

// AccountFacts is what the next step of a change depends on.
type AccountFacts struct {
	Phase AccountPhase
	// Busy: a hold lies on a server behind the BMC, or one is being booted. Nothing new
	// is begun then.
	Busy          bool
	Written       AccountWrite
	Current, Next Login
	// Spent: next was tried as often, and for as long, as it may be.
	Spent bool
	// Again: next was tried once more after current was denied.
	Again bool
}

// AccountStep is what to do next.
type AccountStep string

// The steps.
const (
	AccountWait       AccountStep = "wait"        // look again later, with the facts of Later
	AccountTryCurrent AccountStep = "try-current" // log in with the account in use
	AccountTryNext    AccountStep = "try-next"    // log in with the next
	AccountWriteNext  AccountStep = "write-next"  // record it, then write next with current
	AccountNoteProved AccountStep = "note-proved" // record that next was proved
	AccountDropOld    AccountStep = "drop-old"    // what becomes of the old user, then record the end
	AccountNoteKept   AccountStep = "note-kept"   // record that current stays
	AccountNoteLost   AccountStep = "note-lost"   // record that neither logs in
	AccountDone       AccountStep = "done"        // report it; nothing is tried
)

// ChangeAccount decides how the change of an account goes on. The old one is given up
// only after a fresh login of the next and a read with sufficient rights. After a denied
// next comes current, whose login ends the BMC's count of failures. Where current is
// denied after it, the write may have come into force between the two: next is tried
// once more, and what both were denied then is not tried again, so that no account is
// locked by it. The first row that fits decides.
//
//	phase               | busy | written  | next        | current     | spent | again | step
//	rotated             | *    | *        | *           | *           | *     | *     | done
//	kept                | *    | *        | *           | *           | *     | *     | done
//	lost                | *    | *        | *           | *           | *     | *     | done
//	proved              | *    | *        | *           | *           | *     | *     | drop-old
//	*                   | *    | *        | ok          | *           | *     | *     | note-proved
//	*                   | *    | *        | unreachable | *           | *     | *     | wait
//	*                   | *    | *        | *           | unreachable | *     | *     | wait
//	new                 | yes  | *        | *           | *           | *     | *     | wait
//	new                 | *    | *        | untried     | untried     | *     | *     | try-current
//	new                 | *    | *        | *           | ok          | *     | *     | write-next
//	new                 | *    | *        | *           | limited     | *     | *     | write-next
//	new                 | *    | *        | untried     | denied      | *     | *     | try-next
//	writing             | *    | refused  | untried     | untried     | *     | *     | try-current
//	writing             | *    | refused  | untried     | denied      | *     | *     | try-next
//	writing             | *    | refused  | *           | ok          | *     | *     | note-kept
//	writing             | *    | refused  | *           | limited     | *     | *     | note-kept
//	writing             | *    | *        | untried     | *           | *     | *     | try-next
//	*                   | *    | *        | *           | untried     | *     | *     | try-current
//	*                   | *    | *        | limited     | denied      | *     | *     | note-proved
//	*                   | *    | *        | limited     | *           | *     | *     | note-kept
//	writing             | *    | *        | denied      | denied      | *     | no    | try-next
//	*                   | *    | *        | denied      | denied      | *     | *     | note-lost
//	*                   | *    | *        | *           | *           | no    | *     | wait
//	*                   | *    | *        | *           | *           | yes   | *     | note-kept
func ChangeAccount(f AccountFacts) AccountStep {
	stands := f.Current == LoginOK || f.Current == LoginLimited
	fresh, refused := f.Phase == AccountNew, f.Phase == AccountWriting && f.Written == WriteRefused
	switch {
	case f.Phase == AccountRotated, f.Phase == AccountKept, f.Phase == AccountLost:
		return AccountDone
	case f.Phase == AccountProved:
		return AccountDropOld
	case f.Next == LoginOK:
		return AccountNoteProved
	case f.Next == LoginUnreachable, f.Current == LoginUnreachable, fresh && f.Busy:
		return AccountWait
	case (fresh || refused) && f.Next == LoginUntried && f.Current == LoginUntried:
		return AccountTryCurrent
	case fresh && stands:
		return AccountWriteNext
	case refused && stands:
		return AccountNoteKept
	case f.Next == LoginUntried:
		return AccountTryNext
	case f.Current == LoginUntried:
		return AccountTryCurrent
	case f.Next == LoginLimited && f.Current == LoginDenied:
		return AccountNoteProved // the old one is gone already
	case f.Next == LoginLimited, f.Next == LoginDenied && stands && f.Spent:
		return AccountNoteKept
	case f.Next == LoginDenied && f.Current == LoginDenied && f.Phase == AccountWriting && !f.Again:
		return AccountTryNext
	case f.Next == LoginDenied && f.Current == LoginDenied:
		return AccountNoteLost
	}
	return AccountWait
}

// Later are the facts after a wait: what did not answer is tried again. Where both did,
// both are; but a login that was refused is not repeated before another one succeeded.
func (f AccountFacts) Later() AccountFacts {
	f.Again = false
	current, next := f.Current == LoginUnreachable, f.Next == LoginUnreachable
	if current || !next {
		f.Current = LoginUntried
	}
	if next || !current {
		f.Next = LoginUntried
	}
	return f
}
