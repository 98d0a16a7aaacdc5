package resource

// Shorten leaves out of a resource what is too long for a list of many thousands. It changes the resource.
func Shorten(obj Object) {
	if b, ok := obj.(*BMC); ok {
		for i, inv := range b.Status.Inventory {
			b.Status.Inventory[i] = inv.Brief()
		}
	}
}
