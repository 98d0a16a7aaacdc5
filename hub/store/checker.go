package store

import (
	"fmt"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// checker collects what is wrong with the objects of an Apply. A conflict (a
// uid or revision that is not the stored one) is reported with that code when
// nothing is invalid.
type checker struct {
	sets     *Sets
	errs     []ApplyError // one per object, empty FieldErrors where all is well
	conflict bool
	invalid  bool
	judging  map[string]uint64 // of the object that is judged: what it is judged by
	closed   []string          // what was looked up and is closed
}

func newChecker(st *Sets, n int) *checker { return &checker{sets: st, errs: make([]ApplyError, n)} }

func (c *checker) name(i int, h *resource.Header) {
	c.errs[i].Index, c.errs[i].Kind, c.errs[i].Name = i, h.Kind, h.Metadata.Name
}

func (c *checker) add(i int, path, format string, args ...any) {
	c.addAll(i, protocol.FieldErrors{{Path: path, Message: fmt.Sprintf(format, args...)}})
}

func (c *checker) addAll(i int, f protocol.FieldErrors) {
	c.errs[i].FieldErrors = append(c.errs[i].FieldErrors, f...)
	c.invalid = c.invalid || len(f) > 0
}

func (c *checker) addConflict(i int, path, format string, args ...any) {
	c.errs[i].FieldErrors = append(c.errs[i].FieldErrors, protocol.FieldError{Path: path, Message: fmt.Sprintf(format, args...)})
	c.conflict = true
}

func (c *checker) err() error {
	errs := slices.DeleteFunc(slices.Clone(c.errs), func(e ApplyError) bool { return len(e.FieldErrors) == 0 })
	switch {
	case c.invalid:
		return protocol.Errorf(protocol.CodeInvalid, "apply", "%w", ApplyErrors(errs)).
			WithHint("nothing was changed; correct the fields that are named")
	case c.conflict:
		return protocol.Errorf(protocol.CodeConflict, "apply", "%w", ApplyErrors(errs)).
			WithHint("nothing was changed; read the resources again and repeat the change")
	}
	return nil
}

// stored looks up what is in the store, and notes at which revision.
func (c *checker) stored(kind resource.Kind, name string) resource.Object {
	e, there := c.sets.core.mirror.get(keyOf(kind, name))
	if !there {
		return nil
	}
	c.judging[e.Key] = e.Revision
	if e.closed != 0 {
		c.closed = append(c.closed, e.Key)
	}
	return e.obj
}
