package plan

import "rackboot/protocol/message"

// shard deals servers out to shards of at most MaxServersPerShard. A server stays
// in the shard in which it travelled last: documents arrive in any order, and one
// that moved would be missing from both until the second arrives. There is always
// a first shard, and the last one is not empty unless it is the first.
func shard(servers []message.ServerIntent, last map[string]int) [][]message.ServerIntent {
	room := func(n int) bool { return n < message.MaxServersPerShard }
	in := make([]int, len(servers))
	var size []int
	put := func(i, to int) {
		for len(size) <= to {
			size = append(size, 0)
		}
		in[i] = to
		size[to]++
	}
	for i, s := range servers {
		in[i] = -1
		to, known := last[s.Server]
		// No rack has more shards than servers, so a number beyond is not its.
		if known && to >= 0 && to < len(servers)+message.MaxServersPerShard && (to >= len(size) || room(size[to])) {
			put(i, to)
		}
	}
	for i := range servers {
		if in[i] >= 0 {
			continue
		}
		to := 0
		for to < len(size) && !room(size[to]) {
			to++
		}
		put(i, to)
	}
	out := make([][]message.ServerIntent, max(1, len(size)))
	for i, s := range servers {
		out[in[i]] = append(out[in[i]], s)
	}
	return out
}
