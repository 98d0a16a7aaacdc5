package iso

import (
	"io/fs"
	"slices"
	"strings"
)

const (
	// maxDepth bounds how deep folders are, and maxLinks how many links a path goes
	// through, as Linux does.
	maxDepth = 128
	maxLinks = 40
	// usualDepth is that of most files.
	usualDepth = 8
)

// walk finds what a path leads to. A link at its end is followed if asked for.
func (f *FS) walk(name string, follow bool) (node, error) {
	if !fs.ValidPath(name) {
		return node{}, fs.ErrInvalid
	}
	way := append(make([]*node, 0, usualDepth), &f.volume.root)
	links := 0
	var link *node // the last one that was followed
	for part, rest, more := "", name, true; more; {
		part, rest, more = strings.Cut(rest, "/")
		here := way[len(way)-1]
		switch {
		case !here.mode.IsDir():
			return node{}, absent(link)
		case part == "." || part == "":
			continue
		case part == "..":
			if len(way) == 1 {
				return node{}, wrong("a link leads out of the image")
			}
			way = way[:len(way)-1]
			continue
		case len(way) > maxDepth:
			return node{}, wrong("its folders are more than %d deep", maxDepth)
		}
		d, err := f.folder(*here)
		if err != nil {
			return node{}, err
		}
		n, ok := d.find(part, f.volume.names != rockNames)
		switch {
		case !ok:
			return node{}, absent(link)
		case n.mode&fs.ModeSymlink != 0 && (follow || more):
			if links++; links > maxLinks {
				return node{}, wrong("a path goes through more than %d links, and then through %q, which leads to %q", maxLinks, n.name, n.link)
			}
			if strings.HasPrefix(n.link, "/") {
				return node{}, wrong("the link %q leads out of the image, to %q", n.name, n.link)
			}
			link = n
			if n.link == "" {
				return node{}, absent(link)
			}
			if more {
				rest = n.link + "/" + rest
			} else {
				rest, more = n.link, true
			}
		case n.mode.IsDir() && slices.ContainsFunc(way, func(w *node) bool { return w.first.at == n.first.at }):
			return node{}, wrong("the folder %q contains itself", n.name)
		default:
			way = append(way, n)
		}
	}
	return *way[len(way)-1], nil
}

// absent is the error of what is not there; link is the last one that led to it, or nil.
func absent(link *node) error {
	if link == nil {
		return fs.ErrNotExist
	}
	return &Dangling{Link: link.name, Target: link.link}
}
