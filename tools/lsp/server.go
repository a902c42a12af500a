package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Server describes a language server that speaks on its standard input and
// output. The JSON form is that of Claude Code's lspServers.
type Server struct {
	Name       string            `json:"-"`
	Command    string            `json:"command,omitempty"` // a name in PATH, or an absolute path
	Args       []string          `json:"args,omitempty"`
	Extensions map[string]string `json:"extensionToLanguage,omitempty"` // ".go" to the protocol's name of the language, "go"
	Env        map[string]string `json:"env,omitempty"`
	Transport  string            `json:"transport,omitempty"` // "stdio", or empty for the same

	// Markers are names of files that lie in the root of a project, the most
	// telling first.
	Markers []string `json:"rootMarkers,omitempty"`

	Options     json.RawMessage `json:"initializationOptions,omitempty"`
	Settings    json.RawMessage `json:"settings,omitempty"`       // what the server gets when it asks for its configuration
	StartupMS   int             `json:"startupTimeout,omitempty"` // milliseconds; 0: see Config.Startup
	MaxRestarts *int            `json:"maxRestarts,omitempty"`    // after crashes; default 3
	Disabled    bool            `json:"disabled,omitempty"`
	Install     string          `json:"-"` // the command that installs it, for people and models
	Root        string          `json:"-"` // of the project it runs for, set when it is asked about
	configured  bool
}

const defaultRestarts = 3

func (s *Server) restarts() int {
	if s.MaxRestarts != nil {
		return max(0, *s.MaxRestarts)
	}
	return defaultRestarts
}

// startup is the limit on the start, given the general one.
func (s *Server) startup(general time.Duration) time.Duration {
	if s.StartupMS > 0 {
		return time.Duration(s.StartupMS) * time.Millisecond
	}
	return general
}

// language returns the protocol's name of a file's language, and whether the
// server takes such files.
func (s *Server) language(path string) (string, bool) {
	lang, ok := s.Extensions[strings.ToLower(filepath.Ext(path))]
	return lang, ok
}

// Servers decodes settings of the form {name: {command, args, ...}}. A name of
// the built-in table changes only what is given; {"disabled": true} takes a
// server out. The error names the server and the field.
func Servers(raw json.RawMessage) (map[string]Server, error) {
	var in map[string]json.RawMessage
	if len(raw) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("lspServers must be an object of servers by name: %w", err)
	}
	out := make(map[string]Server, len(in))
	builtin := map[string]bool{}
	for _, s := range table() {
		builtin[s.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		var s Server
		err := json.Unmarshal(in[name], &s)
		if err == nil {
			err = s.check(builtin[name])
		}
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
			err = fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
		}
		if err != nil {
			return nil, fmt.Errorf("lspServers.%s: %w", name, err)
		}
		s.Name = name
		out[name] = s
	}
	return out, nil
}

func (s *Server) check(known bool) error {
	switch {
	case s.Disabled:
		return nil
	case s.Command == "" && !known:
		return errors.New("command is missing: give the program to start")
	case strings.ContainsAny(s.Command, `/\`) && !filepath.IsAbs(s.Command):
		return fmt.Errorf("command %q must be a name in PATH or an absolute path", s.Command)
	case len(s.Extensions) == 0 && !known:
		return errors.New(`extensionToLanguage is missing: give the files it is for, such as {".go": "go"}`)
	case s.Transport != "" && s.Transport != "stdio":
		return fmt.Errorf("transport %q is not supported: only stdio is", s.Transport)
	}
	for ext := range s.Extensions {
		if len(ext) < 2 || ext[0] != '.' || strings.ContainsAny(ext, `/\`) {
			return fmt.Errorf("extensionToLanguage: %q must be an extension with its dot, such as .go", ext)
		}
	}
	for name := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env: %q cannot be the name of a variable", name)
		}
	}
	return nil
}

// over returns the server with what a setting of the same name changes.
func (s Server) over(set Server) Server {
	if set.Command != "" {
		s.Command = set.Command
		s.Args = set.Args
	} else if set.Args != nil {
		s.Args = set.Args
	}
	if len(set.Extensions) > 0 {
		s.Extensions = set.Extensions
	}
	if len(set.Markers) > 0 {
		s.Markers = set.Markers
	}
	s.Env, s.Options, s.Settings = set.Env, set.Options, set.Settings
	s.StartupMS, s.MaxRestarts, s.Disabled = set.StartupMS, set.MaxRestarts, set.Disabled
	return s
}

// catalog lists the servers in the order of preference: configured ones first,
// by name, then the table.
func catalog(set map[string]Server) []Server {
	builtin := map[string]Server{}
	for _, s := range table() {
		builtin[s.Name] = s
	}
	var out []Server
	add := func(s Server) {
		if s.Disabled || s.Command == "" {
			return
		}
		s.Extensions = lowered(s.Extensions)
		out = append(out, s)
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		s := set[name]
		s.Name = name
		if b, ok := builtin[name]; ok {
			s = b.over(s)
		}
		s.configured = true
		add(s)
	}
	for _, s := range table() {
		if _, ok := set[s.Name]; !ok {
			add(s)
		}
	}
	return out
}

func lowered(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[strings.ToLower(k)] = v
	}
	return out
}

// setting answers a server that asks for its configuration: a section of the
// settings by its dotted name, null when there is none.
func (s *Server) setting(section string) json.RawMessage {
	raw := s.Settings
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	for section != "" {
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) != nil {
			return json.RawMessage("null")
		}
		if whole, ok := m[section]; ok { // settings may be written flat
			return whole
		}
		head, rest, _ := strings.Cut(section, ".")
		next, ok := m[head]
		if !ok {
			return json.RawMessage("null")
		}
		raw, section = next, rest
	}
	return raw
}

// environ is the server's own variables.
func (s *Server) environ() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		out = append(out, name+"="+s.Env[name])
	}
	return out
}
