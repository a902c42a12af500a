package web

import "encoding/binary"

const (
	maxImageBytes = 5 << 20
	maxImageSide  = 8000 // pixels
)

// imageSize reads width and height in pixels from an image's header; zeros
// when they are not found.
func imageSize(kind string, data []byte) (w, h int) {
	be, le := binary.BigEndian, binary.LittleEndian
	switch {
	case kind == "image/png" && len(data) >= 24:
		return int(be.Uint32(data[16:])), int(be.Uint32(data[20:]))
	case kind == "image/gif" && len(data) >= 10:
		return int(le.Uint16(data[6:])), int(le.Uint16(data[8:]))
	case kind == "image/jpeg":
		return jpegSize(data)
	case kind == "image/webp" && len(data) >= 30:
		switch string(data[12:16]) {
		case "VP8 ":
			return int(le.Uint16(data[26:]) & 0x3fff), int(le.Uint16(data[28:]) & 0x3fff)
		case "VP8L":
			bits := le.Uint32(data[21:])
			return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
		case "VP8X":
			return int(le.Uint32(data[24:])&0xffffff) + 1, int(le.Uint32(data[26:])>>8&0xffffff) + 1
		}
	}
	return 0, 0
}

// jpegSize finds the frame header among the segments.
func jpegSize(data []byte) (w, h int) {
	for i := 2; i+9 < len(data) && data[i] == 0xff; {
		marker := data[i+1]
		switch {
		case marker == 0xff:
			i++
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return int(binary.BigEndian.Uint16(data[i+7:])), int(binary.BigEndian.Uint16(data[i+5:]))
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd8:
			i += 2
			continue
		}
		i += 2 + int(binary.BigEndian.Uint16(data[i+2:]))
	}
	return 0, 0
}
