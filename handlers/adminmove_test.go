package handlers

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"docent/db"
)

// grown makes a tree of its outline: "a(b c) d".
func grown(outline string) []*branch {
	top := &branch{}
	stack := []*branch{top}
	for _, r := range outline {
		around := stack[len(stack)-1]
		switch r {
		case '(':
			stack = append(stack, around.children[len(around.children)-1])
		case ')':
			stack = stack[:len(stack)-1]
		case ' ':
		default:
			around.children = append(around.children, &branch{id: string(r)})
		}
	}
	return top.children
}

func outlineOf(tree []*branch) string {
	var parts []string
	for _, b := range tree {
		part := b.id
		if len(b.children) > 0 {
			part += "(" + outlineOf(b.children) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func TestMoves(t *testing.T) {
	for _, tt := range []struct {
		tree string
		move move
		want string
	}{
		{"a b c", move{id: "b", how: "up"}, "b a c"},
		{"a b c", move{id: "a", how: "up"}, "a b c"},
		{"a b c", move{id: "b", how: "down"}, "a c b"},
		{"a b c", move{id: "c", how: "down"}, "a b c"},
		{"a(x) b c", move{id: "b", how: "in"}, "a(x b) c"},
		{"a b", move{id: "a", how: "in"}, "a b"},
		{"a(x y z) b", move{id: "y", how: "out"}, "a(x z) y b"},
		{"a b", move{id: "b", how: "out"}, "a b"},
		{"a(x) b(y)", move{id: "x", how: "before", target: "y"}, "a b(x y)"},
		{"a b c", move{id: "a", how: "after", target: "b"}, "b a c"},
		{"a b(y) c", move{id: "c", how: "inside", target: "b"}, "a b(y c)"},
		{"a(x) b", move{id: "a", how: "inside", target: "b"}, "b(a(x))"},
	} {
		got, err := tt.move.apply(grown(tt.tree))
		if err != nil || outlineOf(got) != tt.want {
			t.Errorf("%+v of %s gives %s, %v, want %s", tt.move, tt.tree, outlineOf(got), err, tt.want)
		}
	}
	for _, m := range []move{{id: "?", how: "up"}, {id: "a", how: "after", target: "?"}} {
		if _, err := m.apply(grown("a b")); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("%+v gives %v", m, err)
		}
	}
	if _, err := (move{id: "a", how: "inside", target: "y"}).apply(grown("a(x(y))")); err == nil {
		t.Error("an entry can be put below itself")
	}
	if _, err := (move{id: "a", how: "inside", target: "b"}).reorder([]string{"a", "b"}); err == nil {
		t.Error("a list gets levels")
	}
}

// Whatever is moved where, nothing is lost and nothing is there twice.
func TestMovesKeepEverything(t *testing.T) {
	ids := strings.Split("a b c d e f g", " ")
	tree := grown("a(b c(d)) e(f) g")
	for range 5000 {
		m := move{id: ids[rand.IntN(len(ids))], target: ids[rand.IntN(len(ids))]}
		m.how = []string{"up", "down", "in", "out", "before", "after", "inside"}[rand.IntN(7)]
		if m.id == m.target {
			continue
		}
		before := outlineOf(tree)
		next, err := m.apply(tree)
		if err != nil {
			tree = grown(before)
			continue
		}
		tree = next
		found := strings.FieldsFunc(outlineOf(tree), func(r rune) bool { return strings.ContainsRune("() ", r) })
		slices.Sort(found)
		if !slices.Equal(found, ids) {
			t.Fatalf("%+v of %s gives %s", m, before, outlineOf(tree))
		}
	}
}
