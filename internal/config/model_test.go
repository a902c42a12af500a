package config

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/internal/catalog"
)

func TestModels(t *testing.T) {
	p := newPlace(t, map[string]string{
		"user": `{"models": {
  "big-1.5": {"context_window": 5000, "vision": true, "tools": null},
  "nothing": null
 },
 "profiles": {"work": {"base_url": "https://w.example", "models": {"big-1.5": {"input_price": 2}}}}}`,
		"project": `{"models": {"big-1.5": {"context_window": 6000}}, "profiles": {"work": {"models": {"big-1.5": {"output_price": 3}}}}}`,
	})
	l := p.load(true)
	if len(l.Warnings) > 0 {
		t.Errorf("%v", l.Warnings)
	}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	want := map[string]catalog.Fields{"big-1.5": {"context_window": raw("6000"), "vision": raw("true")}}
	if diff := cmp.Diff(want, l.Settings.ModelFacts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]catalog.Fields{"big-1.5": {"input_price": raw("2"), "output_price": raw("3")}}, l.Settings.Profiles["work"].ModelFacts); diff != "" {
		t.Error(diff)
	}
	if o := l.Origin("models.big-1.5.vision"); o.Line != 2 || o.Scope != User {
		t.Errorf("%+v", o)
	}
	info := l.Catalog().Model("work", "org/BIG-1.5")
	if info.Window != 6000 || !info.Vision || info.Price.In != 2 || info.Price.Out != 3 {
		t.Errorf("%+v", info)
	}
	for key, want := range map[string]string{
		"models":                          `{"big-1.5":{"context_window":6000,"vision":true}}`,
		"models.big-1.5":                  `{"context_window":6000,"vision":true}`,
		"profiles":                        `{"work":{"base_url":"https://w.example","models":{"big-1.5":{"input_price":2,"output_price":3}}}}`,
		"profiles.work.models":            `{"big-1.5":{"input_price":2,"output_price":3}}`,
		"require_empty_reasoning_content": `false`,
	} {
		if e, ok := l.Get(key); !ok || string(e.Value) != want {
			t.Errorf("%s: %s, want %s", key, e.Value, want)
		}
	}

	if l := p.load(false); l.Settings.ModelFacts["big-1.5"]["context_window"] == nil || string(l.Settings.ModelFacts["big-1.5"]["context_window"]) != "5000" {
		t.Errorf("a folder that is not trusted: %s", l.Settings.ModelFacts)
	}
}

func TestBadModels(t *testing.T) {
	p := newPlace(t, map[string]string{"user": `{"models": {"a": 1, "b*c": {}, "": {"vision": true}, "ok": {
"context_window": "big",
"contxt_window": 5,
"vision": true}},
"profiles": {"w": {"models": []}, "x": {"models": {"m": {"thinking": "hard"}}}}}`,
		"project": `{"catalog_url": "https://evil.example/"}`})
	l := p.load(true)
	var got []string
	for _, w := range l.Warnings {
		got = append(got, p.short(w.String()))
	}
	want := []string{
		`user:5: "profiles.w.models": must be an object of models by their names, or a beginning that ends in *, not a list; it is ignored`,
		`user:5: "profiles.x.models.m.thinking": must be one of none, budget, adaptive, effort, levels; it is ignored`,
		`user:1: "models.a": must be an object, not 1; it is ignored`,
		`user:1: "models.b*c": may have * only as its last character; it is ignored`,
		`user:1: "models.": must be named; it is ignored`,
		`user:2: "models.ok.context_window": must be a whole number of at least 1; it is ignored`,
		`user:3: "models.ok.contxt_window": is no fact about a model; perhaps context_window is meant; it is ignored`,
		`project:1: "catalog_url": counts only in a file of your own, not in a project's; it is ignored`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := l.Settings.ModelFacts; len(got) != 1 || string(got["ok"]["vision"]) != "true" {
		t.Errorf("%s", got)
	}
	if l.Settings.CatalogURL != "" {
		t.Errorf("a project moved the catalogue to %s", l.Settings.CatalogURL)
	}
}

func TestSetModels(t *testing.T) {
	p := newPlace(t, nil)
	paths, err := FindPaths(p.options(true))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"models.big-1.5.context_window":          "8000",
		"models.big-1.5.token_field":             `"max_completion_tokens"`,
		"profiles.w.models.small.x.output_price": "1",
		"catalog_url":                            `"https://models.example/api.json"`,
	} {
		if err := Set(context.Background(), paths, User, key, json.RawMessage(value)); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := Set(context.Background(), paths, User, "models.big-1.5.context_window", json.RawMessage(`"8k"`)); err == nil || !strings.Contains(err.Error(), "whole number") {
		t.Errorf("%v", err)
	}
	l := p.load(true)
	if len(l.Warnings) > 0 || string(l.Settings.ModelFacts["big-1.5"]["context_window"]) != "8000" || string(l.Settings.Profiles["w"].ModelFacts["small.x"]["output_price"]) != "1" ||
		l.Settings.CatalogURL != "https://models.example/api.json" {
		data, _ := os.ReadFile(p.path("user"))
		t.Errorf("%v\n%s", l.Warnings, data)
	}
	if got, want := l.Paths.CatalogFile(), filepath.Join(l.Paths.Data, catalog.FileName); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestEmptyReasoningIsAFact(t *testing.T) {
	p := newPlace(t, map[string]string{"user": `{"require_empty_reasoning_content": true, "models": {"*": {"vision": true}, "strict": {"empty_reasoning": false}}}`})
	c := p.load(true).Catalog()
	for name, want := range map[string]bool{"any": true, "strict": false} {
		if i := c.Model("groq", name); i.Quirks.EmptyReasoning != want || !i.Vision {
			t.Errorf("%s: %+v", name, i)
		}
	}
}
