// Package index keeps rarely used tools out of the prompt: they are listed by
// name, tool_search tells their schemas, and call_tool runs them. The prompt's
// prefix never moves, however many there are.
//
// The engine looks through call_tool, so that gate, hooks and events are those
// of the tool that is meant; here is only what the model is told of it.
package index

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

//go:embed search.md
var searchDoc string

//go:embed call.md
var callDoc string

// maxFound is how many tools one search describes.
const maxFound = 8

// Tools returns tool_search and call_tool for deferred tools, whose names are
// part of the description. specs is asked at each search, so that tools that
// come later are found too.
func Tools(names []string, specs func() []oh.ToolSpec) []oh.Tool {
	return []oh.Tool{
		oh.NewTool(oh.ToolDef[searchInput]{
			Name: "tool_search", Doc: strings.Replace(searchDoc, "{names}", strings.Join(names, ", "), 1),
			Prepare: func(_ context.Context, _ *oh.Call, in searchInput) (oh.Action, error) {
				return oh.Action{Access: oh.Access{ReadOnly: true}, Run: func(context.Context, func(oh.Event)) (oh.Result, error) {
					return search(specs(), in.Query)
				}}, nil
			},
		}),
		oh.NewTool(oh.ToolDef[callInput]{
			Name: "call_tool", Doc: callDoc,
			Prepare: func(context.Context, *oh.Call, callInput) (oh.Action, error) {
				return oh.Action{}, errors.New("call_tool stands for another tool and does nothing by itself")
			},
		}),
	}
}

type searchInput struct {
	Query string `json:"query"`
}

type callInput struct {
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
}

// found is a tool with how well it fits.
type found struct {
	spec  oh.ToolSpec
	score int
}

// search describes the tools that fit best: by name before by description.
func search(specs []oh.ToolSpec, query string) (oh.Result, error) {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" ,;:|\t\n", r) })
	var hits []found
	for _, s := range specs {
		name, desc := strings.ToLower(s.Name), strings.ToLower(s.Description)
		joined := strings.ReplaceAll(name, "_", "") // as in WebFetch
		score := 0
		for _, w := range words {
			w = strings.TrimPrefix(w, "select:")
			switch {
			case w == name || w == joined:
				score += 100
			case strings.Contains(name, w):
				score += 10
			case strings.Contains(desc, w):
				score++
			}
		}
		if score > 0 || len(words) == 0 {
			hits = append(hits, found{s, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b found) int {
		return cmp.Or(b.score-a.score, strings.Compare(a.spec.Name, b.spec.Name))
	})
	if len(hits) == 0 {
		var names []string
		for _, s := range specs {
			names = append(names, s.Name)
		}
		return oh.TextResult("No tool fits " + text.OneLine(query, 100) + ". There are: " + strings.Join(names, ", ")), nil
	}
	var b strings.Builder
	for i, h := range hits {
		if i == maxFound {
			b.WriteString("Also: ")
			for j, more := range hits[i:] {
				if j > 0 {
					b.WriteString(", ")
				}
				b.WriteString(more.spec.Name)
			}
			b.WriteByte('\n')
			break
		}
		b.WriteString(h.spec.Name + ": " + h.spec.Description + "\ninput: ")
		b.Write(schemaOf(h.spec))
		b.WriteString("\n\n")
	}
	res := oh.TextResult(strings.TrimSpace(b.String()))
	res.Display = oh.Count{N: len(hits), Unit: "tool"}
	return res, nil
}

func schemaOf(s oh.ToolSpec) json.RawMessage {
	if len(s.Schema) == 0 {
		return json.RawMessage("{}")
	}
	return s.Schema
}
