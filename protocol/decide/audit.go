package decide

import "strings"

// keysOf are the keys of the holds that lie.
func keysOf(holds []Hold) string {
	var keys []string
	for _, h := range holds {
		keys = append(keys, h.Key)
	}
	return strings.Join(keys, ", ")
}
