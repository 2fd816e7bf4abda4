// What learns while the game runs: a pilot that imitates recorded controls, by least squares on small
// batches. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

inline constexpr int kSensors = 16;
inline constexpr int kControls = 4;

class Pilot {
 public:
  // One step of gradient descent; returns the mean squared error before it.
  float learn(const float* sensors, const float* controls, int64_t count) {
    if (count == 0) return 0.0f;
    float gradient[kSensors][kControls] = {};
    float error_sum = 0.0f;
    for (int64_t i = 0; i < count; ++i) {
      const float* seen = sensors + i * kSensors;
      for (int c = 0; c < kControls; ++c) {
        float error = -controls[i * kControls + c];
        for (int s = 0; s < kSensors; ++s) error += weights_[s][c] * seen[s];
        for (int s = 0; s < kSensors; ++s) gradient[s][c] += error * seen[s];
        error_sum += error * error;
      }
    }
    const float rate = 0.2f / static_cast<float>(count);
    for (int s = 0; s < kSensors; ++s) {
      for (int c = 0; c < kControls; ++c) weights_[s][c] -= rate * gradient[s][c];
    }
    return error_sum / static_cast<float>(count * kControls);
  }

 private:
  float weights_[kSensors][kControls] = {};
};

// A recording as an engine might hold it: what the sensors saw, and what a player did, a fixed mixture of it.
struct Recording {
  static constexpr int64_t kMoments = 20000;
  float sensors[kMoments][kSensors];
  float controls[kMoments][kControls];

  void fill() {
    for (int64_t i = 0; i < kMoments; ++i) {
      for (int s = 0; s < kSensors; ++s) {
        sensors[i][s] = std::sin(0.1f * static_cast<float>(i % 10007) * static_cast<float>(s + 1) +
                                 static_cast<float>(s));
      }
      for (int c = 0; c < kControls; ++c) {
        controls[i][c] = 0.5f * sensors[i][c] - 0.3f * sensors[i][c + 5] + 0.2f * sensors[i][c + 11];
      }
    }
  }
};
