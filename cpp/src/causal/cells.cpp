#include "cells.hpp"

#include <algorithm>

#include "bitsieve/core/isa.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t most_cell_planes = 64;
constexpr std::size_t most_dense_counts = std::size_t{1} << 22;

}  // namespace

void Cells::reset(DiscreteTest& test) {
  const DiscreteTable& table = test.table();
  margins.assign(1, static_cast<std::uint32_t>(table.n()));
  x.assign(1, 0);
  y.assign(1, 0);
  stratum.assign(1, 0);
  planes_.assign(table.words(), ~std::uint64_t{0});
  if (table.n() % 64 != 0) planes_.back() >>= 64 - table.n() % 64;
  codes_.assign(table.n(), 0);
  less_ = nullptr;
}

bool Cells::countable(DiscreteTest& test, std::size_t feature) const {
  const std::size_t all = test.table().levels(feature) * size();
  return all <= most_dense_counts || all <= 4 * test.table().n();
}

void Cells::count(DiscreteTest& test, std::size_t feature, std::vector<std::uint32_t>& counts) {
  const DiscreteTable& table = test.table();
  const std::size_t levels = table.levels(feature), n = table.n(), words = table.words();
  if (counts.size() < levels * size()) counts.resize(levels * size());
  if (table.by_planes(feature) && !planes_.empty() &&
      (levels - 1) * (size() - 1) * words <= 2 * n + 64) {
    const PlaneView own{planes_.data(), margins.data(), size()};
    kernels().information->plane_counts(table.view(feature), own, words, counts.data());
    return;
  }
  std::fill_n(counts.data(), levels * size(), 0u);
  const std::uint32_t* cells = codes(test);
  const std::uint8_t* other = test.codes(feature);
  std::uint32_t* out = counts.data();
  const auto stride = static_cast<std::uint32_t>(size());
  for (std::size_t i = 0; i < n; ++i) ++out[other[i] * stride + cells[i]];
}

const std::uint32_t* Cells::codes(DiscreteTest& test) {
  if (!codes_.empty()) return codes_.data();
  const std::size_t n = test.table().n();
  const std::uint32_t* under = less_->codes(test);
  const std::uint8_t* other = test.codes(feature_);
  const auto stride = static_cast<std::uint32_t>(less_->size());
  codes_.resize(n);
  for (std::size_t i = 0; i < n; ++i) codes_[i] = place_[other[i] * stride + under[i]];
  return codes_.data();
}

void Cells::extend(DiscreteTest& test, Cells& less, std::size_t feature, Role role,
                   std::vector<std::uint32_t>& counts) {
  const DiscreteTable& table = test.table();
  const std::size_t n = table.n(), levels = table.levels(feature), under = less.size();
  less_ = &less;
  feature_ = feature;
  planes_.clear();
  codes_.clear();
  margins.clear();
  from_.clear();
  if (less.countable(test, feature)) {
    less.count(test, feature, counts);
    place_.assign(levels * under, 0);
    for (std::size_t k = 0; k < levels * under; ++k) {
      if (counts[k] == 0) continue;
      place_[k] = static_cast<std::uint32_t>(margins.size());
      margins.push_back(counts[k]);
      from_.push_back(static_cast<std::uint32_t>(k));
    }
  } else {  // few of the combinations occur: number them by sorting
    const std::uint32_t* cells = less.codes(test);
    const std::uint8_t* other = test.codes(feature);
    std::vector<std::uint32_t> all(n);
    for (std::size_t i = 0; i < n; ++i) {
      all[i] = static_cast<std::uint32_t>(other[i] * under + cells[i]);
    }
    from_ = all;
    std::sort(from_.begin(), from_.end());
    from_.erase(std::unique(from_.begin(), from_.end()), from_.end());
    margins.assign(from_.size(), 0);
    codes_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      codes_[i] = static_cast<std::uint32_t>(
          std::lower_bound(from_.begin(), from_.end(), all[i]) - from_.begin());
      ++margins[codes_[i]];
    }
  }
  const std::size_t cells = margins.size();
  x.resize(cells);
  y.resize(cells);
  stratum.resize(cells);
  std::uint32_t last = 0, strata = 0;
  for (std::size_t c = 0; c < cells; ++c) {
    const auto level = static_cast<std::uint32_t>(from_[c] / under);
    const std::size_t cell = from_[c] % under;
    x[c] = role == Role::x ? level : less.x[cell];
    y[c] = role == Role::y ? level : less.y[cell];
    if (role != Role::given) {
      stratum[c] = less.stratum[cell];
      continue;
    }
    // Ascending: cells of a stratum follow each other.
    const std::uint32_t group = less.stratum[cell] + level * static_cast<std::uint32_t>(under);
    if (c > 0 && group != last) ++strata;
    last = group;
    stratum[c] = strata;
  }
  if (cells <= most_cell_planes && table.by_planes(feature) && !less.planes_.empty()) {
    make_planes(test);
  }
}

void Cells::make_planes(DiscreteTest& test) {
  const DiscreteTable& table = test.table();
  const std::size_t words = table.words(), levels = table.levels(feature_), under = less_->size();
  const PlaneView other = table.view(feature_);
  planes_.resize(size() * words);
  for (std::size_t c = 0; c < size(); ++c) {
    const std::size_t level = from_[c] / under;
    const std::uint64_t* cell = less_->planes_.data() + from_[c] % under * words;
    std::uint64_t* out = planes_.data() + c * words;
    if (level + 1 < levels) {
      const std::uint64_t* plane = other.planes + level * words;
      for (std::size_t w = 0; w < words; ++w) out[w] = cell[w] & plane[w];
      continue;
    }
    for (std::size_t w = 0; w < words; ++w) {
      std::uint64_t taken = 0;
      for (std::size_t l = 0; l + 1 < levels; ++l) taken |= other.planes[l * words + w];
      out[w] = cell[w] & ~taken;
    }
  }
}

}  // namespace bitsieve
