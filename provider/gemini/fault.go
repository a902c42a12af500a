package gemini

import (
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/wire"
)

const lowerLimit = "lower the setting max_tokens"

// rules are the words of this wire, in order of precedence. A code is the
// status of an error, the reason that its details tell, or the reason why a
// reply ended.
var rules = [...]wire.Rule{
	{Code: "API_KEY_INVALID", Kind: oh.KindAuth},
	{Code: "API_KEY_EXPIRED", Kind: oh.KindAuth},
	{Code: "UNAUTHENTICATED", Kind: oh.KindAuth},
	{Code: "BILLING_DISABLED", Kind: oh.KindQuota},
	{Words: "api key not valid", Kind: oh.KindAuth},
	{Words: "api key expired", Kind: oh.KindAuth},
	{Words: "api key not found", Kind: oh.KindAuth},
	{Code: wire.DailyQuota, Kind: oh.KindQuota},
	{Words: "limit: 0", Kind: oh.KindQuota, Final: true, Unless: more},
	{Words: "maxoutputtokens", Kind: oh.KindInvalid, Advice: lowerLimit},
	{Words: "max_output_tokens", Kind: oh.KindInvalid, Advice: lowerLimit},
	{Words: "input token count", Kind: oh.KindTooLong},
	{Words: "exceeds the maximum number of tokens", Kind: oh.KindTooLong},
	{Words: "payload size exceeds", Kind: oh.KindTooLong},
	{Words: "high demand", Kind: oh.KindOverloaded},
	{Code: "UNAVAILABLE", Kind: oh.KindOverloaded},
	{Code: malformedCall, Kind: oh.KindUnavailable},
	{Code: unexpectedCall, Kind: oh.KindUnavailable},
	{Code: malformedReply, Kind: oh.KindUnavailable},
	{Code: tooManyCalls, Kind: oh.KindUnavailable},
	{Code: missingSignature, Kind: oh.KindInvalid},
}

// more reports whether each limit that words tell is more than none.
func more(words string) bool {
	for {
		_, rest, ok := strings.Cut(words, "limit: 0")
		if !ok {
			return true
		}
		if rest == "" || rest[0] != '.' && (rest[0] < '0' || rest[0] > '9') {
			return false
		}
		words = rest
	}
}
