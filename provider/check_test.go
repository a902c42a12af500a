package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestCheckTools(t *testing.T) {
	object := []byte(`{"type":"object"}`)
	kept, dropped := CheckTools([]oh.ToolSpec{
		{Name: "fine", Schema: object}, {Name: "missing"}, {Name: "hopeless", Schema: []byte(`{"type":"string"}`)},
		{Name: "broken", Schema: []byte(`{`)}, {Name: "fine", Schema: object}, {Name: "a.b", Schema: object}, {Name: oh.LegalName("a.b"), Schema: object},
	})
	var names []string
	for _, s := range kept {
		names = append(names, s.Name)
	}
	if d := cmp.Diff([]string{"fine", "missing", "a.b"}, names); d != "" {
		t.Errorf("kept (-want +got):\n%s", d)
	}
	want := []string{`"hopeless"`, `"broken"`, `"fine"`, oh.LegalName("a.b")}
	if len(dropped) != len(want) {
		t.Fatalf("dropped %v", dropped)
	}
	for i, err := range dropped {
		if !strings.Contains(err.Error(), want[i]) {
			t.Errorf("%v does not name %s", err, want[i])
		}
	}
}
