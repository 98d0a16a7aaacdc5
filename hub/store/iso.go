package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// ISO is an uploaded file in the book.
type ISO struct {
	resource.ISOFile
	Revision uint64 `json:"-"` // for compare-and-set; 0 creates
}

// ISOs is the book of uploaded files.
type ISOs struct{ core *core }

// isoKey: names of files have dots and other characters that keys cannot have.
func isoKey(file string) string { return fmt.Sprintf("%s.%x", isoBucket, sha256.Sum256([]byte(file))) }

// Get is the uploaded file of a name; not_found if there is none.
func (i *ISOs) Get(file string) (ISO, error) {
	e, ok := i.core.mirror.get(isoKey(file))
	if !ok {
		return ISO{}, protocol.Errorf(protocol.CodeNotFound, "get file", "no file %.300q was uploaded", file).
			WithHint("rackctl iso list shows what there is")
	}
	return decodeISO(e)
}

// List lists the uploaded files in order of name. One that cannot be read is left out
// and logged.
func (i *ISOs) List() (out []ISO) {
	for _, e := range i.core.mirror.list(isoBucket) {
		f, err := decodeISO(*e)
		if err != nil {
			i.core.logger.Error("entry of an uploaded file cannot be read", "key", e.Key, "err", err)
			continue
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b ISO) int { return cmp.Compare(a.File, b.File) })
	return out
}

// Put writes an uploaded file into the book: compare-and-set on its revision, which it
// updates. Who reads the name gets the one before or this one. The codes are invalid,
// conflict, unavailable and timeout.
func (i *ISOs) Put(ctx context.Context, f *ISO) error { return i.put(ctx, f, nil) }

// PutKept is Put for a file whose content the servers of the store have: both or neither is written, so that it is not
// removed there from now on. The content is touched, and is a conflict too if somebody else has changed it.
func (i *ISOs) PutKept(ctx context.Context, f *ISO, c *Content) error { return i.put(ctx, f, c) }

func (i *ISOs) put(ctx context.Context, f *ISO, c *Content) error {
	const op = "put file"
	if !resource.ValidISOFile(f.File) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%.300q is not a name for a file", f.File).
			WithHint("use one path element of at most %d printable bytes that does not begin with a dot", resource.MaxISOFileName)
	}
	value, err := json.Marshal(f)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if c == nil {
		revision, err := i.core.put(ctx, isoKey(f.File), value, f.Revision)
		if err != nil {
			return stateError(op, err)
		}
		f.Revision = revision
		return nil
	}
	c.Touched = i.core.clock().UTC()
	kept, err := c.write(op)
	if err != nil {
		return err
	}
	revisions, err := i.core.commit(ctx, []state.Op{write(isoKey(f.File), value, f.Revision), kept})
	if err != nil {
		return stateError(op, err)
	}
	f.Revision, c.Revision = revisions[0], revisions[1]
	return nil
}

// Remove takes an uploaded file out of the book at its revision. The codes are
// conflict, unavailable and timeout; one that is gone already is a conflict.
func (i *ISOs) Remove(ctx context.Context, f ISO) error {
	if err := i.core.remove(ctx, isoKey(f.File), f.Revision); err != nil {
		return stateError("remove file", err)
	}
	return nil
}

func decodeISO(e cached) (f ISO, err error) {
	if err := json.Unmarshal(e.Value, &f); err != nil {
		return f, protocol.Errorf(protocol.CodeInternal, "read file", "%w", err).
			WithHint("a newer hub may have written it; start that version, or restore the store")
	}
	f.Revision = e.Revision
	return f, nil
}
