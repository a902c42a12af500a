package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// launchWord makes this program a launcher. Each run is started by a fresh,
// small process: on Linux the peak memory of a child begins with that of the
// process which started it.
const launchWord = "launch"

// sample is what one run took.
type sample struct {
	Wall time.Duration
	CPU  time.Duration // user and system, the commands it ran included
	Peak int64         // resident memory in bytes; 0 when the system does not tell
	Out  int64         // bytes on stdout
	Exit int
	Err  string // the end of stderr

	gaps  []time.Duration // from each answer to the next request
	first int             // size of the first request in bytes
}

// counter counts bytes and keeps none.
type counter int64

// Write implements [io.Writer].
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// launch runs a program, waits for it and writes a sample to stdout.
func launch(args []string) int {
	var out counter
	var errs bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	s := sample{Wall: time.Since(began), Out: int64(out)}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		s.Exit, s.Err = -1, err.Error()
	} else {
		s.Exit = cmd.ProcessState.ExitCode()
		s.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		s.Peak = peak(cmd.ProcessState)
		s.Err = string(errs.Bytes()[max(0, errs.Len()-2000):])
	}
	if err := json.NewEncoder(os.Stdout).Encode(s); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		return 1
	}
	return 0
}

// run runs a program by a launcher. A program that fails is an error.
func (l *lab) run(args []string) (sample, error) {
	cmd := exec.CommandContext(l.ctx, l.self, append([]string{launchWord}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = l.work, l.env(), os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return sample{}, fmt.Errorf("launch %s: %w", filepath.Base(args[0]), err)
	}
	var s sample
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("launch %s: %w", filepath.Base(args[0]), err)
	}
	if s.Exit != 0 {
		return s, fmt.Errorf("%s ended with %d: %s", filepath.Base(args[0]), s.Exit, s.Err)
	}
	return s, nil
}
