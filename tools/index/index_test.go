package index

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openharness/oh"
)

func specs() []oh.ToolSpec {
	var out []oh.ToolSpec
	for _, x := range []struct{ name, desc string }{
		{"notebook_edit", "Edits a cell of a notebook."}, {"web_search", "Searches the web."}, {"web_fetch", "Fetches a page of the web."},
		{"sleep", "Waits."},
	} {
		out = append(out, oh.ToolSpec{Name: x.name, Description: x.desc, Schema: json.RawMessage(`{"type":"object","properties":{"` + x.name + `_field":{}}}`)})
	}
	return out
}

func TestSearch(t *testing.T) {
	for _, c := range []struct{ query, first, has, not string }{
		{"web_fetch", "web_fetch: Fetches", "web_fetch_field", "notebook"},
		{"select:sleep", "sleep: Waits", "sleep_field", "web"},
		{"Search the WEB", "web_search: Searches", "web_fetch", "sleep"},
		{"cell", "notebook_edit: ", "notebook_edit_field", "sleep"},
		{"", "notebook_edit: ", "web_search: ", "Also"},
		{"teleport", "No tool fits teleport. There are: notebook_edit, web_search, web_fetch, sleep", "", "input:"},
	} {
		res, err := search(specs(), c.query)
		got := res.Content.Text()
		if err != nil || !strings.HasPrefix(got, c.first) || !strings.Contains(got, c.has) || strings.Contains(got, c.not) {
			t.Errorf("%q: %s, %v", c.query, got, err)
		}
	}
}

func TestManyAreNamed(t *testing.T) {
	var many []oh.ToolSpec
	for i := range 30 {
		many = append(many, oh.ToolSpec{Name: "tool_" + string(rune('a'+i%26)) + string(rune('a'+i/26)), Description: "x"})
	}
	res, _ := search(many, "tool")
	if n := strings.Count(res.Content.Text(), "input:"); n != maxFound || !strings.Contains(res.Content.Text(), "Also: ") {
		t.Errorf("%d are described: %s", n, res.Content.Text())
	}
}

func TestDescriptionNamesThem(t *testing.T) {
	tools := Tools([]string{"a_tool", "b_tool"}, specs)
	if s := tools[0].Spec(); s.Name != "tool_search" || !strings.Contains(s.Description, "a_tool, b_tool") {
		t.Errorf("%+v", s)
	}
	if s := tools[1].Spec(); s.Name != "call_tool" || !strings.Contains(string(s.Schema), `"required":["name","input"]`) {
		t.Errorf("%+v", s)
	}
}
