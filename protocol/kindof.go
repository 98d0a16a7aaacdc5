package protocol

// KindOf is the kind of the resource type T, such as KindServer for *Server;
// empty for a type that is no resource.
func KindOf[T Object]() Kind {
	for _, r := range kindTable() {
		if _, ok := r.make().(T); ok {
			return r.kind
		}
	}
	return ""
}
