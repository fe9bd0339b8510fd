package kubeapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"leeward/messages/lists"
	"leeward/runtime/daemon/engine"
)

// column is one column of what "kubectl get" prints.
type column struct {
	metav1.TableColumnDefinition
	// cell is what an object has in the column, at a time.
	cell func(o engine.Object, now time.Time) any
}

// shown returns a column of one kind of objects; wide columns are shown with -o wide only.
func shown[T engine.Object](name string, cell func(o T) any) column {
	return column{
		TableColumnDefinition: metav1.TableColumnDefinition{Name: name, Type: "string"},
		cell:                  func(o engine.Object, _ time.Time) any { return cell(o.(T)) },
	}
}

func wide(c column) column {
	c.Priority = 1
	return c
}

// number says that a column holds numbers, which kubectl aligns as text all the same, and scripts do not.
func number(c column) column {
	c.Type = "integer"
	return c
}

var (
	nameColumn = column{
		TableColumnDefinition: metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name"},
		cell:                  func(o engine.Object, _ time.Time) any { return o.GetName() },
	}
	ageColumn = column{
		TableColumnDefinition: metav1.TableColumnDefinition{Name: "Age", Type: "string"},
		cell:                  func(o engine.Object, now time.Time) any { return since(o.GetCreationTimestamp(), now) },
	}
	onlyAge = []column{ageColumn}
)

// since says how long ago an instant is, as kubectl does: "5m12s".
func since(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

// orNone shows what is empty as kubectl does.
func orNone(text string) string {
	return cmp.Or(text, "<none>")
}

// statusOf is the status of a condition; what is not reported is Unknown.
func statusOf(conditions []metav1.Condition, kind string) string {
	if c := meta.FindStatusCondition(conditions, kind); c != nil {
		return string(c.Status)
	}
	return string(metav1.ConditionUnknown)
}

// taintsOf lists taints as people write them: "key=value:NoExecute".
func taintsOf(taints []corev1.Taint) string {
	return strings.Join(lists.Of(taints, func(one corev1.Taint) string { return one.ToString() }), ",")
}

// printer makes the tables that kubectl prints of one kind.
type printer struct {
	*kind
	clock clock.Clock
}

// ConvertToTable makes the table of an object or a list.
func (p printer) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	columns := p.all()
	table := &metav1.Table{}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		for _, c := range columns {
			c.Description = strings.ToLower(c.Name) + " of the " + p.Kind.Kind
			table.ColumnDefinitions = append(table.ColumnDefinitions, c.TableColumnDefinition)
		}
	}
	now := p.clock.Now()
	row := func(each runtime.Object) error {
		o, ok := each.(engine.Object)
		if !ok {
			return fmt.Errorf("show %T as a row of a table: it has no metadata", each)
		}
		table.Rows = append(table.Rows, rowOf(o, columns, now))
		return nil
	}
	if !meta.IsListType(object) {
		return table, row(object)
	}
	if list, err := meta.ListAccessor(object); err == nil {
		table.ResourceVersion, table.Continue = list.GetResourceVersion(), list.GetContinue()
		table.RemainingItemCount = list.GetRemainingItemCount()
	}
	return table, meta.EachListItem(object, row)
}

// all returns the columns of a kind. Events do without their names, which tell nothing, and some kinds show them in their own way.
func (k *kind) all() []column {
	if k.lives > 0 || k.columns[0].Name == nameColumn.Name {
		return k.columns
	}
	return append([]column{nameColumn}, k.columns...)
}

func rowOf(o engine.Object, columns []column, now time.Time) metav1.TableRow {
	return metav1.TableRow{Cells: lists.Of(columns, func(c column) any { return c.cell(o, now) }), Object: runtime.RawExtension{Object: o}}
}
