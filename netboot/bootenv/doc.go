// Package bootenv turns what people describe as a boot environment into what one server
// boots: it merges, chooses where the files come from, and renders. It is pure: the same
// bundle and site give the same tree, without a clock, chance or a file.
//
//	EnvBundle ─► Merge ─► Effective ─► Root    where machines/<uuid>/boot/ comes from
//	                                 ├► Render  the rendered files and links
//	                                 └► Boot    loader, kernel, initrds, kernel arguments
//
// [Lint] says what is wrong with a description before any server selects it.
//
// # Paths
//
// All paths are those of a server's file system, clean and without a slash before them:
// mounts/isos/FILE/ is an uploaded file's content, machines/UUID/boot/ the environment's
// root, machines/UUID/install/ a package repository that is not its root.
//
// # Bounds
//
// Who writes a template is trusted with the servers that boot it, and not with the agent
// that renders it. Every loop and every call in a template passes through a meter, which
// ends it at a number of steps, of bytes or with its context, so that nothing keeps
// running behind an error; see [Limits]. What cannot be interrupted is one call of one
// function, whose work is bounded by the size of what it is given: some milliseconds.
//
// # Secrets
//
// An error says which param and which line, and never the value of a param that is
// secret: what a library says after a template has read one is left out.
//
// # Sources
//
// Seed 004, and dr-provision's models and documents of release 4.8. Where they contradict
// each other or themselves, docs/adr/0039 says what holds here.
package bootenv
