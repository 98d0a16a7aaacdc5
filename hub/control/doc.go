// Package control has the turns of the racks and of the site, and puts the hub's rooms together: it binds claims,
// moves maintenances and discoveries along, makes the documents of agents, files what they sign, and fills in
// what is printed. What it decides is in package plan; it has no branch on policy.
//
// Goroutines, all ended by the context given to Run: those of the rooms, and one that looks each second for what
// is due. Turns of racks run beside each other, and so do the words of agents, which the link hands on.
package control
