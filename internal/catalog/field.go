package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider"
)

// Fields is what is said of a model, by the names of [FieldNames], as JSON
// values.
type Fields map[string]json.RawMessage

// field is one fact about a model: its name in settings, a shorter one for the
// table, and where it goes.
type field struct {
	key   string
	short string // "" where the table has no other name
	kind  kind
	words []string // for one-of, the first is the zero value
	set   func(i *Info, v value)
}

type kind int

const (
	count kind = iota // a whole number above 0
	price             // dollars per million tokens, 0 or more
	yesno
	oneOf
	list // of words
	word
)

// value is a fact as it was read; only what its kind says is set.
type value struct {
	n     int
	price float64
	on    bool
	text  string
	list  []string
}

// fields is the table of all facts.
var fields = sync.OnceValue(func() []field {
	return []field{
		{"context_window", "window", count, nil, func(i *Info, v value) { i.Window, i.Sure = v.n, true }},
		{"long_context_window", "long", count, nil, func(i *Info, v value) { i.Long = v.n }},
		{"max_output_tokens", "output", count, nil, func(i *Info, v value) { i.MaxOutput = v.n }},
		{"vision", "", yesno, nil, func(i *Info, v value) { i.Vision, i.seen = v.on, true }},
		{"documents", "", yesno, nil, func(i *Info, v value) { i.Documents = v.on }},
		{"tools", "", yesno, nil, func(i *Info, v value) { i.Quirks.NoTools = !v.on }},
		{"thinking", "", oneOf, []string{"none", ThinkBudget, ThinkAdaptive, ThinkEffort, ThinkLevels}, func(i *Info, v value) { i.Thinking = v.text }},
		{"efforts", "", list, nil, func(i *Info, v value) { i.Efforts = v.list }},
		{"max_budget", "", count, nil, func(i *Info, v value) { i.MaxBudget = v.n }},
		{"token_field", "", oneOf, []string{"max_tokens", "max_completion_tokens"}, func(i *Info, v value) { i.TokenField = v.text }},
		{"cache", "", oneOf, []string{"none", CacheAuto, CacheMarks}, func(i *Info, v value) { i.Cache = v.text }},
		{"input_price", "", price, nil, func(i *Info, v value) { i.Price.In, i.in = v.price, true }},
		{"output_price", "", price, nil, func(i *Info, v value) { i.Price.Out, i.out = v.price, true }},
		{"cache_read_price", "", price, nil, func(i *Info, v value) { i.Price.CacheRead = v.price }},
		{"cache_write_price", "", price, nil, func(i *Info, v value) { i.Price.CacheWrite = v.price }},
		{"reasoning_field", "", oneOf, []string{"as_it_came", "reasoning_content", "reasoning", "reasoning_details"}, func(i *Info, v value) { i.Quirks.ReasoningField = v.text }},
		{"return_reasoning", "", yesno, nil, func(i *Info, v value) { i.Quirks.NoReasoning = !v.on }},
		{"empty_reasoning", "", yesno, nil, func(i *Info, v value) { i.Quirks.EmptyReasoning = v.on }},
		{"image_in_tool_result", "", yesno, nil, func(i *Info, v value) { i.Quirks.ImageInToolResult = v.on }},
		{"response_images", "", yesno, nil, func(i *Info, v value) { i.Quirks.ResponseImages = v.on }},
		{"file_parts", "", yesno, nil, func(i *Info, v value) { i.files = v.on }},
		{"usage_option", "", yesno, nil, func(i *Info, v value) { i.Quirks.NoUsageOption = !v.on }},
		{"cache_key", "", yesno, nil, func(i *Info, v value) { i.Quirks.CacheKey = v.on }},
		{"cache_control", "", yesno, nil, func(i *Info, v value) { i.Quirks.NoCache = !v.on }},
		{"call_ids", "", oneOf, []string{"any", provider.NineID}, func(i *Info, v value) { i.Quirks.CallIDs = v.text }},
		{"schema", "", oneOf, []string{"plain", provider.GeminiSchema, provider.FlatSchema}, func(i *Info, v value) { i.Quirks.Schema = v.text }},
		{"signed_calls", "", yesno, nil, func(i *Info, v value) { i.Quirks.SignedCalls = v.on }},
		{"effort_with_tools", "", oneOf, []string{"as_set", provider.OmitEffort, "none"}, func(i *Info, v value) { i.Quirks.ToolEffort = v.text }},
		{"long_context_beta", "beta", word, nil, func(i *Info, v value) { i.beta = strings.TrimPrefix(v.text, "none") }},
	}
})

// defaultWord is what the first word of these fields is in a codec: nothing.
// token_field has a name on the wire in either case.
func (f *field) defaultWord(w string) bool { return f.key != "token_field" && w == f.words[0] }

// findField returns the field of that name, in settings (long) or in the table.
func findField(key string, table bool) (field, bool) {
	for _, f := range fields() {
		if f.key == key || table && f.short != "" && f.short == key {
			return f, true
		}
	}
	return field{}, false
}

// FieldNames returns the names that can be said of a model in settings.
func FieldNames() []string {
	var names []string
	for _, f := range fields() {
		names = append(names, f.key)
	}
	return names
}

// CheckField says what is wrong with one fact about a model; the words follow
// the field's name.
func CheckField(key string, raw json.RawMessage) error {
	f, ok := findField(key, false)
	if !ok {
		known := FieldNames()
		if near := text.Nearest(key, known); near != "" {
			return fmt.Errorf("is no fact about a model; perhaps %s is meant", near)
		}
		return fmt.Errorf("is no fact about a model; there are %s", strings.Join(known, ", "))
	}
	_, err := f.fromJSON(raw)
	return err
}

// fromJSON reads a value as it stands in settings.
func (f *field) fromJSON(raw json.RawMessage) (value, error) {
	var found any
	if err := json.Unmarshal(raw, &found); err != nil {
		return value{}, errors.New("must be JSON")
	}
	switch v := found.(type) {
	case bool:
		if f.kind == yesno {
			return value{on: v}, nil
		}
	case float64:
		if f.kind == count || f.kind == price {
			return f.fromNumber(v)
		}
	case string:
		if f.kind != yesno && f.kind != count && f.kind != price {
			return f.fromText(v)
		}
	case []any:
		if f.kind == list {
			return f.fromList(v)
		}
	}
	return value{}, errors.New("must be " + f.what())
}

func (f *field) what() string {
	switch f.kind {
	case count:
		return "a whole number of at least 1"
	case price:
		return "a number of US dollars per million tokens, 0 or more"
	case yesno:
		return "true or false"
	case list:
		return "a list of words, the lowest first"
	case oneOf:
		return "one of " + strings.Join(f.words, ", ")
	}
	return "text"
}

func (f *field) fromNumber(v float64) (value, error) {
	switch {
	case f.kind == price && v >= 0 && v <= 1e6:
		return value{price: v}, nil
	case f.kind == count && v >= 1 && v <= 1e9 && v == math.Trunc(v):
		return value{n: int(v)}, nil
	}
	return value{}, errors.New("must be " + f.what())
}

func (f *field) fromList(items []any) (value, error) {
	v := value{list: []string{}}
	for _, item := range items {
		w, ok := item.(string)
		if w = strings.ToLower(strings.TrimSpace(w)); !ok || w == "" || strings.ContainsAny(w, ", \t\n") {
			return value{}, errors.New("must be " + f.what())
		}
		v.list = append(v.list, w)
	}
	return v, nil
}

// fromText reads a value as it stands in the table, and words of settings.
func (f *field) fromText(s string) (value, error) {
	switch f.kind {
	case count, price:
		if n, err := strconv.ParseFloat(s, 64); err == nil && s[0] >= '0' && s[0] <= '9' {
			return f.fromNumber(n)
		}
	case yesno:
		if s == "yes" || s == "no" {
			return value{on: s == "yes"}, nil
		}
	case oneOf:
		if slices.Contains(f.words, s) {
			if f.defaultWord(s) {
				s = ""
			}
			return value{text: s}, nil
		}
	case list:
		if s == "" {
			return value{}, nil
		}
		return value{list: strings.Split(s, ",")}, nil
	case word:
		if s != "" && !strings.ContainsAny(s, " \t\r\n") {
			return value{text: s}, nil
		}
	}
	return value{}, errors.New("must be " + f.what())
}
