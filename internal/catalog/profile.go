package catalog

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/openharness/oh/provider"
)

// The wires that profiles speak.
const (
	Anthropic = "anthropic" // Messages
	OpenAI    = "openai"    // Chat Completions
	Responses = "responses" // OpenAI's Responses
	Gemini    = "gemini"    // Google's generateContent
	Bedrock   = "bedrock"   // Amazon's Converse
	Ollama    = "ollama"    // Ollama's own chat
)

// Wires returns all wires.
func Wires() []string { return []string{Anthropic, OpenAI, Responses, Gemini, Bedrock, Ollama} }

// Profile is a model service. The zero value is no profile.
type Profile struct {
	Name     string // as a user writes it
	Label    string // for people
	Provider string // the vendor; names the credential in the store
	Wire     string // one of the wires
	Host     provider.Host
	BaseURL  string   // "" where it depends on the account: see Host
	Keys     []string // variables that hold a key for this vendor, the best first
	Tokens   []string // variables that hold a bearer token instead
	Bases    []string // variables that move BaseURL
	Versions []string // variables that name the API's version, sent as api-version
	Chain    string   // [AWS] or [Google]: credentials may come from that cloud's own places; "" for none
	Model    string   // used when none is chosen; "" asks the server
	Prefix   string   // how this vendor's keys begin, if that tells it apart
	Local    bool     // runs on the user's machine: no key, no cost
	Get      string   // address where a key is to be had
	Listed   string   // the service's id at models.dev
	Resells  bool     // it passes on the makers' list prices

	// Headers are sent with each request; nil for most.
	Headers http.Header

	// Missing says why the profile cannot be used and what to use instead; ""
	// for all others.
	Missing string

	hosts   []string          // further hosts; * stands for a part of a name
	also    []string          // further addresses on this machine
	aliases map[string]string // short names of models
}

// The places of credentials that [Profile.Chain] names.
const (
	AWS    = "aws"
	Google = "google"
)

//go:embed profiles.txt
var profileText string

var builtIn = sync.OnceValue(func() []Profile {
	list, err := parseProfiles(profileText)
	if err != nil {
		return nil // a test holds that the table can be read
	}
	return list
})

// parseProfiles reads the table of profiles.
func parseProfiles(table string) ([]Profile, error) {
	list := make([]Profile, 0, 64)
	n := 0
	for line := range strings.Lines(table) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, ok = strings.CutSuffix(name, "]")
			if !ok || name == "" {
				return nil, fmt.Errorf("profiles, line %d: %q is no [name]", n, line)
			}
			list = append(list, Profile{Name: name})
			continue
		}
		key, text, ok := strings.Cut(line, " = ")
		if !ok || len(list) == 0 {
			return nil, fmt.Errorf("profiles, line %d: %q is no key = value of a profile", n, line)
		}
		if !list[len(list)-1].set(key, text) {
			return nil, fmt.Errorf("profiles, line %d: %q cannot be said of a profile", n, line)
		}
	}
	return list, nil
}

// set says one thing of a profile; false when there is no such thing.
func (p *Profile) set(key, text string) bool {
	if to := p.text(key); to != nil {
		*to = text
		return true
	}
	if to := p.names(key); to != nil {
		*to = slices.Clip(strings.Fields(text))
		return true
	}
	kind, name, _ := strings.Cut(key, ".")
	switch kind {
	case "host":
		p.Host = provider.Host(text)
	case "local":
		p.Local = text == "yes"
	case "resells":
		p.Resells = text == "yes"
	case "alias":
		if p.aliases == nil {
			p.aliases = map[string]string{}
		}
		p.aliases[name] = text
	case "header":
		if p.Headers == nil {
			p.Headers = http.Header{}
		}
		p.Headers.Add(name, text)
	default:
		return false
	}
	return true
}

func (p *Profile) text(key string) *string {
	switch key {
	case "label":
		return &p.Label
	case "vendor":
		return &p.Provider
	case "wire":
		return &p.Wire
	case "url":
		return &p.BaseURL
	case "chain":
		return &p.Chain
	case "model":
		return &p.Model
	case "prefix":
		return &p.Prefix
	case "get":
		return &p.Get
	case "listed":
		return &p.Listed
	case "missing":
		return &p.Missing
	}
	return nil
}

func (p *Profile) names(key string) *[]string {
	switch key {
	case "keys":
		return &p.Keys
	case "tokens":
		return &p.Tokens
	case "bases":
		return &p.Bases
	case "versions":
		return &p.Versions
	case "hosts":
		return &p.hosts
	case "also":
		return &p.also
	}
	return nil
}

// Asked reports whether the service itself says what a model is like (see
// [AskServer]) and no table does: servers of this machine, and Ollama's own wire
// wherever it is spoken, which has to name a window that the server has memory
// for.
func (p *Profile) Asked() bool { return p.Local || p.Wire == Ollama }

// Profiles returns the built-in profiles in the order in which they are tried.
func Profiles() []Profile { return slices.Clone(builtIn()) }

// Find returns the built-in profile of that name.
func Find(name string) (Profile, bool) { return findProfile(builtIn(), name) }

func findProfile(list []Profile, name string) (Profile, bool) {
	for i := range list {
		if list[i].Name == name {
			return list[i], true
		}
	}
	return Profile{}, false
}

// ByKey returns the profile that a key belongs to by how it begins.
func ByKey(key string) (Profile, bool) {
	for _, p := range builtIn() {
		if p.Prefix != "" && strings.HasPrefix(key, p.Prefix) {
			return p, true
		}
	}
	return Profile{}, false
}

// ByURL returns the profile whose own address has the host (and port) of base;
// of several at one host the one whose path base is below, else the first.
func ByURL(base string) (Profile, bool) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return Profile{}, false
	}
	host := strings.ToLower(u.Host)
	if h, port, ok := strings.Cut(host, ":"); ok && h == "localhost" {
		host = "127.0.0.1:" + port
	}
	var best Profile
	found, depth := false, -1
	for _, p := range builtIn() {
		d, ok := p.at(host, strings.TrimRight(u.Path, "/")+"/")
		if ok && (!found || d > depth && depth >= 0) {
			best, found, depth = p, true, d
		}
	}
	return best, found
}

// at reports whether the service is at a host, and how much of a path below it
// is the service's own.
func (p *Profile) at(host, dir string) (depth int, ok bool) {
	if own, err := url.Parse(p.BaseURL); err == nil && own.Host != "" && own.Host == host {
		if way := strings.TrimRight(own.Path, "/") + "/"; strings.HasPrefix(dir, way) {
			return len(way), true
		}
		return 0, true
	}
	return 0, slices.ContainsFunc(p.hosts, func(pattern string) bool {
		ok, err := path.Match(pattern, host)
		return ok && err == nil
	})
}

// home reports whether the profile is at an address of its vendor's.
func (p *Profile) home(list []Profile) bool {
	u, err := url.Parse(p.BaseURL)
	if err != nil || u.Host == "" {
		return false
	}
	own, ok := findProfile(list, p.Name)
	if !ok {
		own, ok = byVendor(list, p.Provider)
	}
	if !ok {
		return false
	}
	_, ok = own.at(strings.ToLower(u.Host), "/")
	return ok
}

// byVendor returns the first profile of a vendor.
func byVendor(list []Profile, vendor string) (Profile, bool) {
	for i := range list {
		if vendor != "" && list[i].Provider == vendor {
			return list[i], true
		}
	}
	return Profile{}, false
}

// Variables returns the names of all variables that hold keys or tokens of
// built-in profiles, in table order.
func Variables() []string {
	var names []string
	for _, p := range builtIn() {
		for _, name := range slices.Concat(p.Keys, p.Tokens) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
