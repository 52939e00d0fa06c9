package config

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"docent/db"
	"docent/db/dbtest"
)

// Many who change the order at once, each going on from what is there, lose
// nothing of each other's.
func TestUpdateAll(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, s := t.Context(), open(t, d)
		before, err := All[Placement](ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				errs[i] = UpdateAll(ctx, s, "", func(all []Named[Placement]) ([]Named[Placement], error) {
					all = slices.Clone(all)
					for j := range all {
						all[j].Value.Weight++
					}
					return all, nil
				})
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		after, err := All[Placement](ctx, s)
		if err != nil || len(after) != len(before) {
			t.Fatalf("%d of %d are left, %v", len(after), len(before), err)
		}
		for i, p := range after {
			if p.Value.Weight != before[i].Value.Weight+len(errs) {
				t.Errorf("%s has the weight %d", p.Name, p.Value.Weight)
			}
		}

		refused := errors.New("refused")
		if err := UpdateAll(ctx, s, "", func(all []Named[Placement]) ([]Named[Placement], error) { return all, refused }); !errors.Is(err, refused) {
			t.Errorf("the change's own error: %v", err)
		}
		first := before[0].Value
		first.Region, first.Label = "attic", ""
		if fields := refusedFields(t, Check(ctx, s, before[0].Name, first)); !slices.Contains(fields, "region") || !slices.Contains(fields, "label") {
			t.Errorf("checked, refused are %q", fields)
		}
		if err := Check(ctx, s, before[0].Name, before[0].Value); err != nil {
			t.Errorf("checking what is stored: %v", err)
		}
		bad := func(all []Named[Placement]) ([]Named[Placement], error) {
			all = slices.Clone(all)
			all[0].Value.Label, all[1].Value.Region = "Another", "attic"
			return all, nil
		}
		if fields := refusedFields(t, UpdateAll(ctx, s, "", bad)); !slices.Contains(fields, "region") {
			t.Errorf("refused are %q", fields)
		}
		gone := func(all []Named[Placement]) ([]Named[Placement], error) {
			first := all[0]
			first.Value.Label = "Another"
			return []Named[Placement]{first, {"gone", first.Value}}, nil
		}
		if err := UpdateAll(ctx, s, "", gone); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("an object that is not there: %v", err)
		}
		if now, err := All[Placement](ctx, s); err != nil || !reflect.DeepEqual(now, after) {
			t.Errorf("something of what was refused is stored: %v, %v", now, err)
		}
	})
}
