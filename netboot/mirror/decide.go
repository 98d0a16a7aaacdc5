package mirror

// kept is what the cache has of a file.
type kept string

const (
	keptFresh kept = "fresh"
	keptStale kept = "stale"
	keptNone  kept = "none"
)

// step is what an open does first.
type step string

const (
	stepServe  step = "serve"  // what is kept
	stepStale  step = "stale"  // what is kept, said to be stale
	stepAbsent step = "absent" // it is known not to exist
	stepAsk    step = "ask"
)

// first decides what an open does. absent: the name was absent a moment ago; resting: the
// other side failed a moment ago. A file that is not here is asked for even then: an
// error would be all else that there is.
//
//	kept  | absent | resting | step
//	fresh | *      | *       | serve
//	*     | yes    | *       | absent
//	stale | no     | yes     | stale
//	*     | no     | *       | ask
//
// The first row that fits decides.
func first(has kept, absent, resting bool) step {
	switch {
	case has == keptFresh:
		return stepServe
	case absent:
		return stepAbsent
	case has == keptStale && resting:
		return stepStale
	}
	return stepAsk
}

// answer is what the other side said.
type answer string

const (
	answerWhole   answer = "whole"   // 200 with a body
	answerSame    answer = "same"    // 304
	answerAbsent  answer = "absent"  // 404, 410
	answerFolder  answer = "folder"  // a redirect to the same with a slash
	answerDenied  answer = "denied"  // 403: of this file, not of the tree
	answerTrouble answer = "trouble" // none, 5xx, 401, 429, or one that makes no sense
	answerLocal   answer = "local"   // none, because of us: no place in the queue, no disk
)

var answers = []answer{answerWhole, answerSame, answerAbsent, answerFolder, answerDenied, answerTrouble, answerLocal}

// outcome is what becomes of a question.
type outcome string

const (
	outcomeTake   outcome = "take"   // the body is the file
	outcomeRenew  outcome = "renew"  // what is kept was checked
	outcomeStale  outcome = "stale"  // what is kept is given all the same
	outcomeAbsent outcome = "absent" // what is kept is forgotten
	outcomeFolder outcome = "folder"
	outcomeFail   outcome = "fail"
)

// judge decides what becomes of an answer. Only an answer that the file is not there
// takes away what is kept: boots go on while the other side fails (RFC 9111 section
// 4.2.4, RFC 5861 section 4).
//
//	answer  | kept | outcome
//	whole   | *    | take
//	same    | yes  | renew
//	same    | no   | fail
//	absent  | *    | absent
//	folder  | *    | folder
//	denied  | yes  | stale
//	denied  | no   | fail
//	trouble | yes  | stale
//	trouble | no   | fail
//	local   | yes  | stale
//	local   | no   | fail
//
// The first row that fits decides.
func judge(a answer, has bool) outcome {
	switch a {
	case answerWhole:
		return outcomeTake
	case answerAbsent:
		return outcomeAbsent
	case answerFolder:
		return outcomeFolder
	case answerSame:
		if has {
			return outcomeRenew
		}
	case answerDenied, answerTrouble, answerLocal:
		if has {
			return outcomeStale
		}
	}
	return outcomeFail
}

// flushing is what becomes of a flush of a tree's files.
type flushing string

const (
	flushDrop   flushing = "drop"
	flushRefuse flushing = "refuse"
)

// mayFlush decides whether files of a tree are dropped. Those of a tree that does not answer
// are all that boots have of it.
//
//	files | answers | force | flushing
//	no    | *       | *     | drop
//	*     | yes     | *     | drop
//	*     | *       | yes   | drop
//	*     | *       | *     | refuse
//
// The first row that fits decides.
func mayFlush(files, alive, force bool) flushing {
	if !files || alive || force {
		return flushDrop
	}
	return flushRefuse
}

// verdict is what a redirect is.
type verdict string

const (
	verdictFollow verdict = "follow"
	verdictFolder verdict = "folder"
	verdictRefuse verdict = "refuse"
)

// redirect decides about a redirect. folder: the target is the same with a slash; user:
// it names a user; host: own, listed in the base, or other.
//
//	folder | from  | to    | user | host   | verdict
//	yes    | *     | *     | no   | own    | folder
//	yes    | *     | *     | no   | listed | folder
//	*      | *     | *     | yes  | *      | refuse
//	*      | https | http  | *    | *      | refuse
//	*      | *     | other | *    | *      | refuse
//	*      | *     | *     | *    | other  | refuse
//	*      | *     | *     | *    | *      | follow
//
// The first row that fits decides.
func redirect(folder bool, from, to string, user bool, host string) verdict {
	switch {
	case folder && !user && host != hostOther:
		return verdictFolder
	case user, from == "https" && to == "http", to != "http" && to != "https", host == hostOther:
		return verdictRefuse
	}
	return verdictFollow
}

// Hosts of redirects.
const (
	hostOwn    = "own"
	hostListed = "listed"
	hostOther  = "other"
)
