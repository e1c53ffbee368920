// SPDX-License-Identifier: Apache-2.0
// Boxes that overlap better ones are left out, and convolutions over three axes, of floats.
#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <utility>

#include "host_tflite.h"

namespace sluice_sim {
namespace {

// ---- NON_MAX_SUPPRESSION_V4, _V5

// The common share of two boxes, each two opposite corners in any order.
float Overlap(const LiteTensor& boxes, int64_t i, int64_t j) {
  const auto low = [&](int64_t box, int64_t a) {
    return std::min(boxes.Float(4 * box + a), boxes.Float(4 * box + a + 2));
  };
  const auto high = [&](int64_t box, int64_t a) {
    return std::max(boxes.Float(4 * box + a), boxes.Float(4 * box + a + 2));
  };
  const float area = (high(i, 0) - low(i, 0)) * (high(i, 1) - low(i, 1)),
              other = (high(j, 0) - low(j, 0)) * (high(j, 1) - low(j, 1));
  if (area <= 0 || other <= 0) return 0;
  float common = 1;
  for (int64_t a = 0; a < 2; ++a) {
    const float from = std::max(low(i, a), low(j, a)),
                to = std::min(high(i, a), high(j, a));
    common *= std::max(to - from, 0.0f);
  }
  return common / (area + other - common);
}

struct Candidate {
  int64_t box;
  float score;
  size_t seen;  // of the chosen boxes, it has been compared with so many
};
struct Worse {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.score < b.score;
  }
};

struct Limits {
  size_t most;
  float overlap, score, sigma;
};

// Compares a candidate with chosen boxes, the last first. False: it is left out; else its
// score falls with each overlap, if there is a sigma.
bool Stays(const LiteTensor& boxes, const std::vector<Candidate>& chosen,
           const Limits& limits, Candidate* next) {
  const float scale = limits.sigma > 0 ? -0.5f / limits.sigma : 0;
  for (size_t j = chosen.size(); j-- > next->seen;) {
    const float overlap = Overlap(boxes, next->box, chosen[j].box);
    if (overlap >= limits.overlap) return false;
    if (limits.sigma > 0) next->score *= std::exp(scale * overlap * overlap);
    if (next->score <= limits.score) break;
  }
  next->seen = chosen.size();
  return true;
}

std::vector<Candidate> Chosen(const LiteTensor& boxes, const LiteTensor& scores,
                              const Limits& limits) {
  std::priority_queue<Candidate, std::vector<Candidate>, Worse> queue;
  for (int64_t i = 0; i < scores.count; ++i) {
    if (scores.Float(i) > limits.score) queue.push({i, scores.Float(i), 0});
  }
  std::vector<Candidate> chosen;
  while (chosen.size() < limits.most && !queue.empty()) {
    Candidate next = queue.top();
    queue.pop();
    const float before = next.score;
    if (!Stays(boxes, chosen, limits, &next)) continue;
    if (next.score == before) chosen.push_back(next);
    // Also a chosen box: it then overlaps itself, unless it has no area.
    if (next.score > limits.score) queue.push(next);
  }
  return chosen;
}

// Inputs: boxes [n, 4], scores [n], how many at most, bounds of overlap and score, sigma.
// Outputs: indices, their scores (V5), how many there are; zeros behind them.
std::string Suppress(const LiteCall& call) {
  const bool soft = call.in.size() == 6;
  const size_t results = soft ? 3 : 2;
  if (call.in.size() < 5 || call.out.size() != results ||
      call.in[0].count != 4 * call.in[1].count || call.in[2].count != 1) {
    return kLiteOperands;
  }
  const LiteTensor& indices = call.out[0];
  const int64_t most = std::clamp<int64_t>(call.in[2].Int(0), 0, indices.count);
  const std::vector<Candidate> chosen =
      Chosen(call.in[0], call.in[1],
             {static_cast<size_t>(most), call.in[3].Float(0), call.in[4].Float(0),
              soft ? call.in[5].Float(0) : 0.0f});
  for (int64_t i = 0; i < indices.count; ++i) {
    const size_t at = static_cast<size_t>(i);
    indices.SetInt(i, at < chosen.size() ? chosen[at].box : 0);
    if (soft) call.out[1].SetFloat(i, at < chosen.size() ? chosen[at].score : 0.0f);
  }
  call.out.back().SetInt(0, static_cast<int64_t>(chosen.size()));
  return "";
}

// ---- CONV_3D. Numbers: padding (0: SAME), three strides, three dilations, activation.

struct Reach {
  int64_t in, out, window, stride, dilation, pad;
};

// Places of the window's elements that lie in the operand, as (element, place).
std::vector<std::pair<int64_t, int64_t>> Places(const Reach& r, int64_t o) {
  std::vector<std::pair<int64_t, int64_t>> places;
  for (int64_t w = 0; w < r.window; ++w) {
    const int64_t at = o * r.stride - r.pad + w * r.dilation;
    if (at >= 0 && at < r.in) places.push_back({w, at});
  }
  return places;
}

int64_t At5(const LiteShape& s, const std::array<int64_t, 5>& i) {
  return (((i[0] * s[1] + i[1]) * s[2] + i[2]) * s[3] + i[3]) * s[4] + i[4];
}

std::string Conv3d(const LiteCall& call) {
  if (call.in.size() < 2 || call.in[0].rank() != 5 || call.in[1].rank() != 5 ||
      call.out[0].rank() != 5) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &f = call.in[1], &y = call.out[0];
  if (!x.IsFloat() || !f.IsFloat() || !y.IsFloat() || x.shape[0] != y.shape[0] ||
      f.shape[3] != x.shape[4] || f.shape[4] != y.shape[4]) {
    return kLiteOperands;
  }
  std::array<Reach, 3> reach;
  for (size_t a = 0; a < 3; ++a) {
    reach[a] = {x.shape[1 + a],
                y.shape[1 + a],
                f.shape[a],
                std::max<int64_t>(call.Number(1 + a), 1),
                std::max<int64_t>(call.Number(4 + a), 1),
                0};
    const int64_t wide = (reach[a].window - 1) * reach[a].dilation + 1;
    const int64_t over = (reach[a].out - 1) * reach[a].stride + wide - reach[a].in;
    if (call.Number(0) == 0) reach[a].pad = std::max<int64_t>(over, 0) / 2;
  }
  const bool biased = call.in.size() > 2 && call.in[2].IsFloat();
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t k = i % y.shape[4], w = i / y.shape[4], h = w / y.shape[3],
                  d = h / y.shape[2], n = d / y.shape[1];
    float sum = 0;
    for (const auto& [fd, xd] : Places(reach[0], d % y.shape[1])) {
      for (const auto& [fh, xh] : Places(reach[1], h % y.shape[2])) {
        for (const auto& [fw, xw] : Places(reach[2], w % y.shape[3])) {
          for (int64_t c = 0; c < x.shape[4]; ++c) {
            sum += x.Float(At5(x.shape, {n, xd, xh, xw, c})) *
                   f.Float(At5(f.shape, {fd, fh, fw, c, k}));
          }
        }
      }
    }
    y.SetFloat(
        i, LiteActivate(sum + (biased ? call.in[2].Float(k) : 0.0f), call.Number(7)));
  }
  return "";
}

}  // namespace

void AddLiteBoxes(LiteRows* rows) {
  const LiteRows here = {{"NON_MAX_SUPPRESSION_V4", Suppress},
                         {"NON_MAX_SUPPRESSION_V5", Suppress},
                         {"CONV_3D", Conv3d}};
  rows->insert(here.begin(), here.end());
}

}  // namespace sluice_sim
