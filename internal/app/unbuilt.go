package app

// Unbuilt is the error of a [Build] that had warned before: a setting that was
// passed over may be why something is missing. It reads as its cause.
type Unbuilt struct {
	Err      error
	Warnings []string // for people, one each
}

// Error implements error.
func (e *Unbuilt) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Unbuilt) Unwrap() error { return e.Err }

// failed closes what was built so far and returns the error of the build.
func (r *Runtime) failed(err error) error {
	_ = r.Close()
	if warnings := r.Warnings(); len(warnings) > 0 {
		return &Unbuilt{err, warnings}
	}
	return err
}
