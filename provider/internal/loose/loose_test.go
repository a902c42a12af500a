package loose

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCount(t *testing.T) {
	type report struct{ N Count }
	for raw, want := range map[string]Count{
		`12`: 12, `"12"`: 12, `12.0`: 12, `1.2e3`: 1200, ` 7 `: 7, `0`: 0, `-3`: 0, `null`: 0, `"x"`: 0, `""`: 0, `true`: 0,
		`{}`: 0, `[1]`: 0, `1e999`: 0, `1e15`: 0, `"NaN"`: 0,
	} {
		var got report
		if err := json.Unmarshal([]byte(`{"N":`+raw+`}`), &got); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if d := cmp.Diff(report{want}, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", raw, d)
		}
	}
}

func TestPresent(t *testing.T) {
	for raw, want := range map[string]bool{
		"": false, "null": false, "false": false, `""`: false, "{}": false,
		"0": true, "true": true, `"x"`: true, `{"a":null}`: true, "[]": true,
	} {
		if got := Present(json.RawMessage(raw)); got != want {
			t.Errorf("%q: %v", raw, got)
		}
	}
}
