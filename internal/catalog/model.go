package catalog

import (
	"slices"
	"strings"

	"github.com/openharness/oh/provider"
)

// The ways in which models think.
const (
	ThinkNone     = ""         // not, or nobody knows how to ask for it
	ThinkBudget   = "budget"   // a budget in tokens
	ThinkAdaptive = "adaptive" // Anthropic's wire: adaptive, steered by an effort
	ThinkEffort   = "effort"   // OpenAI's wires: a word
	ThinkLevels   = "levels"   // Gemini's wire: a word for the level
)

// The ways in which prompts are cached.
const (
	CacheNone  = ""      // not known
	CacheAuto  = "auto"  // by the service itself
	CacheMarks = "marks" // where the request marks it (cache_control)
)

// Windows for models that are not in the table, in tokens.
const (
	LocalWindow  = 32_768
	RemoteWindow = 131_072
)

// Info is what is known of a model of a profile.
type Info struct {
	Known      bool   // the name or its family is in a table
	Window     int    // context window in tokens, never 0
	Sure       bool   // Window is told and not a guess; false for local servers that were not asked
	Long       int    // the window behind [1m], where it is larger; else 0
	MaxOutput  int    // in tokens; 0 when not known
	Vision     bool   // takes images
	Documents  bool   // takes PDF files
	Thinking   string // one of the Think constants
	Efforts    []string
	MaxBudget  int    // the most thinking tokens; 0 for no limit of its own
	TokenField string // of the Chat wire: max_tokens or max_completion_tokens
	Cache      string // one of the Cache constants
	Price      Price

	// Quirks are all other traits, as they were found; the fields above say the
	// rest. See [Catalog.Traits].
	Quirks provider.Traits

	listed bool   // a table names the model or its family
	seen   bool   // something was said of Vision
	in     bool   // something was said of the price of input
	out    bool   // likewise of output
	files  bool   // the Chat service takes files as parts
	beta   string // what opens the long window
}

// Price is a list price in US dollars per million tokens. Where there is none for
// the cache it is 0, and the price of input counts.
type Price struct {
	Known                          bool
	In, Out, CacheRead, CacheWrite float64
}

// Effort returns the value to send for an effort that the user set (low,
// medium, high, xhigh): the same if the model has it, else the nearest that it
// has. "" means that nothing is to be sent.
func (i Info) Effort(want string) string {
	if want == "" || slices.Contains(i.Efforts, want) {
		return want
	}
	if len(i.Efforts) == 0 {
		return ""
	}
	order := efforts()
	at := slices.Index(order, want)
	best, far := i.Efforts[0], len(order)
	for _, have := range i.Efforts {
		// Of two equally near the higher: it comes later.
		if d := max(slices.Index(order, have)-at, at-slices.Index(order, have)); d <= far {
			best, far = have, d
		}
	}
	return best
}

// Budget returns the thinking budget in tokens for an effort; 0 is no
// thinking. It is meant for [ThinkBudget] and stays below MaxOutput.
func (i Info) Budget(effort string) int {
	n := map[string]int{"minimal": 1_024, "low": 4_096, "medium": 10_240, "high": 20_480, "xhigh": 32_000, "max": 32_000}[effort]
	if i.MaxOutput > 0 {
		n = min(n, i.MaxOutput-i.MaxOutput/4)
	}
	if i.MaxBudget > 0 {
		n = min(n, i.MaxBudget)
	}
	return n
}

// normal is the name as the table writes it: without the folders of a gateway
// and what clouds put around it, date-free forms untouched, and with a [1m]
// suffix told apart. full still has the region and maker of a cloud's name.
func normal(name string) (plain, full string, isLong bool) {
	full, isLong = strings.CutSuffix(strings.ToLower(strings.TrimSpace(name)), long)
	full = full[strings.LastIndexByte(full, '/')+1:]
	if v := strings.LastIndex(full, "-v"); v >= 0 && strings.Trim(full[v+2:], "0123456789:") == "" && strings.Contains(full[:v], ".") {
		full = full[:v]
	}
	plain = full
	if i := strings.Index(plain, "claude-"); i >= 0 {
		return strings.ReplaceAll(plain[i:], ".", "-"), full, isLong
	}
	for {
		first, rest, ok := strings.Cut(plain, ".")
		if !ok || !slices.Contains(cloudWords[:], first) {
			return plain, full, isLong
		}
		plain = rest
	}
}

// cloudWords are what Bedrock writes before a model's name, each with a dot:
// regions, then makers.
var cloudWords = [...]string{"us", "us-gov", "eu", "apac", "jp", "au", "ca", "sa", "global",
	"amazon", "openai", "meta", "mistral", "deepseek", "qwen", "minimax", "moonshot", "moonshotai", "zai", "google", "nvidia", "cohere", "ai21", "writer"}

func looksVisual(name string) bool {
	if strings.Contains(name, "vision") {
		return true
	}
	for _, stem := range []string{"qvq-", "llava", "cogvlm", "internvl", "pixtral", "step-1v", "step-2", "minimax-vl"} {
		if strings.HasPrefix(name, stem) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '-' || r == ' ' || r == ':' || r == '_' }) {
		if word == "vl" || strings.HasSuffix(word, "vl") && strings.HasPrefix(word, "qwen") {
			return true
		}
	}
	return false
}

// model finds what is known of a model: the tables from the general to the
// particular, then what was refreshed, then what was learned of the server, then
// the user's own.
func (c *Catalog) model(p Profile, name string) Info {
	plain, full, isLong := normal(name)
	i := Info{Window: RemoteWindow, TokenField: "max_tokens"}
	c.tables(&i, p, plain, full)
	if p.Asked() {
		// The window is what the server was started with, and a reply that is
		// longer than fits is refused: no limit is named.
		i.Window, i.Sure, i.Long, i.MaxOutput, i.Price = LocalWindow, false, 0, 0, Price{}
	}
	c.refreshed(&i, p, name, plain)
	if isLong && !p.Asked() {
		i.Window = max(i.Window, i.Long)
		if i.Long == 0 {
			i.Window = max(i.Window, 1_000_000)
		}
	}
	i.Known = i.listed
	c.overrides(&i, p, name, plain)
	if !i.seen && !i.Vision {
		i.Vision = looksVisual(plain)
	}
	if p.Local && !i.Price.Known {
		i.Price = Price{Known: true}
	}
	i.onWire(p.Wire)
	return i
}

// tables lays the built-in tables over a model.
func (c *Catalog) tables(i *Info, p Profile, plain, full string) {
	_, own := findProfile(c.profiles(), p.Name)
	for _, r := range c.rows() {
		if r.service != "" && !r.at(p) {
			continue
		}
		exact, ok := r.match(plain)
		if !ok && r.service != "" {
			exact, ok = r.match(full)
		}
		if ok {
			i.listed = i.listed || r.service == ""
			r.apply(i, exact && (r.service != "" || r.sold(p, own)))
		}
	}
}

// onWire settles how the wire asks for thinking.
func (i *Info) onWire(wire string) {
	switch {
	case wire == Gemini || len(i.Efforts) == 0:
	case i.Thinking == ThinkLevels, i.Thinking == ThinkBudget && (wire == OpenAI || wire == Responses):
		i.Thinking = ThinkEffort
	}
}
