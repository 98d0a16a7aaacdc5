package decide

import (
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// fell says whether the configuration is not booted any more.
func (f *Fallback) fell(b *message.BootIntent) bool {
	return f != nil && !f.Since.IsZero() && f.OwnerUID == b.Owner.UID && f.Generation == b.Generation
}

// InForce is an intent with what the server boots now: what the hub says, or, once that
// has failed often enough, what was booted before. Nothing is changed in place.
func InForce(in message.ServerIntent, r *Record) message.ServerIntent {
	if b := in.Boot; b != nil && b.Fallback != nil && r.Owners.Fallback.fell(b) {
		in.Boot = b.Former()
	}
	return in
}

// countRule says whether the end of a network boot is laid to its image. fetched is that
// the image's last file had gone out. The first row that fits decides.
//
//	code        | fetched | counts
//	ImageFailed | *       | yes
//	NoReport    | *       | yes
//	FetchFailed | *       | yes
//	Interrupted | yes     | yes
//	*           | *       | no
//
// What ends before firmware has asked says nothing of the image: the boot before it would
// end alike.
func countRule(code resource.AttemptCode, fetched bool) bool {
	switch code {
	case resource.AttemptImageFailed, resource.AttemptNoReport, resource.AttemptFetchFailed:
		return true
	case resource.AttemptInterrupted:
		return fetched
	default:
		return false
	}
}

// Report is what the hub is told.
func (f *Fallback) Report() *resource.FallbackReport {
	if f == nil {
		return nil
	}
	r := &resource.FallbackReport{Generation: f.Generation, Failed: f.Failed, Reason: f.Reason}
	if !f.Since.IsZero() {
		since := f.Since
		r.Since = &since
	}
	return r
}
