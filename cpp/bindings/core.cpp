// Instruction sets, masks, folds and random numbers.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>

#include "bitsieve/core/finite.hpp"
#include "bitsieve/core/folds.hpp"
#include "bitsieve/core/isa.hpp"
#include "bitsieve/core/mask.hpp"
#include "bitsieve/core/parallel.hpp"
#include "bitsieve/core/rng.hpp"
#include "rooms.hpp"

namespace py = pybind11;

namespace bitsieve {

namespace {

unsigned long main_thread = 0;  // as Python numbers threads

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

}  // namespace

bool python_interrupt() {
  // Only the main thread hears signals (after a fork, whichever thread forked). Others need not
  // take the lock, and must not while the interpreter ends: taking it would end the thread in the
  // middle of C++, and with it the process. They wait for the end instead.
  if (PyThread_get_thread_ident() != main_thread && fork_generation() == 0) {
    while (is_finalizing()) std::this_thread::sleep_for(std::chrono::hours(1));
    return false;
  }
  const py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

namespace {

constexpr std::uint64_t most_choices = std::uint64_t{1} << 63;

template <typename T, typename Draw>
Array<T> drawn(std::size_t n, Draw draw) {
  Array<T> out(static_cast<py::ssize_t>(n));
  T* values = out.mutable_data();
  const py::gil_scoped_release release;
  const InterruptScope scope(python_interrupt);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % (std::size_t{1} << 20) == 0) check_interrupt();
    values[i] = draw(i);
  }
  return out;
}

Array<std::uint64_t> philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t offset,
                            std::size_t n, std::uint64_t lane) {
  PhiloxBlock block{};
  return drawn<std::uint64_t>(n, [&](std::size_t i) {
    if (i % 4 == 0) block = philox4x64(seed, stream, {offset + i / 4, lane, 0, 0});
    return block[i % 4];
  });
}

Array<double> uniform(std::uint64_t key, std::uint64_t stream, std::uint64_t lane,
                      std::uint64_t first, std::size_t n) {
  PhiloxStream rng(key, static_cast<Stream>(stream), lane, first);
  return drawn<double>(n, [&](std::size_t) { return rng.uniform(); });
}

Array<double> normal(std::uint64_t key, std::uint64_t stream, std::uint64_t lane,
                     std::uint64_t first, std::size_t n) {
  PhiloxStream rng(key, static_cast<Stream>(stream), lane, first);
  return drawn<double>(n, [&](std::size_t) { return rng.normal(); });
}

py::tuple below(std::uint64_t key, std::uint64_t stream, std::uint64_t lane, std::uint64_t first,
                std::uint64_t bound, std::size_t n) {
  require(bound >= 1 && bound <= most_choices, "bound must lie in [1, 2^63]");
  PhiloxStream rng(key, static_cast<Stream>(stream), lane, first);
  const Lists numbers = drawn<std::int64_t>(
      n, [&](std::size_t) { return static_cast<std::int64_t>(rng.below(bound)); });
  return py::make_tuple(numbers, rng.position());
}

py::tuple permutation(std::uint64_t key, std::uint64_t stream, std::uint64_t lane,
                      std::uint64_t first, std::size_t n) {
  PhiloxStream rng(key, static_cast<Stream>(stream), lane, first);
  Lists numbers =
      drawn<std::int64_t>(n, [](std::size_t i) { return static_cast<std::int64_t>(i); });
  std::int64_t* order = numbers.mutable_data();
  {
    const py::gil_scoped_release release;
    rng.shuffle(order, n);
  }
  return py::make_tuple(numbers, rng.position());
}

py::tuple choice(std::uint64_t key, std::uint64_t stream, std::uint64_t lane, std::uint64_t first,
                 std::uint64_t n, std::size_t k) {
  require(n <= most_choices, "n must lie in [0, 2^63]");
  require(k <= n, "k must lie in [0, n]");
  PhiloxStream rng(key, static_cast<Stream>(stream), lane, first);
  Lists numbers(static_cast<py::ssize_t>(k));
  std::int64_t* chosen = numbers.mutable_data();
  {
    const py::gil_scoped_release release;
    const InterruptScope scope(python_interrupt);
    rng.choose(n, k, chosen);
  }
  return py::make_tuple(numbers, rng.position());
}

template <typename T>
bool finite(const Array<T>& values, Threads n_threads) {
  const T* from = values.data();
  const auto count = static_cast<std::size_t>(values.size());
  const py::gil_scoped_release release;
  const InterruptScope scope(python_interrupt);
  return all_finite(from, count, n_threads);
}

void check_folds(std::size_t n, std::size_t n_splits, std::size_t n_repeats) {
  if (n_splits < 2 || n_splits > n) {
    throw std::invalid_argument("n_splits must be from 2 to the number of samples (" +
                                std::to_string(n) + "), got " + std::to_string(n_splits));
  }
  if (n_repeats < 1) throw std::invalid_argument("n_repeats must be at least 1, got 0");
}

Array<std::int32_t> stratified(const Array<std::int32_t>& codes, std::size_t n_classes,
                               std::size_t n_splits, std::size_t n_repeats, std::uint64_t seed) {
  const std::size_t n = length(codes);
  check_folds(n, n_splits, n_repeats);
  check_codes(codes, n, n_classes);
  const std::int32_t* y = codes.data();
  Array<std::int32_t> out({n_repeats, n});
  std::int32_t* folds = out.mutable_data();
  const py::gil_scoped_release release;
  const InterruptScope scope(python_interrupt);
  stratified_folds(y, n, n_classes, n_splits, n_repeats, seed, folds);
  return out;
}

Array<std::int32_t> grouped(const Array<std::int32_t>& codes, std::size_t n_classes,
                            const Array<std::int32_t>& groups, std::size_t n_groups,
                            std::size_t n_splits, std::size_t n_repeats, std::uint64_t seed) {
  const std::size_t n = length(codes);
  check_folds(n, n_splits, n_repeats);
  check_codes(codes, n, n_classes);
  check_groups(groups, n, n_groups, n_splits);
  require(n_classes <= n, "n_classes must lie in [1, n_samples]");
  const std::int32_t* y = codes.data();
  const std::int32_t* g = groups.data();
  Array<std::int32_t> out({n_repeats, n});
  std::int32_t* folds = out.mutable_data();
  const py::gil_scoped_release release;
  const InterruptScope scope(python_interrupt);
  group_folds(y, n, n_classes, g, n_groups, n_splits, n_repeats, seed, folds);
  return out;
}

Array<std::int32_t> shuffled(std::size_t n, std::size_t n_splits, std::size_t n_repeats,
                             std::uint64_t seed) {
  check_folds(n, n_splits, n_repeats);
  Array<std::int32_t> out({n_repeats, n});
  std::int32_t* folds = out.mutable_data();
  const py::gil_scoped_release release;
  const InterruptScope scope(python_interrupt);
  shuffled_folds(n, n_splits, n_repeats, seed, folds);
  return out;
}

Array<std::uint64_t> pack(const Array<bool>& masks) {
  if (masks.ndim() != 2) throw std::invalid_argument("masks must be two-dimensional");
  const std::size_t m = static_cast<std::size_t>(masks.shape(0));
  const std::size_t p = static_cast<std::size_t>(masks.shape(1));
  const std::size_t w = words_for(p);
  Array<std::uint64_t> out({m, w});
  std::uint64_t* words = out.mutable_data();
  const bool* bits = masks.data();
  const py::gil_scoped_release release;
  const InterruptScope scope(python_interrupt);
  std::memset(words, 0, m * w * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < m; ++i) {
    check_interrupt();
    for (std::size_t f = 0; f < p; ++f) {
      words[i * w + f / 64] |= static_cast<Word>(bits[i * p + f]) << (f % 64);
    }
  }
  return out;
}

void check_words(const Array<std::uint64_t>& words, std::size_t p) {
  if (words.ndim() != 2 || static_cast<std::size_t>(words.shape(1)) != words_for(p)) {
    throw std::invalid_argument("words must have shape (n_masks, " + std::to_string(words_for(p)) +
                                ") for " + std::to_string(p) + " features");
  }
}

Array<bool> unpack(const Array<std::uint64_t>& words, std::size_t p) {
  check_words(words, p);
  const std::size_t m = static_cast<std::size_t>(words.shape(0)), w = words_for(p);
  Array<bool> out({m, p});
  bool* bits = out.mutable_data();
  const Word* data = words.data();
  const py::gil_scoped_release release;
  const InterruptScope scope(python_interrupt);
  for (std::size_t i = 0; i < m; ++i) {
    check_interrupt();
    for (std::size_t f = 0; f < p; ++f) bits[i * p + f] = get_bit(data + i * w, f);
  }
  return out;
}

Array<std::int64_t> counts(const Array<std::uint64_t>& words) {
  if (words.ndim() != 2) throw std::invalid_argument("words must be two-dimensional");
  const std::size_t m = static_cast<std::size_t>(words.shape(0));
  const std::size_t w = static_cast<std::size_t>(words.shape(1));
  Array<std::int64_t> out(static_cast<py::ssize_t>(m));
  std::int64_t* totals = out.mutable_data();
  const Word* data = words.data();
  const py::gil_scoped_release release;
  for (std::size_t i = 0; i < m; ++i) {
    totals[i] = static_cast<std::int64_t>(count_bits(data + i * w, w));
  }
  return out;
}

std::int64_t flip_between(const Array<std::uint64_t>& from, const Array<std::uint64_t>& to,
                          const Lists& flips) {
  require(from.ndim() == 1 && to.ndim() == 1 && flips.ndim() == 1 && from.size() == to.size(),
          "from_, to and flips must be one-dimensional, and the masks as long");
  const auto n = static_cast<std::size_t>(flips.size());
  const std::int64_t* f = flips.data();
  const std::int64_t end = 64 * static_cast<std::int64_t>(from.size());
  require(std::all_of(f, f + n, [end](std::int64_t flip) { return flip >= 0 && flip < end; }),
          "flips must be features of the masks");
  const std::size_t place = find_flip(from.data(), to.data(), static_cast<std::size_t>(from.size()),
                                      f, n);
  return place == n ? -1 : static_cast<std::int64_t>(place);
}

Array<std::uint64_t> median(const Array<std::uint64_t>& words, const Array<std::uint64_t>& anchor) {
  if (words.ndim() != 2 || anchor.ndim() != 1 || anchor.shape(0) != words.shape(1)) {
    throw std::invalid_argument("words must have shape (n_masks, n_words), anchor (n_words,)");
  }
  const std::size_t m = static_cast<std::size_t>(words.shape(0));
  const std::size_t w = static_cast<std::size_t>(words.shape(1));
  const std::vector<Word> result = hamming_median(words.data(), m, w, anchor.data());
  Array<std::uint64_t> out(static_cast<py::ssize_t>(w));
  std::copy(result.begin(), result.end(), out.mutable_data());
  return out;
}

}  // namespace

void register_core(py::module_& module) {
  main_thread = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const Interrupted&) {
      // PyErr_CheckSignals has set the exception already.
      if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
  module.def("available_isas", &available_isas);
  module.def("get_isa", &get_isa);
  module.def("has_fma", [] { return kernels().has_fma; });
  module.def("set_isa", &set_isa, py::arg("name"));
  module.def(
      "all_finite",
      [](const std::variant<Array<float>, Array<double>>& values, Threads n_threads) {
        return std::visit([&](const auto& array) { return finite(array, n_threads); }, values);
      },
      py::arg("values").noconvert(), py::arg("n_threads") = 1);
  module.def("philox", &philox, py::arg("seed"), py::arg("stream"), py::arg("offset"),
             py::arg("n"), py::arg("lane") = 0);
  module.def("random_uniform", &uniform, py::arg("key"), py::arg("stream"), py::arg("lane"),
             py::arg("first"), py::arg("n"));
  module.def("random_normal", &normal, py::arg("key"), py::arg("stream"), py::arg("lane"),
             py::arg("first"), py::arg("n"));
  module.def("random_below", &below, py::arg("key"), py::arg("stream"), py::arg("lane"),
             py::arg("first"), py::arg("bound"), py::arg("n"));
  module.def("random_permutation", &permutation, py::arg("key"), py::arg("stream"),
             py::arg("lane"), py::arg("first"), py::arg("n"));
  module.def("random_choice", &choice, py::arg("key"), py::arg("stream"), py::arg("lane"),
             py::arg("first"), py::arg("n"), py::arg("k"));
  py::native_enum<Stream>(module, "Stream", "enum.IntEnum", "What is drawn under one key.")
      .value("search", Stream::search)
      .value("folds", Stream::folds)
      .value("measurement", Stream::measurement)
      .value("estimators", Stream::estimators)
      .value("bootstrap", Stream::bootstrap)
      .value("rankers", Stream::rankers)
      .value("outer_folds", Stream::outer_folds)
      .value("start", Stream::start)
      .value("tests", Stream::tests)
      .value("instances", Stream::instances)
      .value("probes", Stream::probes)
      .value("microarray", Stream::microarray)
      .value("restarts", Stream::restarts)
      .value("gates", Stream::gates)
      .value("batches", Stream::batches)
      .value("weights", Stream::weights)
      .value("holdout", Stream::holdout)
      .value("dropout", Stream::dropout)
      .value("permutations", Stream::permutations)
      .finalize();
  module.def("stratified_folds", &stratified, py::arg("codes").noconvert(), py::arg("n_classes"),
             py::arg("n_splits"), py::arg("n_repeats"), py::arg("seed"));
  module.def("group_folds", &grouped, py::arg("codes").noconvert(), py::arg("n_classes"),
             py::arg("groups").noconvert(), py::arg("n_groups"), py::arg("n_splits"),
             py::arg("n_repeats"), py::arg("seed"));
  module.def("shuffled_folds", &shuffled, py::arg("n"), py::arg("n_splits"), py::arg("n_repeats"),
             py::arg("seed"));
  module.def("mask_pack", &pack, py::arg("masks").noconvert());
  module.def("mask_unpack", &unpack, py::arg("words").noconvert(), py::arg("n_features"));
  module.def("mask_counts", &counts, py::arg("words").noconvert());
  module.def("mask_find_flip", &flip_between, py::arg("from_").noconvert(),
             py::arg("to").noconvert(), py::arg("flips").noconvert(),
             "Position of the first flip that makes one mask of the other, or -1.");
  module.def("hamming_median", &median, py::arg("words").noconvert(), py::arg("anchor").noconvert());
}

}  // namespace bitsieve
