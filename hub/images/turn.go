package images

import (
	"context"
	"fmt"
	"strings"

	"rackboot/hub/conditions"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
)

// Turn keeps every entry's files and signatures on their way, and says what is not
// verified. News of it are events.
func (r *Room) Turn(ctx context.Context) {
	conds, there, signed := map[string][]resource.ConditionState{}, map[entryKey]bool{}, map[signedImage]bool{}
	for _, b := range store.List[*resource.BootImage](r.cfg.Objects) {
		// OCI images are compared with their digests when they are pulled.
		messages, failed := r.signed.said(b, r.signed.wanted(b, signed))
		if files, verified := proved(b); files > 0 {
			key := entryKey{b.Metadata.Name, b.Metadata.UID}
			there[key] = true
			r.files.jobs.Add(key)
			done, err := r.files.jobs.State(key)
			switch {
			case err != nil:
				messages, failed = append(messages, conditions.Text(err)), true
			case !done && verified < files:
				messages = append(messages, fmt.Sprintf("%d of %d files are verified; the others are being fetched", verified, files))
			}
		}
		message := strings.Join(messages, "; ")
		r.sayVerified(ctx, b, message, failed)
		if message != "" {
			conds[b.Metadata.Name] = []resource.ConditionState{{Code: resource.CondImageUnverified, Message: message}}
		}
	}
	r.files.jobs.Keep(func(k entryKey) bool { return there[k] })
	r.signed.jobs.Keep(func(k signedImage) bool { return signed[k] })
	r.conds.Keep(wake.SiteUnit, conds, r.cfg.Clock())
}

// sayVerified files an event when an entry's files fail in another way than before, and
// when all of them are verified.
func (r *Room) sayVerified(ctx context.Context, b *resource.BootImage, message string, failed bool) {
	was := r.conds.Of(b.Metadata.Name)
	switch {
	case failed && (len(was) == 0 || was[0].Message != message):
		r.cfg.Events.OwnOf(ctx, resource.TargetOf(b), "", resource.EventBootImage, b.Metadata.Name+": "+message)
	case message == "" && len(was) > 0:
		r.cfg.Events.OwnOf(ctx, resource.TargetOf(b), "", resource.EventBootImage, b.Metadata.Name+" is verified")
	}
}
