// Package fdlimit tells when a daemon has used up its file descriptors: its listeners then
// take no connections, and neither does its store open files. Listeners wait and go on by
// themselves; what to do is in the log, once a minute.
package fdlimit
