package ignition

import (
	"slices"
	"strings"
)

// lowest3 is the specification that every stub of 1 and 2 can be said in; 3.0.0 has no
// proxy and no HTTP headers.
const lowest3 = "3.1.0"

// goal is the specification that a stub is for an image to have.
//
//	stub | image reads | stub is above it | goal
//	3    | *           | yes              | TooNew
//	3    | *           | no               | as it is
//	2    | 2           | yes              | TooNew
//	2    | 2           | no               | as it is
//	1    | 2           | *                | as it is
//	*    | 3.0.0       | *                | 3.0.0
//	*    | *           | *                | 3.1.0
//
// The first row that fits decides. The columns are the major version of the stub, 2 or a
// version of 3 for the highest that the image reads, and whether the stub's version is
// higher. An image of specification 2 reads 1 too.
func goal(stub, reads string, above bool) string {
	image2 := strings.HasPrefix(reads, "2")
	switch {
	case stub == "3" && above, stub == "2" && image2 && above:
		return string(TooNew)
	case stub == "3", image2:
		return asItIs
	case reads == "3.0.0":
		return reads
	}
	return lowest3
}

const asItIs = "as it is"

// head is what a stub says that it is.
type head struct {
	version string // "1" for specification 1
	major   string
	minor   int
}

// headOf finds the version. One that is too new for this program is TooNew too, as a
// number above everything.
func headOf(t *tree) (head, *Refusal) {
	const at = "$.ignition.version"
	if t.kind != object {
		return head{}, refuse(NotAnObject, "$", "is JSON, and no object")
	}
	v := t.get("ignition", "version")
	if v == nil {
		if old := t.get("ignitionVersion"); old != nil {
			if old.kind != number || old.text != "1" {
				return head{}, refuse(UnknownVersion, "$.ignitionVersion", "is not 1")
			}
			return head{"1", "1", 0}, nil
		}
		return head{}, refuse(UnknownVersion, at, "is missing")
	}
	if v.kind != text {
		return head{}, refuse(UnknownVersion, at, "is no string")
	}
	if minor := slices.Index(versions2, v.text); minor >= 0 {
		return head{v.text, "2", minor}, nil
	}
	if minor := slices.Index(versions3, v.text); minor >= 0 {
		return head{v.text, "3", minor}, nil
	}
	if strings.HasPrefix(v.text, "3.") {
		return head{}, refuse(TooNew, at, "is a specification 3 that is not one of "+strings.Join(versions3, ", "))
	}
	return head{}, refuse(UnknownVersion, at, "is not one of 1, "+strings.Join(slices.Concat(versions2, versions3), ", "))
}

// above says whether version a is higher than b, of specifications 1 to 3.
func above(a, b string) bool {
	all := slices.Concat([]string{"1"}, versions2, versions3)
	return slices.Index(all, a) > slices.Index(all, b)
}
