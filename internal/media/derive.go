package media

import (
	"bytes"
	"image"
	"image/draw"
	"math"

	scale "golang.org/x/image/draw"
)

// A Style is a way to show images: nobody can ask for other sizes.
type Style struct {
	Name          string
	Width, Height int  // pixels at most
	Crop          bool // fills Width by Height, cut around what matters
}

// The styles. The larger ones of a pair are for dense screens and wide windows.
var styles = []Style{
	{"thumbnail", 240, 240, true},
	{"card", 480, 270, true},
	{"card-large", 960, 540, true},
	{"wide-small", 800, 1600, false},
	{"wide", 1600, 3200, false},
}

// StyleNamed returns the style of a name.
func StyleNamed(name string) (Style, bool) {
	for _, s := range styles {
		if s.Name == name {
			return s, true
		}
	}
	return Style{}, false
}

// StyleSizes names the styles that show an image like the one named, the smallest
// first.
func StyleSizes(name string) []string {
	switch name {
	case "card", "card-large":
		return []string{"card", "card-large"}
	case "wide", "wide-small":
		return []string{"wide-small", "wide"}
	}
	return []string{name}
}

// A Focus is the point of an image that must stay in sight, from 0 to 1 in either
// direction.
type Focus struct{ X, Y float64 }

// Centre is where the focus is unless somebody says otherwise.
var Centre = Focus{0.5, 0.5}

// Size is how large an image of a size becomes. Images are never enlarged.
func (s Style) Size(width, height int) (w, h int) {
	if width <= 0 || height <= 0 {
		return 0, 0
	}
	if s.Crop {
		cut := s.cut(width, height, Centre)
		f := min(1, float64(s.Width)/float64(cut.Dx()))
		return scaled(cut.Dx(), f), scaled(cut.Dy(), f)
	}
	f := min(1, float64(s.Width)/float64(width), float64(s.Height)/float64(height))
	return scaled(width, f), scaled(height, f)
}

func scaled(n int, f float64) int { return max(1, int(math.Round(float64(n)*f))) }

// cut is the part of an image that a style shows: the largest of its shape, as
// near to the focus as the edges allow.
func (s Style) cut(width, height int, at Focus) image.Rectangle {
	if !s.Crop {
		return image.Rect(0, 0, width, height)
	}
	w, h := width, height
	if width*s.Height > height*s.Width {
		w = max(1, int(math.Round(float64(height)*float64(s.Width)/float64(s.Height))))
	} else {
		h = max(1, int(math.Round(float64(width)*float64(s.Height)/float64(s.Width))))
	}
	x := clamp(int(math.Round(at.X*float64(width)-float64(w)/2)), width-w)
	y := clamp(int(math.Round(at.Y*float64(height)-float64(h)/2)), height-h)
	return image.Rect(x, y, x+w, y+h)
}

func clamp(n, most int) int { return max(0, min(n, most)) }

// Derive makes an image as a style shows it: a JPEG, or a PNG when parts of it are
// transparent.
func Derive(b []byte, s Style, at Focus) (out []byte, mime string, err error) {
	i, err := CheckImage(b)
	if err != nil {
		return nil, "", err
	}
	picture, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, "", ErrDamaged
	}
	if turn := orientation(i.MIME, b); turn > 1 {
		picture = turned(picture, turn)
	}
	bounds := picture.Bounds()
	w, h := s.Size(bounds.Dx(), bounds.Dy())
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	scale.CatmullRom.Scale(small, small.Bounds(), picture, s.cut(bounds.Dx(), bounds.Dy(), at).Add(bounds.Min), draw.Src, nil)
	return encode(small, derivedQuality, profile(i.MIME, b))
}

func rgba(m image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), m, m.Bounds().Min, draw.Src)
	return out
}
