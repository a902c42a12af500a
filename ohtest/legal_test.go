package ohtest

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/openharness/oh"
)

func user(blocks ...oh.Block) oh.Message      { return oh.Message{Role: oh.User, Content: blocks} }
func assistant(blocks ...oh.Block) oh.Message { return oh.Message{Role: oh.Assistant, Content: blocks} }
func say(s string) oh.Block                   { return oh.Text{Text: s} }
func use(id string) oh.Block                  { return oh.ToolUse{ID: id, Name: "read", Input: json.RawMessage(`{}`)} }
func result(id string) oh.Block {
	return oh.ToolResult{ToolUseID: id, Content: oh.Blocks{say("done")}}
}

func TestCheckRequest(t *testing.T) {
	img, err := base64.StdEncoding.DecodeString(picture(t, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	spec := (&Tool{Name: "read"}).Spec()
	for name, tt := range map[string]struct {
		rule string // "" when the request is legal
		msgs []oh.Message
		edit func(*oh.Request)
	}{
		"text":     {"", []oh.Message{user(say("a"))}, nil},
		"calls":    {"", []oh.Message{user(say("a")), assistant(oh.Thinking{}, say("b"), use("1"), use("2")), user(result("2"), result("1"), say("c"))}, nil},
		"image":    {"", []oh.Message{user(oh.Image{MediaType: "image/png", Data: img}, oh.Document{MediaType: "application/pdf", Data: []byte("x")})}, nil},
		"unknown":  {"", []oh.Message{user(oh.Unknown{Type: "x"}), assistant(oh.Unknown{Type: "x"}), user(say("a"))}, nil},
		"no text":  {"", []oh.Message{user(say("a")), assistant(use("1")), user(oh.ToolResult{ToolUseID: "1"})}, nil},
		"tools":    {"", []oh.Message{user(say("a"))}, func(r *oh.Request) { r.Tools = []oh.ToolSpec{spec} }},
		"none":     {"messages-empty", nil, nil},
		"first":    {"role-order", []oh.Message{assistant(say("a")), user(say("b"))}, nil},
		"twice":    {"role-order", []oh.Message{user(say("a")), user(say("b"))}, nil},
		"role":     {"role-order", []oh.Message{{Role: "system", Content: oh.Blocks{say("a")}}}, nil},
		"last":     {"role-last", []oh.Message{user(say("a")), assistant(say("b"))}, nil},
		"content":  {"content-empty", []oh.Message{user()}, nil},
		"blank":    {"blank-text", []oh.Message{user(say(" \n"))}, nil},
		"blank 2":  {"blank-text", []oh.Message{user(say("a")), assistant(say(""), use("1")), user(result("1"))}, nil},
		"blank 3":  {"blank-text", []oh.Message{user(say("a")), assistant(use("1")), user(oh.ToolResult{ToolUseID: "1", Content: oh.Blocks{say("")}})}, nil},
		"utf8":     {"utf8", []oh.Message{user(say("a\xff"))}, nil},
		"utf8 2":   {"utf8", []oh.Message{user(say("a")), assistant(oh.ToolUse{ID: "1", Name: "x", Input: json.RawMessage("{\"a\":\"\xff\"}")}), user(result("1"))}, nil},
		"system":   {"utf8", []oh.Message{user(say("a"))}, func(r *oh.Request) { r.System = "\xff" }},
		"open":     {"call-unanswered", []oh.Message{user(say("a")), assistant(use("1")), user(say("b"))}, nil},
		"open 2":   {"call-unanswered", []oh.Message{user(say("a")), assistant(use("1"), use("2")), user(result("1"))}, nil},
		"open 3":   {"call-unanswered", []oh.Message{user(say("a")), assistant(use("1")), assistant(say("b")), user(say("c"))}, nil},
		"open 4":   {"call-unanswered", []oh.Message{user(say("a")), assistant(use("1"))}, nil},
		"late":     {"result-orphan", []oh.Message{user(say("a")), assistant(use("1")), user(say("b")), assistant(say("c")), user(result("1"))}, nil},
		"orphan":   {"result-orphan", []oh.Message{user(result("1"))}, nil},
		"double":   {"result-duplicate", []oh.Message{user(say("a")), assistant(use("1")), user(result("1"), result("1"))}, nil},
		"order":    {"result-order", []oh.Message{user(say("a")), assistant(use("1")), user(say("b"), result("1"))}, nil},
		"same id":  {"call-duplicate", []oh.Message{user(say("a")), assistant(use("1")), user(result("1")), assistant(use("1")), user(result("1"))}, nil},
		"bad id":   {"call-id", []oh.Message{user(say("a")), assistant(use("a.b")), user(result("a.b"))}, nil},
		"no id":    {"call-id", []oh.Message{user(say("a")), assistant(use("")), user(result(""))}, nil},
		"name":     {"tool-name", []oh.Message{user(say("a")), assistant(oh.ToolUse{ID: "1", Name: "a b", Input: json.RawMessage(`{}`)}), user(result("1"))}, nil},
		"input":    {"call-input", []oh.Message{user(say("a")), assistant(oh.ToolUse{ID: "1", Name: "x", Input: json.RawMessage(`[]`)}), user(result("1"))}, nil},
		"no input": {"call-input", []oh.Message{user(say("a")), assistant(oh.ToolUse{ID: "1", Name: "x"}), user(result("1"))}, nil},
		"block":    {"block-type", []oh.Message{user(say("a")), assistant(result("1")), user(say("b"))}, nil},
		"block 2":  {"block-type", []oh.Message{user(use("1"))}, nil},
		"block 3":  {"block-type", []oh.Message{user(say("a")), assistant(use("1")), user(oh.ToolResult{ToolUseID: "1", Content: oh.Blocks{use("2")}})}, nil},
		"opaque":   {"json", []oh.Message{user(say("a")), assistant(oh.Thinking{Opaque: &oh.Opaque{Data: json.RawMessage(`{`)}}), user(say("b"))}, nil},
		"media":    {"image-type", []oh.Message{user(oh.Image{MediaType: "image/bmp", Data: img})}, nil},
		"picture":  {"image-data", []oh.Message{user(oh.Image{MediaType: "image/png", Data: img[:9]})}, nil},
		"empty":    {"document", []oh.Message{user(oh.Document{})}, nil},
		"limit":    {"max-tokens", []oh.Message{user(say("a"))}, func(r *oh.Request) { r.MaxTokens = -1 }},
		"tool":     {"tool-name", []oh.Message{user(say("a"))}, func(r *oh.Request) { r.Tools = []oh.ToolSpec{{Name: "a.b", Schema: spec.Schema}} }},
		"tools 2":  {"tool-duplicate", []oh.Message{user(say("a"))}, func(r *oh.Request) { r.Tools = []oh.ToolSpec{spec, spec} }},
		"schema":   {"schema", []oh.Message{user(say("a"))}, func(r *oh.Request) { r.Tools = []oh.ToolSpec{{Name: "a", Schema: json.RawMessage(`{"type":"array"}`)}} }},
		"schema 2": {"json", []oh.Message{user(say("a"))}, func(r *oh.Request) { r.Tools = []oh.ToolSpec{{Name: "a"}} }},
	} {
		req := &oh.Request{Model: "m", Messages: tt.msgs}
		if tt.edit != nil {
			tt.edit(req)
		}
		found := CheckRequest(req)
		switch {
		case tt.rule == "" && len(found) > 0:
			t.Errorf("%s: %s", name, describe(found))
		case tt.rule != "" && !slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == tt.rule }):
			t.Errorf("%s: rule %s not reported, but %v", name, tt.rule, found)
		}
	}
}

func TestCheckSpec(t *testing.T) {
	type in struct {
		Path string   `json:"path"`
		Tags []string `json:"tags,omitempty"`
	}
	spec := oh.NewTool(oh.ToolDef[in]{Name: "read", Doc: "Reads."}).Spec()
	if found := CheckSpec(spec); len(found) > 0 {
		t.Error(describe(found))
	}
	none := oh.NewTool(oh.ToolDef[struct{}]{Name: "now", Doc: "Tells the time."}).Spec()
	if found := CheckSpec(none); len(found) > 0 {
		t.Error(describe(found))
	}
	spec.Description = ""
	spec.Name = strings.Repeat("x", 65)
	found := CheckSpec(spec)
	if len(found) != 2 || found[0].Rule != "blank-text" || found[1].Rule != "tool-name" {
		t.Errorf("got %v", found)
	}
}
