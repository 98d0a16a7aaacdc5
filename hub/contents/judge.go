package contents

import "rackboot/hub/store"

// recordNone is the state of a content without a record.
const recordNone store.ContentState = "none"

// keepStep is what a hub does next that is to have a content on the servers.
type keepStep string

const (
	keepBegin keepStep = "begin" // a record of a new life, then all pieces
	keepSend  keepStep = "send"  // the pieces that are not there
	keepAnew  keepStep = "anew"  // all pieces
	keepTouch keepStep = "touch" // all is there: say that it is needed
	keepWait  keepStep = "wait"  // until it is gone
)

// stepFor judges by the record of a content, and whether that is of the bucket that there is. The first row that fits
// decides.
//
//	state   | same bucket | step
//	none    | *           | begin
//	going   | *           | wait
//	*       | no          | begin
//	coming  | yes         | send
//	damaged | yes         | anew
//	whole   | yes         | touch
func stepFor(state store.ContentState, same bool) keepStep {
	switch {
	case state == recordNone:
		return keepBegin
	case state == store.ContentGoing:
		return keepWait
	case !same:
		return keepBegin
	case state == store.ContentComing:
		return keepSend
	case state == store.ContentDamaged:
		return keepAnew
	}
	return keepTouch
}

// removeStep is what the hub that works the site does with a record.
type removeStep string

const (
	removeNot    removeStep = "keep"
	removeBegin  removeStep = "begin"  // write that it goes
	removeFinish removeStep = "finish" // remove the pieces, then the record
)

// removalOf judges a record: whether a name, a package or a document names the content, and whether that was not so, and
// nobody has touched the record, for [quietFor]. What was begun is finished: the pieces may be gone. The first row that fits decides.
//
//	state | needed | quiet | step
//	going | *      | *     | finish
//	*     | yes    | *     | keep
//	*     | no     | no    | keep
//	*     | no     | yes   | begin
func removalOf(state store.ContentState, needed, quiet bool) removeStep {
	switch {
	case state == store.ContentGoing:
		return removeFinish
	case needed || !quiet:
		return removeNot
	}
	return removeBegin
}

// work is what a hub does by itself for a content that is named.
type work string

const (
	workNone  work = "nothing"
	workFetch work = "fetch"
	workSmall work = "fetch small" // as fetch, among those that are small
	workStore work = "store"
)

// workFor judges by whether the content is in the hub's folder, what the servers have, and whether nobody has touched the
// record lately: who puts it there does so all the time. The first row that fits decides.
//
//	here | on the servers | quiet | work
//	yes  | whole          | *     | nothing
//	yes  | coming         | no    | nothing
//	yes  | going          | *     | nothing
//	yes  | *              | *     | store
//	no   | whole          | *     | fetch
//	no   | *              | *     | nothing
func workFor(here bool, state store.ContentState, quiet bool) work {
	switch {
	case here && (state == store.ContentWhole || state == store.ContentGoing || state == store.ContentComing && !quiet):
		return workNone
	case here:
		return workStore
	case state == store.ContentWhole:
		return workFetch
	}
	return workNone
}
