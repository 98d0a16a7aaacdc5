package link

import (
	"maps"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// troubles are the conditions that documents gave, by condition and document: one
// document's being well does not end another's trouble.
type troubles map[resource.ConditionCode]map[string]string

// maxTroubles bounds the documents that are named in one condition: whoever has the
// broker can make up topics.
const maxTroubles = 16

// Trouble notes what is wrong with a document; empty is nothing any more. It is called
// within Receive only.
func (r *Room) Trouble(code resource.ConditionCode, doc, message string) {
	docs := r.troubles[code]
	if docs == nil {
		docs = map[string]string{}
		r.troubles[code] = docs
	}
	switch _, known := docs[doc]; {
	case message == "":
		delete(docs, doc)
	case known || len(docs) < maxTroubles:
		docs[doc] = doc + ": " + message
	}
	if len(docs) == 0 {
		r.cfg.Reports.Clear(code)
		return
	}
	var all []string
	for _, d := range slices.Sorted(maps.Keys(docs)) {
		all = append(all, docs[d])
	}
	r.cfg.Reports.Raise(code, strings.Join(all, "; "))
}
