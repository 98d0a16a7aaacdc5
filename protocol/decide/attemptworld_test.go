package decide

import "reflect"

// attempt wants of what follows an attempt in the record that its order is the same.
func (x *witness) attempt(was, is *Attempt) {
	if was == nil || is == nil || was.ID != is.ID {
		return
	}
	if !reflect.DeepEqual(was.Order, is.Order) {
		x.t.Fatalf("the order of attempt %s changed:\n%+v\n%+v", is.ID, was.Order, is.Order)
	}
}
