package claude

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// number reads a JSON number, also one in a string: models send both.
func number(raw json.RawMessage) (float64, bool) {
	s := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) && math.Abs(n) < 1<<50
}

func encode(n float64) json.RawMessage {
	return json.RawMessage(strconv.FormatFloat(n, 'f', -1, 64))
}

// toMillis turns seconds into milliseconds.
func toMillis(raw json.RawMessage) json.RawMessage {
	if n, ok := number(raw); ok {
		return encode(math.Round(n * 1000))
	}
	return raw
}

// fromMillis turns milliseconds into whole seconds, rounded up: a limit is
// never made shorter.
func fromMillis(raw json.RawMessage) json.RawMessage {
	if n, ok := number(raw); ok {
		return encode(math.Ceil(n / 1000))
	}
	return raw
}

// toLine turns an offset into the number of the first line.
func toLine(raw json.RawMessage) json.RawMessage {
	if n, ok := number(raw); ok {
		return encode(n + 1)
	}
	return raw
}

// fromLine turns the number of the first line into an offset. Line 0 is taken
// for line 1.
func fromLine(raw json.RawMessage) json.RawMessage {
	if n, ok := number(raw); ok {
		return encode(max(n-1, min(n, 0)))
	}
	return raw
}

func invert(raw json.RawMessage) json.RawMessage {
	switch strings.Trim(strings.TrimSpace(string(raw)), `"`) {
	case "true":
		return json.RawMessage("false")
	case "false":
		return json.RawMessage("true")
	}
	return raw
}

// toCellID names a cell by its index, the way Claude's notebook reader does for
// cells without an id.
func toCellID(raw json.RawMessage) json.RawMessage {
	if n, ok := number(raw); ok && n >= 0 && n == math.Trunc(n) {
		return quote("cell-" + strconv.FormatFloat(n, 'f', 0, 64))
	}
	return raw
}

func fromCellID(raw json.RawMessage) json.RawMessage {
	var id string
	if json.Unmarshal(raw, &id) != nil {
		return raw
	}
	digits, ok := strings.CutPrefix(id, "cell-")
	n, err := strconv.ParseUint(digits, 10, 31)
	if !ok || err != nil {
		return raw
	}
	return encode(float64(n))
}

// toCamel and fromCamel turn go_to_definition into goToDefinition and back.
func toCamel(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return raw
	}
	words := strings.Split(s, "_")
	for i, w := range words {
		if i > 0 && w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return quote(strings.Join(words, ""))
}

func fromCamel(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return raw
	}
	var b strings.Builder
	for _, c := range s {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return quote(b.String())
}
