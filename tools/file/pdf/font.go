package pdf

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
)

// glyphText holds names of glyphs with their characters, one pair a line.
//
//go:embed glyph.txt
var glyphText string

var glyphs = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for line := range strings.Lines(glyphText) {
		if k, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			table[k] = v
		}
	}
	return table
})

// glyph returns the characters of a glyph by its name; "" for an unknown one.
func glyph(n string) string {
	if s, ok := glyphs()[n]; ok {
		return s
	}
	if n, _, ok := strings.Cut(n, "."); ok && n != "" {
		return glyph(n)
	}
	if strings.Contains(n, "_") {
		all := ""
		for part := range strings.SplitSeq(n, "_") {
			all += glyph(part)
		}
		return all
	}
	if len(n) == 1 {
		return n
	}
	for _, prefix := range []string{"uni", "u"} {
		if hex, ok := strings.CutPrefix(n, prefix); ok && len(hex) >= 4 && len(hex) <= 6 {
			if r, err := strconv.ParseUint(hex, 16, 21); err == nil {
				return string(rune(r))
			}
		}
	}
	return ""
}

const (
	upper1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	upperMac  = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ"
	upperStd  = "\u00a0¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\u00b0–†‡·\u00b5¶•‚„”»…‰\u00be¿\u00c0`´ˆ˜¯˘˙¨\u00c9˚¸\u00cc˝˛ˇ—"
)

// simple is the character of a code in one of the encodings of old.
func simple(encoding name, c byte) string {
	switch {
	case c < 0x20:
		return ""
	case c < 0x80 && (encoding == "WinAnsiEncoding" || encoding == "MacRomanEncoding"):
		return string(rune(c))
	case encoding == "MacRomanEncoding":
		return at(upperMac, int(c)-0x80)
	case encoding == "WinAnsiEncoding":
		if c < 0xa0 {
			return at(upper1252, int(c)-0x80)
		}
		return string(rune(c))
	case c == '\'':
		return "’"
	case c == '`':
		return "‘"
	case c < 0x80:
		return string(rune(c))
	case c >= 0xa0 && c <= 0xd0:
		return at(upperStd, int(c)-0xa0)
	}
	for k, s := range map[byte]string{0xe1: "Æ", 0xe3: "ª", 0xe8: "Ł", 0xe9: "Ø", 0xea: "Œ", 0xeb: "º", 0xf1: "æ", 0xf5: "ı", 0xf8: "ł", 0xf9: "ø", 0xfa: "œ", 0xfb: "ß"} {
		if k == c {
			return s
		}
	}
	return string(rune(c))
}

func at(table string, i int) string {
	for _, r := range table {
		if i == 0 {
			return strings.NewReplacer("ﬁ", "fi", "ﬂ", "fl").Replace(string(r))
		}
		i--
	}
	return ""
}

// font tells the characters and widths of the codes of a font.
type font struct {
	wide    bool // two bytes a code
	unicode *cmap
	codes   [256]string     // of a simple font
	widths  map[int]float64 // in thousandths of the size
	missing float64
}

// font reads a font, once for each object.
func (f *File) font(v value) *font {
	r, isRef := v.(ref)
	if isRef {
		if have, ok := f.fonts[r]; ok {
			return have
		}
	}
	d, _ := f.get(v).(dict)
	out := &font{widths: map[int]float64{}, missing: 500}
	if s, ok := f.get(d["ToUnicode"]).(*stream); ok {
		out.unicode = parseCMap(f.decode(s))
	}
	if f.get(d["Subtype"]) == name("Type0") {
		f.composite(out, d)
	} else {
		f.simple(out, d)
	}
	if isRef {
		f.fonts[r] = out
	}
	return out
}

func (f *File) simple(out *font, d dict) {
	var base name
	enc := f.get(d["Encoding"])
	switch e := enc.(type) {
	case name:
		base = e
	case dict:
		base, _ = f.get(e["BaseEncoding"]).(name)
	}
	if base == "" && f.get(d["Subtype"]) == name("TrueType") {
		base = "WinAnsiEncoding"
	}
	for c := range out.codes {
		out.codes[c] = simple(base, byte(c))
	}
	if e, ok := enc.(dict); ok {
		code := 0
		for _, v := range f.list(e["Differences"]) {
			switch v := f.get(v).(type) {
			case float64:
				code = int(min(max(v, 0), 255))
			case name:
				if code < 256 {
					if s := glyph(string(v)); s != "" || !strings.HasPrefix(string(v), ".") {
						out.codes[code] = s
					}
				}
				code++
			}
		}
	}
	first, _ := f.number(d["FirstChar"])
	for i, v := range f.list(d["Widths"]) {
		if w, ok := f.number(v); ok && i < 256 {
			out.widths[int(first)+i] = w
		}
	}
	if m, ok := f.get(d["FontMatrix"]).(array); ok && len(m) == 6 { // type 3: another unit
		if a, ok := f.number(m[0]); ok && a > 0 {
			for c := range out.widths {
				out.widths[c] *= a * 1000
			}
		}
	}
}

// composite reads a font of two-byte codes.
func (f *File) composite(out *font, d dict) {
	out.wide = true
	kids := f.list(d["DescendantFonts"])
	if len(kids) == 0 {
		return
	}
	cid, _ := f.get(kids[0]).(dict)
	out.missing = 1000
	if w, ok := f.number(cid["DW"]); ok {
		out.missing = w
	}
	list := f.list(cid["W"])
	for i := 0; i+1 < len(list); {
		first, ok := f.number(list[i])
		if !ok || first < 0 || first > 0xffff {
			return
		}
		if ws, ok := f.get(list[i+1]).(array); ok {
			for k, v := range ws {
				if w, ok := f.number(v); ok && k <= 0xffff {
					out.widths[int(first)+k] = w
				}
			}
			i += 2
			continue
		}
		if i+2 >= len(list) {
			return
		}
		last, _ := f.number(list[i+1])
		w, _ := f.number(list[i+2])
		for c := int(first); c <= int(min(last, 0xffff)); c++ {
			out.widths[c] = w
		}
		i += 3
	}
}

// next takes one code off a string: its characters, its width in thousandths,
// and whether it is the one-byte space that word spacing widens.
func (t *font) next(s str) (chars string, width float64, space bool, rest str) {
	code, n := int(s[0]), 1
	if t.wide && len(s) > 1 {
		code, n = code<<8|int(s[1]), 2
	}
	width, ok := t.widths[code]
	if !ok {
		width = t.missing
	}
	if t.unicode != nil {
		if c := t.unicode.lookup(code); c != "\ufffd" || t.wide {
			return c, width, n == 1 && code == ' ', s[n:]
		}
	}
	if t.wide {
		return "", width, false, s[n:] // which characters these are is not told
	}
	return t.codes[code], width, code == ' ', s[n:]
}

// cmap maps codes to characters.
type cmap struct {
	one    map[int]string
	ranges []codeRange
}

type codeRange struct {
	lo, hi int
	to     []uint16 // of lo, as UTF-16
}

// lookup returns the characters of a code, U+FFFD when they are not told. What
// was found is kept, so that each code is looked for once.
func (m *cmap) lookup(code int) string {
	if s, ok := m.one[code]; ok {
		return s
	}
	for _, r := range m.ranges {
		if code >= r.lo && code <= r.hi && len(r.to) > 0 {
			to := append([]uint16(nil), r.to...)
			to[len(to)-1] += uint16(code - r.lo)
			m.one[code] = string(utf16.Decode(to))
			return m.one[code]
		}
	}
	m.one[code] = "\ufffd"
	return m.one[code]
}

// maxRanges bounds the ranges of a map, as each code may look at them all.
const maxRanges = 5000

func parseCMap(data []byte) *cmap {
	m := &cmap{one: map[int]string{}}
	s := scanner{data: data}
	for {
		v, ok := s.next(0, false)
		if !ok {
			return m
		}
		switch {
		case isOp(v, "beginbfchar"):
			s.pairs("endbfchar", 2, func(v []value) {
				if code, ok := v[0].(str); ok {
					if to, ok := v[1].(str); ok {
						m.one[codeOf(code)] = string(utf16.Decode(units(to)))
					}
				}
			})
		case isOp(v, "beginbfrange"):
			s.pairs("endbfrange", 3, m.addRange)
		}
	}
}

func (m *cmap) addRange(v []value) {
	lo, ok1 := v[0].(str)
	hi, ok2 := v[1].(str)
	if !ok1 || !ok2 {
		return
	}
	switch to := v[2].(type) {
	case str:
		if len(m.ranges) < maxRanges {
			m.ranges = append(m.ranges, codeRange{codeOf(lo), codeOf(hi), units(to)})
		}
	case array:
		for i, x := range to {
			if x, ok := x.(str); ok && codeOf(lo)+i <= codeOf(hi) {
				m.one[codeOf(lo)+i] = string(utf16.Decode(units(x)))
			}
		}
	}
}

// pairs reads groups of n values up to a word.
func (s *scanner) pairs(end op, n int, do func([]value)) {
	var group []value
	for {
		v, ok := s.next(0, false)
		if !ok || isOp(v, end) {
			return
		}
		if group = append(group, v); len(group) == n {
			do(group)
			group = group[:0]
		}
	}
}

func codeOf(s str) int {
	n := 0
	for _, c := range s[:min(len(s), 4)] {
		n = n<<8 | int(c)
	}
	return n
}

// units reads big-endian UTF-16; a lone byte is a character of its own.
func units(s str) []uint16 {
	if len(s) == 1 {
		return []uint16{uint16(s[0])}
	}
	var out []uint16
	for i := 0; i+1 < len(s) && i < 64; i += 2 {
		out = append(out, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return out
}
