package ohtest

import "slices"

// Wire names the protocol of a request.
type Wire string

// The wires.
const (
	Anthropic Wire = "anthropic" // Messages
	OpenAI    Wire = "openai"    // Chat Completions
)

// Rules adjusts the checks of requests. The zero value is the strictest.
type Rules struct {
	// Fields lists further top-level fields that are known, such as the quirk
	// of a service.
	Fields []string

	// MergeRoles allows neighbouring messages of one role, which the services
	// would merge.
	MergeRoles bool

	// NoAuth allows requests without a key. Servers only.
	NoAuth bool

	// AnySignature allows reasoning that this server never sent, such as that
	// of an earlier server in a resumed session.
	AnySignature bool

	// RequireReasoning demands that a reply with calls comes back with the
	// reasoning it was sent with. OpenAI wire.
	RequireReasoning bool

	// EmptyReasoning allows a reasoning field that is present but empty. OpenAI
	// wire.
	EmptyReasoning bool
}

// Check holds a request body to the rules of a wire, as the real service does.
// It knows of no reasoning sent earlier, so any passes.
func Check(w Wire, body []byte, rules Rules) []Violation {
	rules.AnySignature = true
	return check(w, body, rules, &issued{})
}

func check(w Wire, body []byte, rules Rules, sent *issued) []Violation {
	found := inspect(body)
	if slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == "json" }) {
		return found
	}
	root, err := decodeObject(body)
	if err != nil {
		return append(found, Violation{"json", "", "the body is not a JSON object"})
	}
	c := checker{report: report{found}, rules: rules, sent: sent, seen: map[string]bool{}}
	switch w {
	case Anthropic:
		(&anthropicCheck{checker: &c}).run(root)
	case OpenAI:
		(&openaiCheck{checker: &c}).run(root)
	default:
		c.add("wire", "", "the wire %q is not known", w)
	}
	return c.found
}

// checker is what the checks of both wires have in common.
type checker struct {
	report
	rules Rules
	sent  *issued
	seen  map[string]bool // ids of all calls
	open  map[string]bool // calls that wait for a result
}

func (c *checker) text(where, s string) {
	if blank(s) {
		c.add("blank-text", where, "the text is empty or blank")
	}
}

// callHead checks the id and name of a call and opens it.
func (c *checker) callHead(where, id, name string) {
	if !legalID(id) {
		c.add("call-id", where, "the id %q does not match ^[a-zA-Z0-9_-]+$", id)
	}
	if c.seen[id] {
		c.add("call-duplicate", where, "the id %q was used by an earlier call", id)
	}
	if !legalName(name) {
		c.add("tool-name", where, "%q does not match ^[a-zA-Z0-9_-]{1,64}$", name)
	}
	c.seen[id] = true
	c.open[id] = true
}

// toolHead checks the name of a tool against those before.
func (c *checker) toolHead(where, name string, names map[string]bool) {
	if !legalName(name) {
		c.add("tool-name", where, "%q does not match ^[a-zA-Z0-9_-]{1,64}$", name)
	}
	if names[name] {
		c.add("tool-duplicate", where, "there are two tools of the name %q", name)
	}
	names[name] = true
}

// unanswered reports the calls that should have got their results before where.
func (c *checker) unanswered(where string) {
	for _, id := range sortedKeys(c.open) {
		c.add("call-unanswered", where, "the call %q before this has no result", id)
	}
	c.open = nil
}

// number checks a member that has to be a whole number of at least low, when
// it is there.
func (c *checker) number(rule string, m map[string]any, key string, low int64) (int64, bool) {
	v, ok := m[key]
	if !ok {
		return 0, false
	}
	n, ok := whole(v)
	if !ok || n < low {
		c.add(rule, key, "a whole number of at least %d is required", low)
	}
	return n, ok
}

// streams reports a request for anything but a stream.
func (c *checker) streams(root map[string]any) {
	if root["stream"] != true {
		c.add("stream", "stream", "this server only streams: send true")
	}
}

// messages returns the list of messages of a request.
func (c *checker) messages(root map[string]any) []any {
	list, ok := root["messages"].([]any)
	if !ok || len(list) == 0 {
		c.add("messages-empty", "messages", "at least one message is required")
	}
	return list
}
