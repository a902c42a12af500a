package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Scenario is what the model does in a run.
type Scenario struct {
	Model  string // the name by which it is asked for
	Turns  int    // replies with calls, before the last one without
	Calls  int    // of each such reply
	Tool   string // that is called: bash or read_file
	Bash   string // the command
	Prose  int    // replies at the start that also have about Long bytes of text
	Long   int
	Deltas int // of the last reply's text
}

// Files is how many files bench-read-8 asks for: f0.txt to f7.txt in the working
// directory.
const Files = 8

// scenarios is what can be asked for.
func scenarios() []Scenario {
	return []Scenario{
		{Model: "bench-one", Deltas: 10},
		{Model: "bench-bash-100", Turns: 100, Calls: 1, Tool: "bash", Bash: "echo hello", Deltas: 10},
		{Model: "bench-turns-1000", Turns: 1000, Calls: 1, Tool: "bash", Bash: "true", Deltas: 10},
		{Model: "bench-read-8", Turns: 20, Calls: Files, Tool: "read_file", Deltas: 10},
		{Model: "bench-history", Turns: 160, Calls: 1, Tool: "bash", Bash: "true", Prose: 100, Long: 10_000, Deltas: 10},
		{Model: "bench-deltas", Deltas: 20_000},
	}
}

// Find returns the scenario of a model name.
func Find(name string) (Scenario, error) {
	all := scenarios()
	i := slices.IndexFunc(all, func(s Scenario) bool { return s.Model == name })
	if i < 0 {
		return Scenario{}, fmt.Errorf("no scenario is named %q; see bench/model/scenario.go", name)
	}
	return all[i], nil
}

// script makes the replies of a scenario. What takes long to make is made
// before the first answer.
type script struct {
	Scenario
	last []byte
	long string
}

func newScript(sc Scenario) *script {
	s := &script{Scenario: sc}
	var b builder
	b.begin(sc.Model)
	b.text(0, piece, sc.Deltas)
	b.end("end_turn")
	s.last = b.out
	s.long = strings.Repeat(prose, sc.Long/len(prose))
	return s
}

const (
	piece = "Some words of it. "
	prose = "func f(a int) string {\n\treturn \"<é>\" + strconv.Itoa(a)\n}\n"
)

// reply returns the answer to the request number n, from 0.
func (s *script) reply(n int) ([]byte, error) {
	switch {
	case n > s.Turns:
		return nil, fmt.Errorf("%s: request %d came after the last reply", s.Model, n+1)
	case n == s.Turns:
		return s.last, nil
	}
	var b builder
	b.begin(s.Model)
	index := 0
	if n < s.Prose {
		b.long(index, s.long)
		index++
	}
	for i := range s.Calls {
		b.call(index+i, fmt.Sprintf("toolu_%06d_%d", n, i), s.Tool, s.input(i))
	}
	b.end("tool_use")
	return b.out, nil
}

func (s *script) input(i int) string {
	if s.Tool == "read_file" {
		return fmt.Sprintf(`{"path":"f%d.txt"}`, i)
	}
	return `{"command":` + strconv.Quote(s.Bash) + `}`
}

// builder writes the events of one reply.
type builder struct{ out []byte }

func (b *builder) event(name, format string, args ...any) {
	b.out = append(b.out, "event: "+name+"\ndata: {\"type\":\""+name+"\""...)
	b.out = fmt.Appendf(b.out, format, args...)
	b.out = append(b.out, "}\n\n"...)
}

func (b *builder) begin(model string) {
	b.event("message_start", `,"message":{"id":"msg_bench","type":"message","role":"assistant","model":%q,"content":[],`+
		`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}`, model)
}

func (b *builder) text(index int, piece string, deltas int) {
	b.event("content_block_start", `,"index":%d,"content_block":{"type":"text","text":""}`, index)
	for range deltas {
		b.event("content_block_delta", `,"index":%d,"delta":{"type":"text_delta","text":%q}`, index, piece)
	}
	b.event("content_block_stop", `,"index":%d`, index)
}

// long writes a text in pieces of about 100 bytes.
func (b *builder) long(index int, text string) {
	b.event("content_block_start", `,"index":%d,"content_block":{"type":"text","text":""}`, index)
	for len(text) > 0 {
		n := min(100, len(text))
		for n < len(text) && text[n]&0xc0 == 0x80 {
			n++
		}
		b.event("content_block_delta", `,"index":%d,"delta":{"type":"text_delta","text":%q}`, index, text[:n])
		text = text[n:]
	}
	b.event("content_block_stop", `,"index":%d`, index)
}

func (b *builder) call(index int, id, tool, input string) {
	b.event("content_block_start", `,"index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}`, index, id, tool)
	b.event("content_block_delta", `,"index":%d,"delta":{"type":"input_json_delta","partial_json":%q}`, index, input)
	b.event("content_block_stop", `,"index":%d`, index)
}

func (b *builder) end(stop string) {
	b.event("message_delta", `,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":20}`, stop)
	b.event("message_stop", "")
}
