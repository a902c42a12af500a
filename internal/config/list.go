package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// Entry is one effective setting, fit to be shown: secrets are hidden.
type Entry struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Origin Origin          `json:"origin"`         // of the value, of a list's last element
	From   []Origin        `json:"from,omitempty"` // of a list's elements, one each
}

// List returns all settings in the order of the table, defaults included;
// members of maps one by one.
func (l *Loaded) List() []Entry {
	var list []Entry
	s := l.Settings
	for _, r := range rows(&s) {
		if r.list {
			list = append(list, l.members(r)...)
			continue
		}
		list = append(list, l.entry(r.key, l.value(r)))
	}
	return list
}

// Get returns one setting by its dotted key, ours or Claude Code's; a map is an
// object with all its members.
func (l *Loaded) Get(key string) (Entry, bool) {
	path, err := keyPath(key)
	if err != nil {
		return Entry{}, false
	}
	key = strings.Join(path, ".")
	members := map[string]any{}
	for _, e := range l.List() {
		if e.Key == key {
			return e, true
		}
		if name, ok := strings.CutPrefix(e.Key, key+"."); ok {
			nest(members, key, name, e.Value)
		}
	}
	var s Settings
	if !slices.ContainsFunc(rows(&s), func(r row) bool { return r.list && r.key == key }) {
		return Entry{}, false
	}
	return l.entry(key, members), true
}

// nest adds a member of a listing to the object of its map; a profile's members
// are objects themselves.
func nest(members map[string]any, key, name string, value json.RawMessage) {
	i := strings.LastIndexByte(name, '.')
	if key != "profiles" || i < 0 {
		members[name] = value
		return
	}
	inner, ok := members[name[:i]].(map[string]any)
	if !ok {
		inner = map[string]any{}
		members[name[:i]] = inner
	}
	inner[name[i+1:]] = value
}

func (l *Loaded) entry(key string, value any) Entry {
	if text, ok := value.(*string); ok {
		shown := hideText(key, *text)
		value = &shown
	}
	data, err := oh.Marshal(value)
	if err != nil {
		data = []byte("null")
	}
	e := Entry{Key: key, Value: data, Origin: l.Origin(key)}
	if len(data) > 0 && data[0] == '[' {
		e.From = slices.Clone(l.origins[key])
	}
	return e
}

func (l *Loaded) value(r row) any {
	switch r.key {
	case "permission.path_rules":
		return noNil(l.Settings.Permission.PathRules)
	case "project_skill_dirs":
		return noNil(l.Settings.SkillDirs)
	case "status_line":
		if l.Settings.StatusLine == nil {
			return nil
		}
		return shownJSON(l.Settings.StatusLine)
	}
	if p, ok := r.ptr.(*[]string); ok {
		return noNil(*p)
	}
	return r.ptr
}

func noNil[V any](list []V) []V {
	if list == nil {
		return []V{}
	}
	return list
}

func (l *Loaded) members(r row) []Entry {
	var list []Entry
	add := func(name string, value any) { list = append(list, l.entry(join(r.key, name), value)) }
	switch r.key {
	case "profiles":
		return l.profileEntries()
	case "models":
		for _, name := range slices.Sorted(maps.Keys(l.Settings.ModelFacts)) {
			add(name, l.Settings.ModelFacts[name])
		}
	case "mcp_servers":
		for _, name := range slices.Sorted(maps.Keys(l.Settings.MCPServers)) {
			add(name, shownJSON(l.Settings.MCPServers[name].JSON))
		}
	case "lsp_servers":
		for _, name := range slices.Sorted(maps.Keys(l.Settings.LSPServers)) {
			add(name, shownJSON(l.Settings.LSPServers[name].JSON))
		}
	case "hooks":
		events := map[string][]json.RawMessage{}
		for _, h := range l.Hooks {
			events[h.Event] = append(events[h.Event], shownJSON(h.Raw))
		}
		for _, name := range slices.Sorted(maps.Keys(events)) {
			add(name, events[name])
		}
	}
	switch p := r.ptr.(type) {
	case *map[string]bool:
		for _, name := range slices.Sorted(maps.Keys(*p)) {
			add(name, (*p)[name])
		}
	case *map[string]string:
		for _, name := range slices.Sorted(maps.Keys(*p)) {
			text := (*p)[name]
			if l.secretVariable(name) && text != "" {
				text = hidden
			}
			add(name, &text)
		}
	}
	return list
}

func (l *Loaded) profileEntries() []Entry {
	var list []Entry
	for _, name := range slices.Sorted(maps.Keys(l.Settings.Profiles)) {
		p := l.Settings.Profiles[name]
		for _, r := range profileRows(&p) {
			if key := join(join("profiles", name), r.key); l.origins[key] != nil {
				list = append(list, l.entry(key, r.ptr))
			}
		}
	}
	return list
}

func shownJSON(raw []byte) json.RawMessage {
	n, err := fromJSON(raw, "")
	if err != nil {
		return json.RawMessage("null")
	}
	return n.shown()
}

// keyPath splits a dotted key into the names that lead to it. Names inside
// maps may hold dots. Claude Code's names become ours.
func keyPath(key string) ([]string, error) {
	var s Settings
	var known []string
	for _, r := range rows(&s) {
		known = append(known, r.key)
		for _, name := range []string{r.key, r.claude} {
			if name == "" {
				continue
			}
			if key == name {
				return strings.Split(r.key, "."), nil
			}
			if rest, ok := strings.CutPrefix(key, name+"."); ok && r.list && rest != "" {
				return memberPath(r.key, rest)
			}
			if strings.HasPrefix(name, key+".") && key != "" {
				return strings.Split(key, "."), nil
			}
		}
	}
	if near := nearest(key, known); near != "" {
		return nil, &Error{File: "oh config", Problem: fmt.Sprintf("%q is no setting; did you mean %q?", key, near)}
	}
	return nil, &Error{File: "oh config", Problem: fmt.Sprintf("%q is no setting (oh config list shows all)", key)}
}

func memberPath(key, rest string) ([]string, error) {
	path := strings.Split(key, ".")
	if key == "models" {
		return append(path, factPath(rest)...), nil
	}
	if key != "profiles" {
		return append(path, rest), nil
	}
	if name, facts, ok := strings.Cut(rest, ".models."); ok && name != "" && facts != "" {
		return append(append(path, name, "models"), factPath(facts)...), nil
	}
	var p Profile
	for _, r := range profileRows(&p) {
		if name, ok := strings.CutSuffix(rest, "."+r.key); ok && name != "" {
			return append(path, name, r.key), nil
		}
	}
	return append(path, rest), nil
}

// nearest returns the known name that ends with what was written, or else the
// most similar one.
func nearest(key string, known []string) string {
	for _, k := range known {
		if strings.HasSuffix(k, "."+key) {
			return k
		}
	}
	return text.Nearest(key, known)
}
