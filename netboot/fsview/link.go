package fsview

import (
	"rackboot/protocol"
)

const (
	// maxLinks bounds the links of a view, maxChain how many follow each other, and
	// maxWays how many combinations of them there are: what a look-up may cost.
	maxLinks = 512
	maxChain = 8
	maxWays  = 4096
)

// checkLinks refuses links that lead in circles. A link is followed by another where one
// of its target and the other's path is inside the other: the target is reached through
// it, or it shows the target's tree with the other in it. If that is never the link again,
// every name has an end.
func checkLinks(layers []layer) error {
	var links []*layer
	for i := range layers {
		if layers[i].isLink() {
			links = append(links, &layers[i])
		}
	}
	if len(links) > maxLinks {
		return protocol.Errorf(protocol.CodeInvalid, "build view", "%d links, at most %d", len(links), maxLinks).
			WithHint("link directories instead of their files")
	}
	c := chains{links: links, depth: make([]int, len(links)), ways: make([]int, len(links))}
	for i := range links {
		if err := c.measure(i); err != nil {
			return err
		}
	}
	return nil
}

// chains are the links with how many follow each.
type chains struct {
	links []*layer
	depth []int // 0 is not known yet, -1 is being measured
	ways  []int
}

func (c *chains) measure(i int) error {
	if c.depth[i] > 0 {
		return nil
	}
	from := c.links[i]
	c.depth[i] = -1
	depth, ways := 1, 1
	for k, to := range c.links {
		_, through := below(to.at, from.target)
		_, shows := below(from.target, to.at)
		if !through && !shows {
			continue
		}
		if c.depth[k] < 0 {
			return protocol.Errorf(protocol.CodeInvalid, "build view", "link %s of %s leads in a circle, through %s of %s", from.at, from.origin, to.at, to.origin).
				WithHint("let the target %s be outside of every link that leads to it", from.target)
		}
		if err := c.measure(k); err != nil {
			return err
		}
		depth = max(depth, c.depth[k]+1)
		ways += c.ways[k]
		if depth > maxChain || ways > maxWays {
			return protocol.Errorf(protocol.CodeInvalid, "build view", "too many links follow link %s of %s", from.at, from.origin).
				WithHint("let links lead to files and directories, and to no more than %d links one after the other", maxChain-1)
		}
	}
	c.depth[i], c.ways[i] = depth, ways
	return nil
}
