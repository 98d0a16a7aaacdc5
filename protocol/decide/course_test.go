package decide

import (
	"testing"

	"rackboot/internal/doctable"
)

func is(word string) bool { return word == "yes" }

func TestCourseTable(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "course.go", "courseRule").HoldOne(t, [][]string{doctable.Words(attemptNobodys, attemptOurs, attemptOthers), yn, yn, yn, yn, yn, yn, yn}, func(in []string) string {
		return string(courseRule(courseFacts{whoseAttempt(in[0]), is(in[1]), is(in[2]), is(in[3]), is(in[4]), is(in[5]), is(in[6]), is(in[7])}))
	})
}

func TestTidyTable(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "course.go", "tidyRule").HoldOne(t, [][]string{yn, yn, yn, yn, yn, doctable.Words(leftNothing, leftGone, leftDue)}, func(in []string) string {
		return string(tidyRule(tidyFacts{is(in[0]), is(in[1]), is(in[2]), is(in[3]), is(in[4]), leftIs(in[5])}))
	})
}

func TestHandOverTable(t *testing.T) {
	yn, left := doctable.YesNo(), doctable.Words(leftNothing, leftGone, leftDue)
	doctable.Of(t, "course.go", "handOverRule").HoldOne(t, [][]string{yn, doctable.Words(isOff, isOn, isOther), yn, yn, left, left, yn}, func(in []string) string {
		return string(handOverRule(handOverFacts{is(in[0]), running(in[1]), is(in[2]), is(in[3]), leftIs(in[4]), leftIs(in[5]), is(in[6])}))
	})
}
