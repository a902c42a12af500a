package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// script is a script file; see the documentation of the command.
type script struct {
	Models []string `json:"models"`
	Key    string   `json:"key"`    // the only key that is let in
	Fields []string `json:"fields"` // further top-level fields that requests may have
	Loop   bool     `json:"loop"`
	Turns  []turn   `json:"turns"`

	mu   sync.Mutex
	used []bool // guarded by mu; by turn
}

type turn struct {
	Match      string            `json:"match"`
	Keep       bool              `json:"keep"`
	Thinking   string            `json:"thinking"`
	Text       *string           `json:"text"`
	Calls      []call            `json:"calls"`
	Stop       string            `json:"stop"`
	Usage      *oh.Usage         `json:"usage"`
	Cut        cut               `json:"cut"`
	Delay      duration          `json:"delay"`
	Hang       bool              `json:"hang"`
	Error      string            `json:"error"`
	RetryAfter duration          `json:"retry_after"`
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	Bytes      *string           `json:"bytes"`
	BytesFile  string            `json:"bytes_file"`
}

type call struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type cut struct {
	Delta int    `json:"delta"`
	Bytes int    `json:"bytes"`
	Seed  uint64 `json:"seed"`
}

// duration is a time.Duration written as "1.5s".
type duration time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err == nil && v < 0 {
		err = fmt.Errorf("the duration %s is negative", text)
	}
	*d = duration(v)
	return err
}

// load reads a script from a file, or from stdin for "-".
func load(name string, stdin io.Reader) (*script, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("read the script: %w", err)
	}
	s, err := parseScript(data)
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", name, err)
	}
	return s, nil
}

func parseScript(data []byte) (*script, error) {
	files := map[string]string{}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		for _, f := range txtar.Parse(data).Files {
			files[f.Name] = string(f.Data)
		}
		main, ok := files["script.json"]
		if !ok {
			return nil, errors.New("it is neither a JSON object nor a txtar archive with a file script.json")
		}
		data = []byte(main)
	}
	s := &script{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(s); err != nil {
		return nil, located(data, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the script's JSON object")
	}
	if len(s.Turns) == 0 {
		return nil, errors.New("there are no turns")
	}
	for i := range s.Turns {
		if err := s.Turns[i].check(files); err != nil {
			return nil, fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	s.used = make([]bool, len(s.Turns))
	return s, nil
}

// located adds the line to an error of decoding data, where it is known.
func located(data []byte, err error) error {
	var at int64
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &wrong):
		at = wrong.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		at = int64(len(data))
	default:
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:min(at, int64(len(data)))], []byte("\n")), err)
}

// check reports fields that contradict each other, and gets bytes_file.
func (t *turn) check(files map[string]string) error {
	if t.BytesFile != "" {
		b, ok := files[t.BytesFile]
		if !ok {
			return fmt.Errorf("bytes_file: the archive has no file %q", t.BytesFile)
		}
		if t.Bytes != nil {
			return errors.New("bytes and bytes_file exclude each other")
		}
		t.Bytes = &b
	}
	high := t.Text != nil || t.Thinking != "" || t.Calls != nil || t.Stop != "" || t.Usage != nil
	switch {
	case high && (t.Bytes != nil || t.Status != 0):
		return errors.New("text, thinking, calls, stop and usage exclude bytes and status")
	case t.Status != 0 && (t.Status < 200 || t.Status > 599):
		return fmt.Errorf("status %d is not between 200 and 599", t.Status)
	case t.Hang && t.Error != "":
		return errors.New("hang and error exclude each other")
	case (t.Bytes != nil || t.Status != 0) && t.Error != "" && t.Error != "drop":
		return errors.New("after bytes or a status the only error is drop")
	case t.Cut.Delta < 0 || t.Cut.Bytes < -1:
		return errors.New("cut: delta is at least 0, bytes at least -1")
	case t.RetryAfter != 0 && (t.Error == "" || t.Error == "drop"):
		return errors.New("retry_after needs an error that is answered")
	}
	for i, c := range t.Calls {
		if c.Name == "" {
			return fmt.Errorf("call %d has no name", i+1)
		}
	}
	_, err := t.failure()
	return err
}

// failure returns the error that the turn asks for, if any.
func (t *turn) failure() (error, error) {
	switch kind := oh.Kind(t.Error); kind {
	case "":
		return nil, nil
	case "drop":
		return errors.New("dropped"), nil
	case oh.KindAuth, oh.KindQuota, oh.KindLimited, oh.KindOverloaded, oh.KindTooLong, oh.KindInvalid, oh.KindUnavailable:
		return &oh.Error{Op: "script", Kind: kind, After: time.Duration(t.RetryAfter)}, nil
	}
	return nil, fmt.Errorf("error %q is none of auth, quota, limited, overloaded, too_long, invalid, unavailable and drop", t.Error)
}

// rule picks the turn for a request.
func (s *script) rule(r *ohtest.Request) (ohtest.Turn, bool) {
	prompt := r.LastUserText()
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.pick(prompt)
	if t == nil && s.Loop {
		clear(s.used)
		t = s.pick(prompt)
	}
	if t == nil {
		return ohtest.Turn{}, false
	}
	return t.play(), true
}

// pick uses up the first turn that fits.
func (s *script) pick(prompt string) *turn {
	for i := range s.Turns {
		t := &s.Turns[i]
		if !s.used[i] && strings.Contains(prompt, t.Match) {
			s.used[i] = !t.Keep
			return t
		}
	}
	return nil
}

// play makes of the turn what a server plays.
func (t *turn) play() ohtest.Turn {
	header := http.Header{}
	for k, v := range t.Headers {
		header.Set(k, v)
	}
	if t.Bytes != nil || t.Status != 0 {
		out := ohtest.Play(t.steps()...)
		out.Header = header
		return out
	}
	out := ohtest.Turn{Hang: t.Hang, Header: header, Delay: time.Duration(t.Delay),
		Cut: ohtest.Cut{Delta: t.Cut.Delta, Bytes: t.Cut.Bytes, Seed: t.Cut.Seed}}
	out.Err, _ = t.failure() // checked when it was loaded
	if t.Thinking != "" {
		out.Parts = append(out.Parts, ohtest.Thinking(t.Thinking))
	}
	if t.Text != nil {
		out.Parts = append(out.Parts, ohtest.Text(*t.Text))
	}
	for _, c := range t.Calls {
		out.Parts = append(out.Parts, ohtest.Call(c.ID, c.Name, c.text()))
	}
	if t.Stop != "" {
		out.Parts = append(out.Parts, ohtest.Stop(t.Stop))
	}
	if t.Usage != nil {
		out.Parts = append(out.Parts, ohtest.Usage(*t.Usage))
	}
	return out
}

// text returns the arguments as they are sent.
func (c call) text() string {
	var s string
	if json.Unmarshal(c.Input, &s) == nil {
		return s
	}
	return string(oh.Compact(c.Input))
}

func (t *turn) steps() []ohtest.Step {
	body := ""
	if t.Bytes != nil {
		body = *t.Bytes
	}
	steps := []ohtest.Step{ohtest.Wait(time.Duration(t.Delay))}
	if t.Status != 0 {
		steps = append(steps, ohtest.Status(t.Status, nil, body))
	} else {
		steps = append(steps, ohtest.SendAll(ohtest.Cut{Bytes: t.Cut.Bytes, Seed: t.Cut.Seed}.Writes([]byte(body))...)...)
	}
	switch {
	case t.Hang:
		steps = append(steps, ohtest.Hold())
	case t.Error == "drop":
		steps = append(steps, ohtest.Drop())
	}
	return steps
}
