package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider"
)

// Rule is one line of a table of a vendor's words. It matches by Code, which is
// compared whole with the code and the type of an error, or by Words, which are
// looked for in its message; both in lower case.
type Rule struct {
	Code, Words string
	Kind        oh.Kind

	// Advice says what to do where the service's words do not.
	Advice string

	// Unless names messages, in lower case, that the rule is not for; nil is none.
	Unless func(words string) bool

	// Final: a quota is used up although the service names a short wait.
	Final bool

	// Vague: gateways put the code on failures of all kinds, so that the status,
	// where there is one, says more.
	Vague bool
}

// DailyQuota is the code of an error whose details say that a quota of a day
// is used up, whatever short wait they name as well.
const DailyQuota = "DAILY_QUOTA"

// shared are the words that gateways of every wire pass on.
var shared = [...]Rule{
	{Words: "context window", Kind: oh.KindTooLong},
	{Words: "context length", Kind: oh.KindTooLong},
	{Words: "context size", Kind: oh.KindTooLong},
	{Words: "prompt is too long", Kind: oh.KindTooLong},
	{Words: "input is too long", Kind: oh.KindTooLong},
	{Words: "credit balance is too low", Kind: oh.KindQuota},
	{Words: "insufficient credit", Kind: oh.KindQuota},
	{Words: "insufficient balance", Kind: oh.KindQuota},
	{Words: "insufficient quota", Kind: oh.KindQuota},
	{Words: "insufficient_quota", Kind: oh.KindQuota},
	{Words: "exceeded your current quota", Kind: oh.KindQuota},
	{Words: "quota exhausted", Kind: oh.KindQuota},
	{Words: "out of credits", Kind: oh.KindQuota},
	{Words: "billing details", Kind: oh.KindQuota},
	{Words: "hard limit", Kind: oh.KindQuota},
	{Words: "overloaded", Kind: oh.KindOverloaded},
	{Words: "at capacity", Kind: oh.KindOverloaded},
	{Words: "over capacity", Kind: oh.KindOverloaded},
	{Words: "rate limit", Kind: oh.KindLimited},
	{Words: "too many requests", Kind: oh.KindLimited},
}

// fault is what a service said about a failure.
type fault struct {
	code, kind, words string
	status            int
	after             int64 // milliseconds
}

// Fault classifies an error that the service told: the answer with a status of
// failure, or an error inside a stream, then with status 0.
func (l *Link) Fault(status int, header http.Header, raw []byte) *oh.Error {
	f := readFault(raw)
	if f.code == "" && f.kind == "" {
		f.code = amazonCode(header, "")
	}
	if status == 0 {
		status = f.status
	}
	after := clamp(float64(max(retryAfter(status, header), f.after)))
	kind, advice := l.classify(status, &f, after)
	kind = obey(header, status, kind)
	code := f.code
	if code == "" {
		code = f.kind
	}
	words := text.OneLine(l.hide(f.words), 1000)
	if words == "" {
		words = "the service gave no reason"
		if s := http.StatusText(status); s != "" {
			words += " (" + s + ")"
		}
	}
	if advice != "" {
		words = strings.TrimSuffix(words, ".") + "; " + advice
	}
	switch kind {
	case oh.KindLimited, oh.KindOverloaded, oh.KindUnavailable:
		if after == 0 {
			after = clamp(float64(saidAfter(f.words)))
		}
	default:
		after = 0
	}
	return l.failed(status, text.OneLine(l.hide(code), 100), kind, after, words)
}

// classify returns the kind of a failure, and what to do about it if a rule
// says so.
func (l *Link) classify(status int, f *fault, after int64) (kind oh.Kind, advice string) {
	words := strings.ToLower(f.words)
	limited := status == http.StatusTooManyRequests || strings.HasPrefix(strings.ToLower(f.code), "rate_limit")
	for _, table := range [...][]Rule{l.rules, shared[:]} {
		for _, r := range table {
			if r.Code != "" && !strings.EqualFold(r.Code, f.code) && !strings.EqualFold(r.Code, f.kind) ||
				r.Words != "" && !strings.Contains(words, r.Words) || r.Unless != nil && r.Unless(words) || r.Vague && status != 0 {
				continue
			}
			switch {
			case r.Kind == oh.KindTooLong && limited:
				// A limit on tokens per minute is no full window.
				continue
			case r.Kind == oh.KindQuota && r.Code == "" && !r.Final && status == http.StatusTooManyRequests && after > 0 && after <= 10*60*1000:
				// A quota that is back within minutes is a rate limit.
				return oh.KindLimited, ""
			case (r.Kind == oh.KindLimited || r.Kind == oh.KindOverloaded) && r.Code == "" && fixed(status):
				// Words alone do not make a refusal heal.
				continue
			case r.Kind != "":
				return r.Kind, r.Advice
			}
		}
	}
	if status == 0 && (strings.Contains(f.kind, "invalid") || strings.Contains(f.code, "invalid")) {
		return oh.KindInvalid, ""
	}
	return ofStatus(status), ""
}

// obey heeds the header in which OpenAI, Anthropic and gateways that follow
// them say whether to try again. It overrules what a status means, but not words
// that say why another attempt fails as well, nor an overload, from which
// another model may be the way out.
func obey(h http.Header, status int, kind oh.Kind) oh.Kind {
	switch h.Get("X-Should-Retry") {
	case "false":
		switch kind {
		case oh.KindLimited:
			return oh.KindQuota // of hours or days
		case oh.KindUnavailable:
			return oh.KindInvalid
		}
	case "true":
		if kind == oh.KindInvalid && ofStatus(status) == kind {
			return oh.KindUnavailable
		}
	}
	return kind
}

// fixed reports statuses that waiting does not change.
func fixed(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusNotFound || status == http.StatusPaymentRequired
}

func ofStatus(status int) oh.Kind {
	switch status {
	case 0:
		return oh.KindUnavailable
	case http.StatusUnauthorized, http.StatusForbidden:
		return oh.KindAuth
	case http.StatusPaymentRequired:
		return oh.KindQuota
	case http.StatusRequestEntityTooLarge:
		return oh.KindTooLong
	case http.StatusTooManyRequests:
		return oh.KindLimited
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, 499:
		return oh.KindUnavailable
	case 498, 529:
		return oh.KindOverloaded
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return oh.KindInvalid
	}
	if status >= 500 {
		return oh.KindUnavailable
	}
	return oh.KindInvalid
}

// readFault reads the forms in which services tell errors.
func readFault(raw []byte) fault {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(raw, &top) != nil {
		return fault{words: plain(raw)}
	}
	if top == nil {
		return fault{}
	}
	f := fault{}
	inner := top
	if e, ok := top["error"]; ok {
		if s := scalar(e); s != "" {
			f.words = s
		} else if m := map[string]json.RawMessage(nil); json.Unmarshal(e, &m) == nil && m != nil {
			inner = m
		}
	}
	f.code, f.kind = scalar(inner["code"]), scalar(inner["type"])
	if f.code == "" && f.kind == "" {
		f.code = amazonCode(nil, scalar(top["__type"]))
	}
	if f.words == "" {
		f.words = firstWords(inner, "message", "Message", "detail", "msg", "error_description", "reason")
	}
	if f.words == "" && !hollow(raw) {
		f.words = plain(raw)
	}
	f.status = number(f.code, inner["status"], inner["status_code"], inner["http_code"])
	if f.status != 0 && scalar(inner["code"]) == strconv.Itoa(f.status) {
		f.code = scalar(inner["status"])
		if number("", inner["status"]) != 0 {
			f.code = ""
		}
	}
	f.words += metadata(inner["metadata"])
	d := readDetails(inner["details"])
	f.after = d.after
	if f.kind == "" {
		f.kind = d.reason
	}
	return f
}

// hollow reports whether a JSON text says nothing: it has no word, number or
// flag in it.
func hollow(raw []byte) bool {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return !slices.ContainsFunc(list, func(x json.RawMessage) bool { return !hollow(x) })
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) == nil {
		for _, x := range m {
			if !hollow(x) {
				return false
			}
		}
		return true
	}
	return string(raw) == `""`
}

// metadata adds the upstream's words that a gateway wraps.
func metadata(raw json.RawMessage) string {
	var m struct {
		Raw json.RawMessage `json:"raw"`
	}
	if json.Unmarshal(raw, &m) != nil || len(m.Raw) == 0 {
		return ""
	}
	if s := scalar(m.Raw); s != "" {
		return ": " + s
	}
	return ": " + string(m.Raw)
}

// details are what the details of a Google error say.
type details struct {
	after  int64  // milliseconds
	reason string // of an ErrorInfo, or [DailyQuota]
}

func readDetails(raw json.RawMessage) details {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return details{}
	}
	var out details
	for _, item := range list {
		var d struct {
			RetryDelay string `json:"retryDelay"`
			Reason     string `json:"reason"`
			Violations []struct {
				ID string `json:"quotaId"`
			} `json:"violations"`
		}
		_ = json.Unmarshal(item, &d) // what has another form says nothing
		if v, err := time.ParseDuration(d.RetryDelay); err == nil && v > 0 && out.after == 0 {
			out.after = v.Milliseconds()
		}
		if out.reason == "" {
			out.reason = d.Reason
		}
		for _, v := range d.Violations {
			if strings.Contains(v.ID, "PerDay") || strings.Contains(v.ID, "Daily") {
				out.reason = DailyQuota
			}
		}
	}
	return out
}

func firstWords(m map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		raw, ok := m[name]
		if !ok {
			continue
		}
		if s := scalar(raw); s != "" {
			return s
		}
		if len(raw) > 2 && raw[0] != '"' {
			return string(raw)
		}
	}
	return ""
}

// scalar returns a JSON string or number as text, "" for anything else.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// number returns the first that is an HTTP status of failure.
func number(code string, raws ...json.RawMessage) int {
	for _, s := range append([]string{code}, scalars(raws)...) {
		if n, err := strconv.Atoi(s); err == nil && n >= 400 && n < 600 {
			return n
		}
	}
	return 0
}

func scalars(raws []json.RawMessage) []string {
	out := make([]string, len(raws))
	for i, raw := range raws {
		out[i] = scalar(raw)
	}
	return out
}

// connection classifies an error of the network and takes the URL off it. A
// certificate that is not trusted, an address of the wrong kind and a proxy
// that cannot be used do not heal by trying again, all else may.
func connection(err error) (oh.Kind, error) {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	_, badCert := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, file := errors.AsType[*provider.TLSError](err)
	if unknown {
		err = fmt.Errorf("%w (is there a proxy that inspects? name its certificate in tls.ca_file or NODE_EXTRA_CA_CERTS)", err)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" && strings.Contains(op.Err.Error(), "certificate") {
		return oh.KindInvalid, fmt.Errorf("%w (the service wants a certificate of yours that it trusts: tls.client_cert and tls.client_key)", err)
	}
	if badCert || file || unknown || host || invalid || record || errors.Is(err, http.ErrSchemeMismatch) {
		return oh.KindInvalid, err
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("the connection was closed")
	}
	return oh.KindUnavailable, err
}
