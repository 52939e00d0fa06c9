package media

import (
	"bytes"
	"image"
	_ "image/gif" // the raster formats that are understood
	"image/jpeg"
	"image/png"
	"io"

	_ "golang.org/x/image/webp"
)

// CheckImage tells what kind of image the bytes are and how large, going by
// nothing but them. Images of more than 40 megapixels are refused undecoded.
func CheckImage(b []byte) (Info, error) {
	i, err := imageInfo(bytes.NewReader(b), b[:min(len(b), 64)])
	if err == nil && i.MIME == WebP {
		err = checkWebP(b, i)
	}
	return i, err
}

func imageInfo(r io.Reader, start []byte) (Info, error) {
	var i Info
	if w, h, ok := webpSize(start); ok {
		i.MIME, i.Width, i.Height = WebP, w, h
	} else {
		c, format, err := image.DecodeConfig(r)
		if err != nil {
			return i, ErrImage
		}
		i.MIME, i.Width, i.Height = "image/"+format, c.Width, c.Height
	}
	if i.Width <= 0 || i.Height <= 0 {
		return i, ErrImage
	}
	if int64(i.Width)*int64(i.Height) > maxPixels {
		return i, ErrTooLarge
	}
	return i, nil
}

// quality of JPEG images that have to be made again.
const (
	turnedQuality  = 92
	derivedQuality = 82
)

// Clean removes what an image says besides its picture: places, cameras, names,
// comments, previews and whatever follows its end. A picture that was to be turned
// is turned. Colour profiles stay. With decode, an image that cannot be decoded is
// [ErrDamaged].
func Clean(b []byte, decode bool) ([]byte, Info, error) {
	i, err := CheckImage(b)
	if err != nil {
		return nil, i, err
	}
	turn := orientation(i.MIME, b)
	var picture image.Image
	if decode || turn > 1 {
		if picture, _, err = image.Decode(bytes.NewReader(b)); err != nil {
			return nil, i, ErrDamaged
		}
	}
	if turn > 1 {
		return encodeTurned(picture, turn, profile(i.MIME, b))
	}
	b, err = strip(i.MIME, b)
	return b, i, err
}

func encodeTurned(picture image.Image, turn int, icc []byte) ([]byte, Info, error) {
	picture = turned(picture, turn)
	b, mime, err := encode(picture, turnedQuality, icc)
	size := picture.Bounds()
	return b, Info{MIME: mime, Width: size.Dx(), Height: size.Dy()}, err
}

// encode makes a JPEG of a picture, or a PNG when parts of it are transparent.
func encode(picture image.Image, quality int, icc []byte) (b []byte, mime string, err error) {
	var out bytes.Buffer
	if opaque, ok := picture.(interface{ Opaque() bool }); ok && !opaque.Opaque() {
		err = png.Encode(&out, picture)
		return withPNGProfile(out.Bytes(), icc), PNG, err
	}
	err = jpeg.Encode(&out, picture, &jpeg.Options{Quality: quality})
	return withJPEGProfile(out.Bytes(), icc), JPEG, err
}

// turned is a picture as EXIF orientation 2 to 8 has it shown.
func turned(m image.Image, orientation int) image.Image {
	b := m.Bounds()
	w, h := b.Dx(), b.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	source := rgba(m)
	out := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			tx, ty := x, y
			switch orientation {
			case 2:
				tx = w - 1 - x
			case 3:
				tx, ty = w-1-x, h-1-y
			case 4:
				ty = h - 1 - y
			case 5:
				tx, ty = y, x
			case 6:
				tx, ty = h-1-y, x
			case 7:
				tx, ty = h-1-y, w-1-x
			case 8:
				tx, ty = y, w-1-x
			}
			from, to := y*source.Stride+4*x, ty*out.Stride+4*tx
			copy(out.Pix[to:to+4], source.Pix[from:from+4])
		}
	}
	return out
}
