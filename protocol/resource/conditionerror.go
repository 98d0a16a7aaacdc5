package resource

import "errors"

// ConditionError is an error with the condition that it is, where a code alone does not say it: a file
// with credentials that is not there, and a system that is not, are both not_found.
type ConditionError struct {
	Condition ConditionCode
	Err       error
}

// Error implements error.
func (e *ConditionError) Error() string { return e.Err.Error() }

// Unwrap has its code and its hint found.
func (e *ConditionError) Unwrap() error { return e.Err }

// AsCondition names the condition that an error is; nil stays nil.
func AsCondition(code ConditionCode, err error) error {
	if err == nil || code == "" {
		return err
	}
	return &ConditionError{code, err}
}

// ConditionOf is the condition that an error is; empty where nobody has named it.
func ConditionOf(err error) ConditionCode {
	if e, ok := errors.AsType[*ConditionError](err); ok {
		return e.Condition
	}
	return ""
}
