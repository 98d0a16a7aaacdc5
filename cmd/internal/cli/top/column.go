package top

// column is a column of a table: how wide it is at least, how wide it should be, and how wide it becomes where there is room.
// A column with from is only on screens of so many columns.
type column struct {
	name              string
	least, want, most int
	from              int
}

// serverColumns are those of servers, in the order of [serverCells]. On a screen of 80 columns all that have no from
// have their least width.
func serverColumns() []column {
	return []column{
		{"NAME", 13, 16, 28, 0},
		{"RACK", 7, 8, 14, 0},
		{"PHASE", 9, 11, 11, 0},
		{"POWER", 5, 5, 7, 0},
		{"STAGE", 9, 12, 17, 0},
		{"HOLDS", 5, 11, 13, 0},
		{"AWAITS", 12, 18, 20, 0},
		{"CONDITION", 12, 20, 30, 0},
		{"READ", 5, 8, 10, 100},
		{"CLAIM", 10, 16, 32, 150},
	}
}

// rackColumns are those of racks, in the order of [rackCells].
func rackColumns() []column {
	return []column{
		{"NAME", 12, 16, 28, 0},
		{"STATE", 8, 10, 10, 0},
		{"CONTACT", 7, 7, 7, 0},
		{"SERVERS", 7, 7, 7, 0},
		{"ON", 4, 5, 5, 0},
		{"HELD", 4, 5, 5, 0},
		{"BAD", 4, 5, 5, 0},
		{"FROZEN", 8, 12, 20, 0},
		{"CONDITION", 14, 20, 30, 0},
		{"AGENT", 12, 14, 30, 100},
		{"STANDBY", 12, 14, 30, 120},
	}
}

// widths are how wide columns are on a screen; 0 is a column that is left out. They follow from the screen alone,
// so that nothing moves while rows do. What is left after each has its least width is given to the columns in turn, one
// each, first until all are as wide as they should be, then until all have their most; a blank stands before each column.
func widths(columns []column, screen int) []int {
	out := make([]int, len(columns))
	left := screen
	for i, c := range columns {
		if c.from <= screen {
			out[i] = c.least
			left -= c.least + 1
		}
	}
	grow := func(to func(column) int) {
		for grown := true; grown && left > 0; {
			grown = false
			for i, c := range columns {
				if out[i] > 0 && out[i] < to(c) && left > 0 {
					out[i]++
					left--
					grown = true
				}
			}
		}
	}
	grow(func(c column) int { return c.want })
	grow(func(c column) int { return c.most })
	return out
}
