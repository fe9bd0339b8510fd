package admission

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages/api"
)

// Where the grades of a cluster that names none begin: in cores, and in GiB of memory.
var (
	coresOfGrades  = []int64{0, 1, 2, 4, 8, 16, 32, 64, 128}
	memoryOfGrades = []int64{0, 4, 16, 32, 64, 128, 256, 512, 1024}
)

const gibibyte = 1 << 30

// defaultModels are the nine grades of nodes that a cluster has that names none. Source: Karmada's
// "Cluster Resources", default resource models.
func defaultModels() []api.ResourceModel {
	models := make([]api.ResourceModel, len(coresOfGrades))
	for grade := range models {
		models[grade] = api.ResourceModel{Grade: uint(grade), Ranges: []api.ResourceModelRange{
			rangeOfGrade(corev1.ResourceCPU, coresOfGrades, grade, 1, resource.DecimalSI),
			rangeOfGrade(corev1.ResourceMemory, memoryOfGrades, grade, gibibyte, resource.BinarySI),
		}}
	}
	return models
}

// rangeOfGrade goes from the beginning of a grade to that of the next; the last one has no end.
func rangeOfGrade(name corev1.ResourceName, begins []int64, grade int, unit int64, format resource.Format) api.ResourceModelRange {
	end := int64(math.MaxInt64)
	if grade+1 < len(begins) {
		end = begins[grade+1] * unit
	}
	return api.ResourceModelRange{
		Name: name, Min: *resource.NewQuantity(begins[grade]*unit, format), Max: *resource.NewQuantity(end, format),
	}
}
