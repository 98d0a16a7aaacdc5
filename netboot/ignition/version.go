package ignition

var versions2 = []string{"2.0.0", "2.1.0", "2.2.0", "2.3.0", "2.4.0"}

var versions3 = []string{"3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0", "3.6.0"}

// newest is the highest specification that is known.
func newest() string { return versions3[len(versions3)-1] }
