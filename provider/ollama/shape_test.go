package ollama

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/delta"
)

// taken is what came of a stream.
type taken struct {
	Chunks  []oh.Chunk
	Message oh.Message
	Failed  string
}

// take feeds lines; slow keeps no shape between them.
func take(stream string, slow bool) taken {
	var got taken
	a := newAssembler("p/m", "m")
	for line := range strings.Lines(stream) {
		if slow {
			a.shape = delta.Template{}
		}
		if err := a.Feed(nil, []byte(line)); err != nil {
			got.Failed = err.Error()
			break
		}
	}
	a.End()
	got.Chunks, got.Message = a.Take(), a.Message()
	return got
}

func FuzzShape(f *testing.F) {
	const stamped = `{"model":"m","created_at":"2026-01-01T00:00:00.1Z","message":{"role":"assistant",`
	for _, s := range []string{
		stamped + `"content":"a"},"done":false}` + "\n" + strings.Replace(stamped, ".1Z", ".25+02:00", 1) + `"content":"b\n\ud83d"},"done":false}` + "\n" + stamped + `"content":"\ude00"},"done":false}`,
		stamped + `"content":"","thinking":"t"},"done":false}` + "\n" + stamped + `"content":"x","thinking":"u"},"done":false}` + "\n" + stamped + `"content":"y"},"done":true}`,
		stamped + `"content":"a"},"done":false}` + "\n" + strings.Replace(stamped, `"m"`, `"n"`, 1) + `"content":"b"},"eval_count":3}` + "\n" + stamped + `"content":"a"},"done":false}`,
		`{"x\"created_at":"1","message":{"content":"a"}}` + "\n" + `{"x\"created_at":"2","message":{"content":"\"created_at\":\"3\""}}`,
		stamped + `"content":"a"},"error":""}` + "\n" + `{"message":{"content":"a","content":"b"}}` + "\n" + `{"created_at":"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		slow, fast := take(stream, true), take(stream, false)
		if d := cmp.Diff(slow, fast); d != "" {
			t.Errorf("(-slow +fast)\n%s", d)
		}
	})
}

// Lines that differ in their time alone have one shape.
func TestShape(t *testing.T) {
	for _, field := range []string{`"content":"a"`, `"content":"","thinking":"a"`} {
		line := `{"model":"m","created_at":"2026-01-01T00:00:00.123456Z","message":{"role":"assistant",` + field + `},"done":false}`
		a := newAssembler("p/m", "m")
		if err := a.Feed(nil, []byte(line)); err != nil {
			t.Fatal(err)
		}
		next := strings.Replace(line, "00.123456Z", "07.5Z", 1)
		if s, ok := a.shape.Match(a.bare([]byte(next))); !ok || s != "a" {
			t.Errorf("%s: %q, %v", next, s, ok)
		}
	}
}
