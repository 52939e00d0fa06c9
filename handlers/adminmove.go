package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/db"
)

// A branch is an entry of a tree whose order is being changed.
type branch struct {
	id       string
	children []*branch
}

// A move changes the place of one entry: by a step (up, down, in, out), or to a
// place beside or inside another entry (before, after, inside), as drops do.
type move struct {
	id, how, target string
}

// postedMove reads the move of a tree's form: the button that was pressed, or
// what a drop wrote into its field.
func postedMove(c echo.Context) (move, error) {
	form, err := postedForm(c)
	if err != nil {
		return move{}, err
	}
	if id, rest, ok := strings.Cut(form.Get("drop"), ":"); ok {
		how, target, _ := strings.Cut(rest, ":")
		if slices.Contains([]string{"before", "after", "inside"}, how) && id != target {
			return move{id, how, target}, nil
		}
	}
	how, id, _ := strings.Cut(form.Get("move"), ":")
	if !slices.Contains([]string{"up", "down", "in", "out"}, how) {
		return move{}, refuse(http.StatusBadRequest, "")
	}
	return move{id: id, how: how}, nil
}

// done leads back to the page, to the entry that was moved.
func (m move) done(c echo.Context, path string) error {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return c.Redirect(http.StatusSeeOther, path+separator+"done=moved#row-"+url.PathEscape(m.id))
}

// apply returns the tree after the move. A step that leads nowhere changes
// nothing; unknown entries are [db.ErrNotFound].
func (m move) apply(roots []*branch) ([]*branch, error) {
	top := &branch{children: roots}
	parent, i := top.find(m.id)
	if parent == nil {
		return nil, db.ErrNotFound
	}
	moved := parent.children[i]
	switch m.how {
	case "up":
		if i > 0 {
			parent.children[i-1], parent.children[i] = moved, parent.children[i-1]
		}
	case "down":
		if i < len(parent.children)-1 {
			parent.children[i+1], parent.children[i] = moved, parent.children[i+1]
		}
	case "in":
		if i > 0 {
			above := parent.children[i-1]
			parent.children = slices.Delete(parent.children, i, i+1)
			above.children = append(above.children, moved)
		}
	case "out":
		if parent != top {
			around, j := top.find(parent.id)
			parent.children = slices.Delete(parent.children, i, i+1)
			around.children = slices.Insert(around.children, j+1, moved)
		}
	default:
		if inside, _ := moved.find(m.target); inside != nil {
			return nil, refuse(http.StatusBadRequest, "")
		}
		if target, _ := top.find(m.target); target == nil {
			return nil, db.ErrNotFound
		}
		parent.children = slices.Delete(parent.children, i, i+1)
		around, j := top.find(m.target)
		switch m.how {
		case "before":
			around.children = slices.Insert(around.children, j, moved)
		case "after":
			around.children = slices.Insert(around.children, j+1, moved)
		case "inside":
			target := around.children[j]
			target.children = append(target.children, moved)
		}
	}
	return top.children, nil
}

// find returns the branch around an entry and the entry's place in it, nil when
// there is none below b.
func (b *branch) find(id string) (*branch, int) {
	for i, child := range b.children {
		if child.id == id {
			return b, i
		}
		if around, j := child.find(id); around != nil {
			return around, j
		}
	}
	return nil, 0
}

// reorder applies a move to a list without levels.
func (m move) reorder(ids []string) ([]string, error) {
	roots := make([]*branch, len(ids))
	for i, id := range ids {
		roots[i] = &branch{id: id}
	}
	roots, err := m.apply(roots)
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(ids))
	for _, b := range roots {
		out = append(out, b.id)
	}
	if len(out) != len(ids) { // it went below another entry, where nothing can be
		return nil, refuse(http.StatusBadRequest, "")
	}
	return out, nil
}
