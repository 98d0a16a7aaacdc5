package judge

// recoveries finds faults after which hub and agent did not serve again until somebody helped:
// nobody is there who does, where racks stand.
func recoveries(h History, v *Verdict) {
	for _, r := range h.Recoveries {
		v.tested(Recovers, "", r.From, r.To)
		if r.By != "" {
			v.broken(Recovers, "", r.From, r.By)
		}
	}
}
