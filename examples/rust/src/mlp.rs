//! A perceptron with one hidden layer, trained by momentum SGD; plain arrays.
//!
//! SPDX-License-Identifier: Apache-2.0

struct Layer {
    inputs: usize,
    outputs: usize,
    /// [inputs][outputs], then the biases.
    weights: Vec<f32>,
    velocity: Vec<f32>,
    gradient: Vec<f32>,
}

pub struct Mlp {
    first: Layer,
    second: Layer,
    hidden: Vec<f32>,
    logits: Vec<f32>,
    hidden_gradient: Vec<f32>,
}

/// SplitMix64 as a number in -1 .. 1.
fn uniform(state: &mut u64) -> f32 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 40) as f32 / 8_388_608.0 - 1.0
}

/// `to += factor * from`, the loop all arithmetic is made of.
fn add_scaled(to: &mut [f32], factor: f32, from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

impl Layer {
    fn new(inputs: usize, outputs: usize, random: &mut u64) -> Layer {
        let bound = (6.0 / inputs as f32).sqrt();
        let mut weights: Vec<f32> = (0..inputs * outputs).map(|_| bound * uniform(random)).collect();
        weights.resize((inputs + 1) * outputs, 0.0);
        let (velocity, gradient) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
        Layer { inputs, outputs, weights, velocity, gradient }
    }

    fn forward(&self, rows: &[f32], out: &mut Vec<f32>) {
        out.clear();
        let (weights, biases) = self.weights.split_at(self.inputs * self.outputs);
        for row in rows.chunks_exact(self.inputs) {
            let begin = out.len();
            out.extend_from_slice(biases);
            let sums = &mut out[begin..];
            for (&x, weights) in row.iter().zip(weights.chunks_exact(self.outputs)) {
                if x != 0.0 {
                    add_scaled(sums, x, weights);
                }
            }
        }
    }

    /// The gradient of the weights from that of what came out.
    fn backward(&mut self, rows: &[f32], out_gradient: &[f32]) {
        self.gradient.fill(0.0);
        let (weights, biases) = self.gradient.split_at_mut(self.inputs * self.outputs);
        for (row, slope) in rows.chunks_exact(self.inputs).zip(out_gradient.chunks_exact(self.outputs)) {
            add_scaled(biases, 1.0, slope);
            for (&x, weights) in row.iter().zip(weights.chunks_exact_mut(self.outputs)) {
                if x != 0.0 {
                    add_scaled(weights, x, slope);
                }
            }
        }
    }

    fn step(&mut self, rate: f32, momentum: f32) {
        for ((weight, velocity), gradient) in
            self.weights.iter_mut().zip(&mut self.velocity).zip(&self.gradient)
        {
            *velocity = momentum * *velocity + gradient;
            *weight -= rate * *velocity;
        }
    }
}

impl Mlp {
    pub fn new(inputs: usize, hidden: usize, outputs: usize) -> Mlp {
        let mut random = 1;
        let (first, second) =
            (Layer::new(inputs, hidden, &mut random), Layer::new(hidden, outputs, &mut random));
        Mlp { first, second, hidden: Vec::new(), logits: Vec::new(), hidden_gradient: Vec::new() }
    }

    fn forward(&mut self, images: &[f32]) {
        self.first.forward(images, &mut self.hidden);
        self.hidden.iter_mut().for_each(|x| *x = x.max(0.0));
        self.second.forward(&self.hidden, &mut self.logits);
    }

    /// One step; returns the sum of the losses.
    pub fn train(&mut self, images: &[f32], labels: &[i64], rate: f32, momentum: f32) -> f64 {
        self.forward(images);
        let scale = 1.0 / labels.len() as f32;
        let mut loss = 0.0;
        for (row, &label) in self.logits.chunks_exact_mut(self.second.outputs).zip(labels) {
            let largest = row.iter().copied().fold(f32::MIN, f32::max);
            row.iter_mut().for_each(|x| *x = (*x - largest).exp());
            let sum: f32 = row.iter().sum();
            loss -= f64::from((row[label as usize] / sum).max(1e-30).ln());
            row.iter_mut().for_each(|x| *x *= scale / sum);
            row[label as usize] -= scale;
        }
        self.second.backward(&self.hidden, &self.logits);
        self.hidden_gradient.clear();
        for (row, slope) in
            self.hidden.chunks_exact(self.first.outputs).zip(self.logits.chunks_exact(self.second.outputs))
        {
            for (&x, weights) in row.iter().zip(self.second.weights.chunks_exact(self.second.outputs)) {
                let sum: f32 = weights.iter().zip(slope).map(|(weight, slope)| weight * slope).sum();
                self.hidden_gradient.push(if x > 0.0 { sum } else { 0.0 });
            }
        }
        self.first.backward(images, &self.hidden_gradient);
        self.first.step(rate, momentum);
        self.second.step(rate, momentum);
        loss
    }

    /// How many labels are found.
    pub fn correct(&mut self, images: &[f32], labels: &[i64]) -> usize {
        self.forward(images);
        let rows = self.logits.chunks_exact(self.second.outputs);
        let best =
            |row: &[f32]| (1..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best });
        rows.zip(labels).filter(|(row, &label)| best(row) as i64 == label).count()
    }
}
