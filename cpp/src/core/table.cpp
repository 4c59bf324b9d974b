#include "bitsieve/core/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t transposed_features = 64;  // a task: whole cache lines of the user's rows

// The largest power of two that divides every value; 0 if there is none worth having.
double grid_of(const TableView& view) {
  int lowest = 1000;
  for (std::size_t f = 0; f < view.n_features; ++f) {
    const float* row = view.row(f);
    for (std::size_t i = 0; i < view.n_samples; ++i) {
      if (row[i] == 0) continue;
      int exponent;
      const float fraction = std::frexp(row[i], &exponent);  // in [0.5, 1), 24 bits
      const auto bits = static_cast<std::int32_t>(std::abs(fraction) * 0x1p24f);
      lowest = std::min(lowest, exponent - 24 + std::countr_zero(static_cast<unsigned>(bits)));
    }
    if (lowest < -60) return 0;
  }
  return lowest > 60 ? 0 : std::ldexp(1.0, lowest);
}

template <typename T>
void transpose(const T* source, const TableView& view, int n_threads, double* out) {
  const std::size_t n_tasks = (view.n_features + transposed_features - 1) / transposed_features;
  parallel_for(n_tasks, n_threads, [&](std::size_t task) {
    const std::size_t begin = task * transposed_features;
    const std::size_t end = std::min(begin + transposed_features, view.n_features);
    for (std::size_t i = 0; i < view.n_samples; ++i) {
      const T* row = source + i * view.n_features;
      for (std::size_t f = begin; f < end; ++f) out[f * view.ld + i] = static_cast<double>(row[f]);
    }
    for (std::size_t f = begin; f < end; ++f) {
      std::fill(out + f * view.ld + view.n_samples, out + (f + 1) * view.ld, 0.0);
    }
  });
}

}  // namespace

Table::Table(const TableView& view, std::vector<double> max_abs, const Source& source, bool exact)
    : max_abs_(std::move(max_abs)),
      view_(view),
      source_(source),
      grid_(exact ? grid_of(view) : 0),
      generation_(fork_generation()) {
  view_.max_abs = max_abs_.data();
}

const double* Table::doubles(int n_threads) const {
  if (const double* made = doubles_.load(std::memory_order_acquire)) return made;
  renew_after_fork(generation_, [&] {
    leave_behind(mutex_);  // another thread of the parent may have held it
    mutex_ = std::make_unique<std::mutex>();
    leave_behind(buffer_);  // which it may have been filling in
  });
  const std::lock_guard<std::mutex> lock(*mutex_);
  if (const double* made = doubles_.load()) return made;
  AlignedBuffer<double> buffer(view_.n_features * view_.ld);
  if (source_.single != nullptr) {
    transpose(source_.single, view_, n_threads, buffer.data());
  } else {
    transpose(source_.doubles, view_, n_threads, buffer.data());
  }
  buffer_ = std::move(buffer);
  doubles_.store(buffer_.data(), std::memory_order_release);
  return buffer_.data();
}

}  // namespace bitsieve
