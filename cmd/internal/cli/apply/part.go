package apply

import (
	"encoding/json"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	// partMost bounds the resources of a part: others are served between two parts.
	partMost = 500
	// partBytes bounds its bytes, so that what a part refers to has room beside it.
	partBytes = api.MaxBody / 2
	// room is what of a request's body is not resources.
	room = 4 << 10
)

// inParts reads resources in their order, and calls do with as many as a part has.
func (j *Job) inParts(list []int, do func(part []int, objs []resource.Object) error) error {
	const read = 100 // at once
	var part []int
	var objs []resource.Object
	bytes := 0
	flush := func() error {
		if len(part) == 0 {
			return nil
		}
		err := do(part, objs)
		part, objs, bytes = nil, nil, 0
		return err
	}
	for len(list) > 0 {
		some := list[:min(len(list), read)]
		list = list[len(some):]
		got, err := j.set.Objects(some)
		if err != nil {
			return err
		}
		for n, o := range got {
			size := sizeOf(o)
			if len(part) == j.most || bytes+size > j.bytes {
				if err := flush(); err != nil {
					return err
				}
			}
			part, objs, bytes = append(part, some[n]), append(objs, o), bytes+size
		}
	}
	return flush()
}

// sizeOf is how many bytes a resource takes in a request. One that cannot be encoded is refused there.
func sizeOf(o resource.Object) int {
	raw, err := json.Marshal(o)
	if s, is := o.(*resource.Secret); is && err == nil {
		raw, err = s.Reveal()
	}
	if err != nil {
		return 0
	}
	return len(raw) + 1
}

// beside are the resources of the set that some refer to, directly or not, and that are not among them. ok is false
// where they do not fit into a request together.
func (j *Job) beside(list []int, objs []resource.Object) (more []int, add []resource.Object, ok bool, err error) {
	have := make(map[int]bool, len(list))
	bytes := room
	for n, i := range list {
		have[i] = true
		bytes += sizeOf(objs[n])
	}
	for from := objs; len(from) > 0; {
		var next []int
		for _, o := range from {
			for _, i := range j.refersTo(o) {
				if !have[i] {
					have[i] = true
					next = append(next, i)
				}
			}
		}
		got, err := j.set.Objects(next)
		if err != nil {
			return nil, nil, false, err
		}
		for _, o := range got {
			if bytes += sizeOf(o); bytes > api.MaxBody {
				return nil, nil, false, nil
			}
		}
		more, add, from = append(more, next...), append(add, got...), got
	}
	return more, add, bytes <= api.MaxBody, nil
}

// refersTo are the resources of the set that one refers to.
func (j *Job) refersTo(o resource.Object) (list []int) {
	r, is := o.(resource.Referrer)
	if !is {
		return nil
	}
	for _, ref := range r.References() {
		if i, there := j.set.Find(ref.Kind, ref.Name); there && ref.Name != "" {
			list = append(list, i)
		}
	}
	return list
}

// Fits reports whether resources have room in one request.
func Fits(objs []resource.Object) bool {
	bytes := room
	for _, o := range objs {
		bytes += sizeOf(o)
	}
	return bytes <= api.MaxBody
}
