// A table of levels as Python holds it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bitsieve/core/parallel.hpp"
#include "bitsieve/discrete/contingency.hpp"
#include "bitsieve/discrete/table.hpp"
#include "information.hpp"

namespace bitsieve {

using LevelCodes = std::variant<Bytes, Codes>;  // a code a sample

inline Correction correction_of(const std::string& name, double prior) {
  if (name == "none") return Correction::none;
  if (name == "miller_madow") return Correction::miller_madow;
  require(name == "dirichlet", "correction must be none, miller_madow or dirichlet");
  // Beyond, it outweighs any table by more than the entropies can tell.
  require(prior > 0 && prior <= 1e12, "prior must be above 0 and at most 1e12");
  return Correction::dirichlet;
}

inline constexpr std::size_t most_cells = std::size_t{1} << 27;
inline constexpr std::size_t chunk_features = 128;

class PyDiscreteTable {
 public:
  PyDiscreteTable(const Bytes& codes, const Codes& n_levels, Threads n_threads)
      : n_threads_(n_threads) {
    require(codes.ndim() == 2 && codes.shape(0) > 0 && codes.shape(1) > 0,
            "codes must have shape (n_samples, n_features)");
    const std::size_t n = static_cast<std::size_t>(codes.shape(0));
    const std::size_t p = static_cast<std::size_t>(codes.shape(1));
    check_levels(n_levels, n, p);
    const std::uint8_t* data = codes.data();
    const std::int32_t* bounds = n_levels.data();
    const pybind11::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    table_ = std::make_unique<DiscreteTable>(data, n, p, bounds, n_threads);
  }

  PyDiscreteTable(const Lists& begin, const Codes& rows, const Bytes& values, const Bytes& rest,
                  const Codes& n_levels, std::size_t n, Threads n_threads)
      : n_threads_(n_threads) {
    const std::size_t p = length(rest);
    require(p > 0 && length(begin) == p + 1, "begin must have n_features + 1 entries");
    check_levels(n_levels, n, p);
    check_columns(begin, rows, p, n);
    require(length(rows) == length(values), "rows and values must be of one length");
    const std::int64_t* starts = begin.data();
    const std::int32_t* samples = rows.data();
    const std::uint8_t* codes = values.data();
    const std::uint8_t* others = rest.data();
    const std::int32_t* bounds = n_levels.data();
    const pybind11::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    table_ = std::make_unique<DiscreteTable>(starts, samples, codes, others, n, p, bounds,
                                             n_threads);
  }

  std::size_t n_samples() const { return table_->n(); }
  std::size_t n_features() const { return table_->p(); }

  Array<double> entropies(const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    return each(std::nullopt, entropy, [&](Counter& counter, std::size_t f) {
      return entropy.total() - counter.single(f);
    });
  }

  Array<double> mutual_information(const LevelCodes& target, int n_levels,
                                   const std::optional<Lists>& features,
                                   const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    const Variable y = variable(target, n_levels, "target");
    const std::int64_t rest = entropy.total() - sum_of(entropy, y);
    return each(features, entropy, [&](Counter& counter, std::size_t f) {
      return rest - counter.single(f) + counter.joint(f, y);
    });
  }

  Array<double> conditional_mutual_information(const LevelCodes& target, int n_levels,
                                               const LevelCodes& given, int n_given,
                                               const std::optional<Lists>& features,
                                               const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    const Variable y = variable(target, n_levels, "target");
    const Variable z = variable(given, n_given, "given");
    const Variable yz = combine(z, y, table_->n());
    const std::int64_t rest = sum_of(entropy, z) - sum_of(entropy, yz);
    return each(features, entropy, [&](Counter& counter, std::size_t f) {
      return rest + counter.joint(f, yz) - counter.joint(f, z);
    });
  }

  Array<double> joint_mutual_information(const LevelCodes& target, int n_levels, const LevelCodes& given,
                                         int n_given, const std::optional<Lists>& features,
                                         const std::string& correction, double prior) const {
    const EntropyTable entropy(table_->n(), correction_of(correction, prior), prior);
    const Variable y = variable(target, n_levels, "target");
    const Variable z = variable(given, n_given, "given");
    const Variable yz = combine(z, y, table_->n());
    const std::int64_t rest = entropy.total() - sum_of(entropy, y);
    return each(features, entropy, [&](Counter& counter, std::size_t f) {
      return rest + counter.joint(f, yz) - counter.joint(f, z);
    });
  }

  // Counts of (feature, code, target): an array of shape (n_features, n_codes, n_levels).
  Array<std::uint32_t> contingency(const LevelCodes& target, int n_levels, std::size_t n_codes,
                                   const std::optional<Lists>& features) const {
    const Variable y = variable(target, n_levels, "target");
    const std::size_t count = features ? length(*features) : table_->p();
    const std::int64_t* list = features ? features->data() : nullptr;
    check_features(list, count);
    require(n_codes >= 1 && n_codes <= 256, "n_codes must lie in [1, 256]");
    const std::size_t width = static_cast<std::size_t>(n_levels), cells = n_codes * width;
    require(count <= most_cells / cells, "the counts must be at most 2^27: ask for fewer features");
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t f = list ? static_cast<std::size_t>(list[k]) : k;
      require(table_->values(f)[table_->levels(f) - 1] < n_codes, "codes must lie below n_codes");
    }
    Array<std::uint32_t> out({count, n_codes, width});
    std::uint32_t* counts = out.mutable_data();
    const pybind11::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    std::fill_n(counts, count * cells, 0u);
    const std::size_t n_chunks = (count + chunk_features - 1) / chunk_features;
    parallel_for(n_chunks, n_threads_, [&](std::size_t chunk) {
      Contingency tables(*table_);
      std::vector<std::uint32_t> own;
      const std::size_t end = std::min(count, (chunk + 1) * chunk_features);
      for (std::size_t k = chunk * chunk_features; k < end; ++k) {
        const std::size_t f = list ? static_cast<std::size_t>(list[k]) : k;
        own.assign(table_->levels(f) * y.levels, 0);
        tables.counts(f, y, own.data());
        for (std::size_t a = 0; a < table_->levels(f); ++a) {
          std::uint32_t* row = counts + k * cells + table_->values(f)[a] * width;
          for (std::size_t b = 0; b < y.levels; ++b) row[y.values[b]] = own[a * y.levels + b];
        }
      }
    });
    return out;
  }

  const DiscreteTable& table() const { return *table_; }
  int n_threads() const { return n_threads_; }

  Variable variable(const LevelCodes& target, int n_levels, const std::string& name) const {
    require(n_levels >= 1 && n_levels <= (1 << 24), "n_levels must lie in [1, 2^24]");
    std::vector<std::uint32_t> wide(table_->n());
    const auto widen = [&](const auto& codes) {
      if (length(codes) != table_->n()) {
        throw std::invalid_argument(name + " must have one code a sample");
      }
      for (std::size_t i = 0; i < wide.size(); ++i) {
        const std::int64_t code = codes.data()[i];
        if (code < 0 || code >= n_levels) {
          throw std::invalid_argument(name + " must have codes in [0, n_levels)");
        }
        wide[i] = static_cast<std::uint32_t>(code);
      }
    };
    std::visit(widen, target);
    return make_variable(wide.data(), wide.size(), static_cast<std::size_t>(n_levels));
  }

  static std::int64_t sum_of(const EntropyTable& entropy, const Variable& v) {
    return entropy.sum(v.margins.data(), v.levels, v.cells);
  }

 private:
  static void check_levels(const Codes& n_levels, std::size_t n, std::size_t p) {
    require(n > 0 && n < (std::size_t{1} << 31), "n_samples must lie in [1, 2^31)");
    require(length(n_levels) == p, "n_levels must have one value a feature");
    for (std::size_t f = 0; f < p; ++f) {
      if (n_levels.data()[f] >= 1 && n_levels.data()[f] <= 256) continue;
      throw std::invalid_argument("n_levels must lie in [1, 256], but feature " +
                                  std::to_string(f) + " has " +
                                  std::to_string(n_levels.data()[f]));
    }
  }

  void check_features(const std::int64_t* list, std::size_t count) const {
    for (std::size_t k = 0; list && k < count; ++k) {
      require(list[k] >= 0 && static_cast<std::size_t>(list[k]) < table_->p(),
              "features must lie in [0, n_features)");
    }
  }

  // value(counter, f) in units of the table, for all features or those listed.
  template <typename Value>
  Array<double> each(const std::optional<Lists>& features, const EntropyTable& entropy,
                     const Value& value) const {
    const std::size_t count = features ? length(*features) : table_->p();
    const std::int64_t* list = features ? features->data() : nullptr;
    check_features(list, count);
    Array<double> out(static_cast<pybind11::ssize_t>(count));
    double* values = out.mutable_data();
    const pybind11::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    const std::size_t n_chunks = (count + chunk_features - 1) / chunk_features;
    parallel_for(n_chunks, n_threads_, [&](std::size_t chunk) {
      Counter counter(*table_, entropy);
      const std::size_t end = std::min(count, (chunk + 1) * chunk_features);
      for (std::size_t k = chunk * chunk_features; k < end; ++k) {
        const std::size_t f = list ? static_cast<std::size_t>(list[k]) : k;
        values[k] = static_cast<double>(value(counter, f)) * entropy.unit();
      }
    });
    return out;
  }

  std::unique_ptr<DiscreteTable> table_;
  int n_threads_;
};

}  // namespace bitsieve
