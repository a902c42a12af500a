package config

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/openharness/oh/internal/catalog"
)

// models reads what is said of models.
func (b *builder) models(l *layer, n *node) {
	b.modelFacts(l, "models", n, &b.out.Settings.ModelFacts)
}

// modelFacts merges models by name, and field by field.
func (b *builder) modelFacts(l *layer, at string, n *node, into *map[string]catalog.Fields) {
	if n.kind != '{' {
		b.fault(l, at, n, "must be an object of models by their names, or a beginning that ends in *, not "+n.what())
		return
	}
	for _, name := range n.keys {
		key := join(at, name)
		v := n.kids[name]
		if v.kind == 'n' {
			continue
		}
		if v.kind != '{' {
			b.fault(l, key, v, "must be an object, not "+v.what())
			continue
		}
		if problem := badModelName(name); problem != "" {
			b.fault(l, key, v, problem)
			continue
		}
		b.facts(l, key, name, v, into)
	}
}

func badModelName(name string) string {
	switch stem := strings.TrimSuffix(name, "*"); {
	case strings.TrimSpace(name) == "":
		return "must be named"
	case strings.Contains(stem, "*"):
		return "may have * only as its last character"
	}
	return ""
}

func (b *builder) facts(l *layer, key, name string, n *node, into *map[string]catalog.Fields) {
	have := catalog.Fields{}
	for field, raw := range (*into)[name] {
		have[field] = raw
	}
	for _, field := range n.keys {
		v := n.kids[field]
		if v.kind == 'n' {
			continue
		}
		raw := v.json()
		if err := catalog.CheckField(field, raw); err != nil {
			b.fault(l, join(key, field), v, err.Error())
			continue
		}
		have[field] = raw
		b.note(join(key, field), l.origin(v))
	}
	if len(have) > 0 {
		*into = put(*into, name, have)
		b.note(key, l.origin(n))
	}
}

// catalogURL takes an address from the user's or the system's own files only.
func (b *builder) catalogURL(l *layer, n *node) {
	const key = "catalog_url"
	switch {
	case !l.owned():
		b.fault(l, key, n, "counts only in a file of your own, not in a project's")
	case n.kind != '"':
		b.fault(l, key, n, "must be text, not "+n.what())
	default:
		b.out.Settings.CatalogURL = n.text
		b.note(key, l.origin(n))
	}
}

// factPath splits what follows models. into a model's name, which may hold
// dots, and perhaps a field.
func factPath(rest string) []string {
	for _, f := range catalog.FieldNames() {
		if name, ok := strings.CutSuffix(rest, "."+f); ok && name != "" {
			return []string{name, f}
		}
	}
	return []string{rest}
}

// CatalogFile is where the refreshed catalogue is kept.
func (p Paths) CatalogFile() string { return filepath.Join(p.Data, catalog.FileName) }

// Catalog makes a catalogue with the refreshed file and these settings laid
// over the built-in tables. Nothing is read before it is asked.
func (l *Loaded) Catalog() *catalog.Catalog {
	c := catalog.Config{File: l.Paths.CatalogFile(), Models: l.Settings.ModelFacts, Profiles: map[string]map[string]catalog.Fields{}}
	for name, p := range l.Settings.Profiles {
		if len(p.ModelFacts) > 0 {
			c.Profiles[name] = p.ModelFacts
		}
	}
	if l.Settings.EmptyReasoning {
		// The switch is older than the facts: it holds for all models about
		// which nothing else is said.
		c.Models = map[string]catalog.Fields{"*": {"empty_reasoning": json.RawMessage("true")}}
		for name, f := range l.Settings.ModelFacts {
			if name != "*" {
				c.Models[name] = f
				continue
			}
			for key, raw := range f {
				c.Models["*"][key] = raw
			}
		}
	}
	return catalog.Load(c)
}
