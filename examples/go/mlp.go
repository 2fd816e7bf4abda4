// SPDX-License-Identifier: Apache-2.0

package main

import "math"

// layer is a matrix with biases, trained by momentum SGD.
type layer struct {
	inputs, outputs int
	// [inputs][outputs], then the biases.
	weights, velocity, gradient []float32
}

// mlp is a perceptron with one hidden layer; plain slices, the same bits on every run.
type mlp struct {
	first, second                  layer
	hidden, logits, hiddenGradient []float32
}

// uniform is SplitMix64 as a number in -1 .. 1.
func uniform(state *uint64) float32 {
	*state += 0x9E3779B97F4A7C15
	z := *state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return float32((z^z>>31)>>40)/8388608 - 1
}

// addScaled is to += factor * from, the loop all arithmetic is made of.
func addScaled(to []float32, factor float32, from []float32) {
	for at, x := range from[:len(to)] {
		to[at] += factor * x
	}
}

func newLayer(inputs, outputs int, random *uint64) layer {
	weights := make([]float32, (inputs+1)*outputs)
	bound := float32(math.Sqrt(6 / float64(inputs)))
	for at := range inputs * outputs {
		weights[at] = bound * uniform(random)
	}
	return layer{inputs, outputs, weights, make([]float32, len(weights)), make([]float32, len(weights))}
}

func (l *layer) forward(rows, out []float32) []float32 {
	out = out[:0]
	biases := l.weights[l.inputs*l.outputs:]
	for ; len(rows) > 0; rows = rows[l.inputs:] {
		out = append(out, biases...)
		sums := out[len(out)-l.outputs:]
		for at, x := range rows[:l.inputs] {
			if x != 0 {
				addScaled(sums, x, l.weights[at*l.outputs:])
			}
		}
	}
	return out
}

// backward is the gradient of the weights from that of what came out.
func (l *layer) backward(rows, outGradient []float32) {
	clear(l.gradient)
	biases := l.gradient[l.inputs*l.outputs:]
	for ; len(rows) > 0; rows, outGradient = rows[l.inputs:], outGradient[l.outputs:] {
		slope := outGradient[:l.outputs]
		addScaled(biases, 1, slope)
		for at, x := range rows[:l.inputs] {
			if x != 0 {
				addScaled(l.gradient[at*l.outputs:(at+1)*l.outputs], x, slope)
			}
		}
	}
}

func (l *layer) step(rate, momentum float32) {
	for at, gradient := range l.gradient {
		l.velocity[at] = momentum*l.velocity[at] + gradient
		l.weights[at] -= rate * l.velocity[at]
	}
}

func newMLP(inputs, hidden, outputs int) *mlp {
	random := uint64(1)
	return &mlp{first: newLayer(inputs, hidden, &random), second: newLayer(hidden, outputs, &random)}
}

func (m *mlp) forward(images []float32) {
	m.hidden = m.first.forward(images, m.hidden)
	for at, x := range m.hidden {
		m.hidden[at] = max(x, 0)
	}
	m.logits = m.second.forward(m.hidden, m.logits)
}

// train is one step; it returns the sum of the losses.
func (m *mlp) train(images []float32, labels []int64, rate, momentum float32) (loss float64) {
	m.forward(images)
	scale := 1 / float32(len(labels))
	for at, label := range labels {
		row := m.logits[at*m.second.outputs : (at+1)*m.second.outputs]
		loss += softmax(row, int(label), scale)
	}
	m.second.backward(m.hidden, m.logits)
	m.hiddenGradient = m.hiddenGradient[:0]
	for at, x := range m.hidden {
		row, unit := at/m.first.outputs, at%m.first.outputs
		slope := m.logits[row*m.second.outputs : (row+1)*m.second.outputs]
		sum := float32(0)
		for out, weight := range m.second.weights[unit*m.second.outputs : (unit+1)*m.second.outputs] {
			sum += weight * slope[out]
		}
		if x <= 0 {
			sum = 0
		}
		m.hiddenGradient = append(m.hiddenGradient, sum)
	}
	m.first.backward(images, m.hiddenGradient)
	m.first.step(rate, momentum)
	m.second.step(rate, momentum)
	return loss
}

// softmax turns a row of logits into the gradient of its loss, which it returns.
func softmax(row []float32, label int, scale float32) (loss float64) {
	largest, sum := row[0], float32(0)
	for _, x := range row {
		largest = max(largest, x)
	}
	for at, x := range row {
		row[at] = float32(math.Exp(float64(x - largest)))
		sum += row[at]
	}
	loss = -math.Log(max(float64(row[label]/sum), 1e-30))
	for at := range row {
		row[at] *= scale / sum
	}
	row[label] -= scale
	return loss
}

// correct is how many labels are found.
func (m *mlp) correct(images []float32, labels []int64) (count int) {
	m.forward(images)
	for at, label := range labels {
		row := m.logits[at*m.second.outputs : (at+1)*m.second.outputs]
		best := 0
		for class, x := range row {
			if x > row[best] {
				best = class
			}
		}
		if best == int(label) {
			count++
		}
	}
	return count
}
