package state

import (
	"errors"
	"fmt"
	"strings"

	"rackboot/protocol"
)

// The bounds of a Commit. Servers of JetStream take 1,000 messages in a batch unless they are
// told otherwise, and everything of a commit is in the memory of whoever reads it.
const (
	MaxOps         = 1000
	MaxCommitBytes = 8 << 20 // keys and values together
)

// OpKind is what an Op does.
type OpKind string

// The kinds of an Op.
const (
	// OpCreate writes a key that does not exist, or was deleted. Its Revision is 0.
	OpCreate OpKind = "create"
	// OpUpdate writes a key at its current Revision, as [KV].Update does.
	OpUpdate OpKind = "update"
	// OpDelete deletes a key at its current Revision.
	OpDelete OpKind = "delete"
	// OpCheck writes nothing and wants the key at Revision, where 0 is that there is no such key:
	// what the commit rests on and does not change. While a commit with it is under way, somebody
	// else's write of that key may be refused as a conflict, and succeeds when it is tried again.
	OpCheck OpKind = "check"
)

// Op is one key of a Commit and the revision that it is expected to have.
type Op struct {
	Kind     OpKind
	Key      string
	Value    []byte // of a create or an update
	Revision uint64
}

// ConflictError says which keys of a Commit were not as expected. There are none if another write
// of one of them was under way and its outcome is not known yet. It is an ErrConflict.
type ConflictError struct{ Keys []string }

// Error names at most five keys.
func (e *ConflictError) Error() string {
	const most = 5
	switch n := len(e.Keys); {
	case n == 0:
		return "another write was under way: conflict"
	case n > most:
		return fmt.Sprintf("%s and %d others are not at the revision that was expected: conflict", strings.Join(e.Keys[:most], ", "), n-most)
	default:
		return fmt.Sprintf("%s: not at the revision that was expected: conflict", strings.Join(e.Keys, ", "))
	}
}

// Unwrap is ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// Conflicting are the keys that a ConflictError in err names.
func Conflicting(err error) []string {
	if c, ok := errors.AsType[*ConflictError](err); ok {
		return c.Keys
	}
	return nil
}

// CheckOps says what is wrong with the ops of a Commit before anything is asked of a store: none, or
// none that writes; more than [MaxOps] or [MaxCommitBytes]; a key that is none, or is there twice.
// A revision that no key has is a conflict, as it is for a single write. Every KV calls it.
func CheckOps(op string, ops []Op) error {
	if len(ops) > MaxOps {
		return protocol.Errorf(protocol.CodeInvalid, op, "%d ops; the limit is %d", len(ops), MaxOps).
			WithHint("commit what belongs together, and the rest by itself")
	}
	writes, size := 0, 0
	seen := make(map[string]bool, len(ops))
	for _, o := range ops {
		if err := CheckKey(op, o.Key); err != nil {
			return err
		}
		if seen[o.Key] {
			return protocol.Errorf(protocol.CodeInvalid, op, "key %q is there twice", o.Key)
		}
		seen[o.Key] = true
		size += len(o.Key) + len(o.Value)
		switch o.Kind {
		case OpCreate:
			writes++
			if o.Revision != 0 {
				return protocol.Errorf(protocol.CodeInvalid, op, "key %q is created at revision %d", o.Key, o.Revision)
			}
		case OpUpdate, OpDelete:
			writes++
		case OpCheck:
		default:
			return protocol.Errorf(protocol.CodeInvalid, op, "%q of key %q is not a kind of op", o.Kind, o.Key)
		}
	}
	if writes == 0 {
		return protocol.Errorf(protocol.CodeInvalid, op, "nothing is written")
	}
	if size > MaxCommitBytes {
		return protocol.Errorf(protocol.CodeInvalid, op, "keys and values have %d bytes; the limit is %d", size, MaxCommitBytes).
			WithHint("commit what belongs together, and the rest by itself")
	}
	var never []string
	for _, o := range ops {
		if o.Revision == 0 && (o.Kind == OpUpdate || o.Kind == OpDelete) {
			never = append(never, o.Key)
		}
	}
	if len(never) > 0 {
		return protocol.Errorf(protocol.CodeConflict, op, "revision 0 is never current: %w", &ConflictError{Keys: never})
	}
	return nil
}
