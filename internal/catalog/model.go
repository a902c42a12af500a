package catalog

import (
	"slices"
	"strings"
)

// The ways in which models think.
const (
	ThinkNone     = ""         // not, or nobody knows how to ask for it
	ThinkBudget   = "budget"   // Anthropic's wire: a budget in tokens
	ThinkAdaptive = "adaptive" // Anthropic's wire: adaptive, steered by an effort
	ThinkEffort   = "effort"   // OpenAI's wire: reasoning_effort
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

// Info is what is known of a model.
type Info struct {
	Known      bool   // the name or its family is in the table
	Window     int    // context window in tokens, never 0
	Sure       bool   // Window is the table's and not a guess; false for local servers, which choose their own
	MaxOutput  int    // in tokens; 0 when not known
	Vision     bool   // takes images
	Thinking   string // one of the Think constants
	Efforts    []string
	TokenField string // of OpenAI's wire: max_tokens or max_completion_tokens
	Cache      string // one of the Cache constants
	Price      Price
}

// Price is a list price in US dollars per million tokens.
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
	if want == "xhigh" || want == "max" {
		return i.Efforts[len(i.Efforts)-1]
	}
	return i.Efforts[0]
}

// Budget returns the thinking budget in tokens for an effort; 0 is no
// thinking. It is meant for [ThinkBudget] and stays below MaxOutput.
func (i Info) Budget(effort string) int {
	n := map[string]int{"low": 4_096, "medium": 10_240, "high": 20_480, "xhigh": 32_000, "max": 32_000}[effort]
	if i.MaxOutput > 0 {
		n = min(n, i.MaxOutput-i.MaxOutput/4)
	}
	return n
}

// Model returns what is known of a model of a profile. profile may be "" or a
// user's own; prices then are the maker's.
func Model(profile, name string) Info {
	p, builtIn := Find(profile)
	plain, long := normal(name)
	info := Info{Window: RemoteWindow, TokenField: "max_tokens"}
	best := -1
	rates := -1
	for _, r := range rows() {
		exact, ok := r.match(plain)
		if !ok {
			continue
		}
		if len(r.pattern) > best && r.window > 0 {
			best = len(r.pattern)
			price := info.Price
			info = r.info()
			info.Price = price
		}
		if exact && len(r.pattern) > rates && r.sold(p, builtIn) && r.in > 0 {
			rates = len(r.pattern)
			info.Price = Price{Known: true, In: r.in, Out: r.out, CacheRead: r.read, CacheWrite: r.write}
		}
	}
	if long {
		info.Window = max(info.Window, 1_000_000)
	}
	if !info.Vision {
		info.Vision = looksVisual(plain)
	}
	if p.Local {
		// The window is what the server was started with, and a reply that is
		// longer than fits is refused: no limit is named.
		info.Window, info.Sure, info.MaxOutput, info.Price = LocalWindow, false, 0, Price{Known: true}
	}
	return info
}

// normal is the name as the table writes it: without the folders of a gateway,
// date-free forms untouched, and with a [1m] suffix told apart.
func normal(name string) (plain string, long bool) {
	s := strings.ToLower(strings.TrimSpace(name))
	s, long = strings.CutSuffix(s, "[1m]")
	s = s[strings.LastIndexByte(s, '/')+1:]
	if i := strings.Index(s, "claude-"); i >= 0 {
		s = strings.ReplaceAll(s[i:], ".", "-")
		if v := strings.LastIndex(s, "-v"); v >= 0 && strings.Trim(s[v+2:], "0123456789:") == "" {
			s = s[:v]
		}
	}
	return s, long
}

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

// row is one line of the table: a name or the beginning of a family's names.
// A row without a window only gives a vendor's price.
type row struct {
	pattern string
	vendor  string
	window  int
	output  int
	traits  string // letters: v vision, b/a/e thinking, c max_completion_tokens, m/s cache marks or service
	efforts string // space-separated, lowest first

	in, out, read, write float64
}

// match reports whether the row speaks of a name, and whether exactly: but for
// a date or -latest.
func (r row) match(name string) (exact, ok bool) {
	rest, ok := strings.CutPrefix(name, r.pattern)
	if !ok {
		return false, false
	}
	if rest == "" || rest == "-latest" {
		return true, true
	}
	if last := r.pattern[len(r.pattern)-1]; last != '-' && last != '.' && isAlnum(rest[0]) {
		return false, false
	}
	date := strings.ReplaceAll(strings.TrimLeft(rest, "-@"), "-", "")
	return rest[0] != '.' && len(date) == 8 && strings.Trim(date, "0123456789") == "", true
}

func isAlnum(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' }

// sold reports whether a profile has this row's price: its vendor's own, a
// gateway that passes prices on, and profiles that are not built in.
func (r row) sold(p Profile, builtIn bool) bool {
	return !builtIn || p.Provider == r.vendor || p.Provider == "openrouter" && !strings.HasPrefix(r.vendor, "host:") ||
		"host:"+p.Provider == r.vendor
}

func (r row) info() Info {
	i := Info{Known: true, Window: r.window, Sure: true, MaxOutput: r.output, TokenField: "max_tokens"}
	for _, t := range r.traits {
		switch t {
		case 'v':
			i.Vision = true
		case 'b':
			i.Thinking = ThinkBudget
		case 'a':
			i.Thinking = ThinkAdaptive
		case 'e':
			i.Thinking = ThinkEffort
		case 'c':
			i.TokenField = "max_completion_tokens"
		case 'm':
			i.Cache = CacheMarks
		case 's':
			i.Cache = CacheAuto
		}
	}
	if r.efforts != "" {
		i.Efforts = strings.Fields(r.efforts)
	}
	return i
}
