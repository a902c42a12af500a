package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

func (t target) params() docPosition {
	return docPosition{docID{URI: toURI(t.place.Real)}, t.at}
}

// locate asks for places, such as those of a definition.
func (q *query) locate(ctx context.Context, t target, method string, params any) ([]location, error) {
	var locs []location
	err := q.patient(ctx, t.client, func() (int, error) {
		var raw json.RawMessage
		err := t.client.call(ctx, method, params, &raw)
		if err == nil {
			locs, err = locations(raw)
		}
		return len(locs), err
	})
	return locs, err
}

// definition answers go_to_definition; a name alone may have several.
func (q *query) definition(ctx context.Context) (oh.Result, error) {
	list, err := q.targets(ctx)
	if err != nil {
		return oh.Result{}, err
	}
	var all []location
	for _, t := range list {
		if err := q.can(t.client, t.client.caps.Definition); err != nil {
			return oh.Result{}, err
		}
		locs, err := q.locate(ctx, t, "textDocument/definition", t.params())
		if err != nil {
			return oh.Result{}, err
		}
		all = append(all, locs...)
	}
	return q.result(q.hits("definition", all), "definition"), nil
}

// references answers find_references.
func (q *query) references(ctx context.Context, t target) (oh.Result, error) {
	if err := q.can(t.client, t.client.caps.References); err != nil {
		return oh.Result{}, err
	}
	locs, err := q.locate(ctx, t, "textDocument/references", struct {
		docPosition
		Context map[string]bool `json:"context"`
	}{t.params(), map[string]bool{"includeDeclaration": true}})
	if err != nil {
		return oh.Result{}, err
	}
	hits := q.hits("reference", locs)
	sortHits(hits)
	return q.result(hits, "reference"), nil
}

// hover answers hover: what the server says about a name.
func (q *query) hover(ctx context.Context, t target) (oh.Result, error) {
	if err := q.can(t.client, t.client.caps.Hover); err != nil {
		return oh.Result{}, err
	}
	var said string
	err := q.patient(ctx, t.client, func() (int, error) {
		var res struct {
			Contents json.RawMessage `json:"contents"`
		}
		err := t.client.call(ctx, "textDocument/hover", t.params(), &res)
		said = hoverText(res.Contents)
		return len(said), err
	})
	if err != nil {
		return oh.Result{}, err
	}
	said = text.Cut(text.Clean(said), maxHover)
	if said == "" {
		said = "(no results)"
	}
	h := q.hit("", t.name, t.place.Real, t.at)
	return q.finish(fmt.Sprintf("%s - %s:%d:%d\n%s", h.name, q.show(h.path), h.line, h.col, said)), nil
}

// calls answers incoming_calls and outgoing_calls.
func (q *query) calls(ctx context.Context, t target) (oh.Result, error) {
	if err := q.can(t.client, t.client.caps.CallHierarchy); err != nil {
		return oh.Result{}, err
	}
	var items []callItem
	err := q.patient(ctx, t.client, func() (int, error) {
		items = nil
		err := t.client.call(ctx, "textDocument/prepareCallHierarchy", t.params(), &items)
		return len(items), err
	})
	if err != nil {
		return oh.Result{}, err
	}
	if len(items) == 0 {
		return oh.Result{}, fmt.Errorf("%s is nothing that can be called", q.subject())
	}
	var hits []hit
	for _, item := range items {
		list, err := q.callsOf(ctx, t.client, item)
		if err != nil {
			return oh.Result{}, err
		}
		hits = append(hits, list...)
	}
	return q.result(hits, "call"), nil
}

// callsOf lists who calls an item, or whom it calls, with the lines of the
// calls.
func (q *query) callsOf(ctx context.Context, c *client, item callItem) ([]hit, error) {
	method := "callHierarchy/incomingCalls"
	if q.in.Operation == opOutgoing {
		method = "callHierarchy/outgoingCalls"
	}
	var list []struct {
		From   *callItem `json:"from"`
		To     *callItem `json:"to"`
		Ranges []span    `json:"fromRanges"`
	}
	if err := c.call(ctx, method, map[string]json.RawMessage{"item": item.raw}, &list); err != nil {
		return nil, err
	}
	var hits []hit
	for _, l := range list {
		other := l.From
		if q.in.Operation == opOutgoing {
			other = l.To
		}
		if other == nil {
			continue
		}
		path, ok := fromURI(other.URI)
		if !ok {
			continue
		}
		h := q.hit(kindName(other.Kind), plainName(other.Name), path, other.Selection.Start)
		h.more = callLines(l.Ranges)
		hits = append(hits, h)
	}
	return hits, nil
}

const maxLines = 20 // of calls that are listed for one function

// callLines lists the lines of calls; they lie in the caller's file.
func callLines(ranges []span) string {
	var lines []string
	seen := map[int]bool{}
	for _, r := range ranges {
		n := r.Start.Line + 1
		if seen[n] {
			continue
		}
		seen[n] = true
		if len(lines) == maxLines {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, fmt.Sprint(n))
	}
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return " (call on line " + lines[0] + ")"
	}
	return " (calls on lines " + strings.Join(lines, ", ") + ")"
}
