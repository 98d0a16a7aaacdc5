package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// What is kept of a hook in the store, in two values of the hub's own.
const (
	placeName   = "webhook-%s"
	lettersName = "webhook-%s-dead"
)

// The bounds of dead letters: how many, and how many bytes together.
const (
	maxLetters     = 200
	maxLetterBytes = 256 << 10
)

// place is how far a hook is.
type place struct {
	Position uint64 `json:"position"`
}

// letters are the dead ones of a hook, the oldest first.
type letters struct {
	Items   []api.WebhookLetter `json:"items"`
	Dropped uint64              `json:"dropped"`
}

// with is the letters with one more; the oldest go where there are too many. One that is there already, as
// after a crash, is replaced.
func (l letters) with(one api.WebhookLetter) letters {
	out := letters{Dropped: l.Dropped}
	for _, old := range l.Items {
		if old.ID != one.ID {
			out.Items = append(out.Items, old)
		}
	}
	out.Items = append(out.Items, one)
	for len(out.Items) > 1 && (len(out.Items) > maxLetters || out.size() > maxLetterBytes) {
		out.Items, out.Dropped = out.Items[1:], out.Dropped+1
	}
	return out
}

// without is the letters without one.
func (l letters) without(id string) letters {
	return letters{slices.DeleteFunc(slices.Clone(l.Items), func(o api.WebhookLetter) bool { return o.ID == id }), l.Dropped}
}

// instead is the letters with one in the place of that of its id, if that is still there.
func (l letters) instead(one api.WebhookLetter) letters {
	out := letters{slices.Clone(l.Items), l.Dropped}
	for i := range out.Items {
		if out.Items[i].ID == one.ID {
			out.Items[i] = one
		}
	}
	return out
}

// asked is the letters with another attempt asked for those with ids, or all, and how many these are.
func (l letters) asked(ids []string) (letters, int) {
	out, n := letters{slices.Clone(l.Items), l.Dropped}, 0
	for i := range out.Items {
		if len(ids) == 0 || slices.Contains(ids, out.Items[i].ID) {
			out.Items[i].Again = true
			n++
		}
	}
	return out, n
}

func (l letters) size() int {
	raw, err := json.Marshal(l)
	if err != nil {
		return 0
	}
	return len(raw)
}

// kept is a value of the hub's own as JSON, with the revision that it was read at. One goroutine uses it at
// a time.
type kept[T any] struct {
	meta     *store.Meta
	name     string
	value    T
	revision uint64
}

// open reads the value; ok is false where there is none yet.
func (k *kept[T]) open() (ok bool, err error) {
	raw, revision, err := k.meta.Get(k.name)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &k.value)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", k.name, err)
	}
	k.revision = revision
	return true, nil
}

// put writes a value. After an error nobody knows whether it was written: the revision is read again.
func (k *kept[T]) put(ctx context.Context, v T) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := k.meta.Put(ctx, k.name, raw, k.revision); err != nil {
		if _, revision, again := k.meta.Get(k.name); again == nil {
			k.revision = revision
		}
		return err
	}
	k.value = v
	_, k.revision, err = k.meta.Get(k.name)
	return err
}
