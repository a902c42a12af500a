package pdf

import (
	"bytes"
	"strconv"
)

// load finds all objects by reading the file from its beginning, without its
// cross-reference tables: they are often wrong, and a later object of the same
// number is the newer one either way.
func (f *File) load(data []byte) {
	var packed []*stream
	for at := 0; at < len(data); {
		i := nextObject(data, at)
		if t := bytes.Index(data[at:i.from], []byte("trailer")); t >= 0 {
			f.addTrailer(data[at+t+len("trailer") : i.from])
		}
		if i.body >= len(data) {
			break
		}
		s := scanner{data, i.body}
		v, _ := s.next(0, true)
		if d, ok := v.(dict); ok {
			if body, end, ok := f.body(data, s.at, d); ok {
				st := &stream{d, body}
				v, s.at = st, end
				switch d["Type"] {
				case name("ObjStm"):
					packed = append(packed, st)
				case name("XRef"):
					f.merge(d)
				}
			}
		}
		f.objects[i.num] = v
		at = max(s.at, i.body)
	}
	if f.trailer["Encrypt"] != nil {
		return
	}
	for i := len(packed) - 1; i >= 0; i-- { // the last is the newest
		f.unpack(packed[i])
	}
}

// found is where an object stands: its number, the offset of the number and
// that of what follows "obj".
type found struct {
	num        ref
	from, body int
}

// nextObject looks for the next "7 0 obj"; from and body are the end of the
// data when there is none.
func nextObject(data []byte, at int) found {
	for from := at; ; {
		i := bytes.Index(data[from:], []byte("obj"))
		if i < 0 {
			return found{0, len(data), len(data)}
		}
		i += from
		from = i + 3
		k := back(data, i, isSpace)
		gen := back(data, k, isDigit)
		k2 := back(data, gen, isSpace)
		num := back(data, k2, isDigit)
		if gen == k || k2 == gen || num == k2 || num < at || k2-num > 9 {
			continue
		}
		n, err := strconv.Atoi(string(data[num:k2]))
		if err == nil && n > 0 {
			return found{ref(n), num, i + 3}
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// back goes back over bytes of a kind.
func back(data []byte, at int, kind func(byte) bool) int {
	for at > 0 && kind(data[at-1]) {
		at--
	}
	return at
}

// body returns the data of a stream that begins at an offset, if one does.
func (f *File) body(data []byte, at int, d dict) (body []byte, end int, ok bool) {
	s := scanner{data, at}
	s.skip()
	rest, ok := bytes.CutPrefix(data[s.at:], []byte("stream"))
	if !ok {
		return nil, 0, false
	}
	rest = bytes.TrimPrefix(rest, []byte("\r"))
	rest = bytes.TrimPrefix(rest, []byte("\n"))
	start := len(data) - len(rest)
	if n, known := f.number(d["Length"]); known && n >= 0 && n <= float64(len(rest)) {
		after := scanner{data, start + int(n)}
		after.skip()
		if bytes.HasPrefix(data[after.at:], []byte("endstream")) {
			return data[start : start+int(n)], after.at, true
		}
	}
	i := bytes.Index(rest, []byte("endstream"))
	if i < 0 {
		return rest, len(data), true
	}
	return bytes.TrimRight(rest[:i], "\r\n"), start + i, true
}

func (f *File) addTrailer(data []byte) {
	s := scanner{data: data}
	if v, ok := s.next(0, true); ok {
		if d, ok := v.(dict); ok {
			f.merge(d)
		}
	}
}

// merge takes over what a trailer says; later ones win.
func (f *File) merge(d dict) {
	for _, key := range []name{"Root", "Encrypt"} {
		if v := d[key]; v != nil {
			f.trailer[key] = v
		}
	}
}

// unpack reads the objects of an object stream. Those already unpacked from a
// later one, and those that stand in the file itself, stay.
func (f *File) unpack(st *stream) {
	data := f.decode(st)
	n, _ := f.number(st.dict["N"])
	first, _ := f.number(st.dict["First"])
	if first < 0 || first > float64(len(data)) {
		return
	}
	head := scanner{data: data[:int(first)]}
	work := 4*len(data) + 1<<20 // bytes to read: objects may be said to overlap
	for range int(min(max(n, 0), 1e6)) {
		num, ok1 := head.next(0, false)
		off, ok2 := head.next(0, false)
		id, isNum := num.(float64)
		at, isOff := off.(float64)
		if !ok1 || !ok2 {
			return
		}
		if !isNum || !isOff || id < 1 || id > 1e8 || at < 0 || first+at > float64(len(data)) {
			continue
		}
		r := ref(id)
		if _, have := f.objects[r]; have {
			continue
		}
		s := scanner{data, int(first + at)}
		if v, ok := s.next(0, true); ok {
			f.objects[r] = v
		}
		if work -= s.at - int(first+at); work < 0 {
			return
		}
	}
}
