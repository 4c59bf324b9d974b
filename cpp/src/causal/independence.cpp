#include "bitsieve/causal/independence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitsieve/core/parallel.hpp"

namespace bitsieve {
namespace {

constexpr std::size_t most_key = 8;        // variables of a test that is kept
constexpr std::size_t n_kept_locks = 64;
constexpr std::size_t many_chunk = 16;
constexpr std::uint64_t poll_every = 256;  // tests
constexpr std::uint32_t no_variable = 0xffffffffu;

// n over k, or the greatest number.
std::uint64_t choose(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  k = std::min(k, n - k);
  double about = 1.0;
  std::uint64_t exact = 1;
  for (std::uint64_t i = 1; i <= k; ++i) {
    about *= static_cast<double>(n - k + i) / static_cast<double>(i);
    if (about > 1e15) return std::numeric_limits<std::uint64_t>::max() / 4;
    exact = exact * (n - k + i) / i;
  }
  return exact;
}

}  // namespace

// One result. The variables are sorted: the pair, then the set.
struct IndependenceTest::Kept {
  std::uint32_t variables[most_key];
  double statistic = 0.0;
  double log_p = 0.0;  // NaN: not computed
  std::int64_t dof = 0;

  Kept() { std::fill_n(variables, most_key, no_variable); }
  bool same(const Kept& other) const {
    return std::equal(variables, variables + most_key, other.variables);
  }
};

IndependenceTest::IndependenceTest(std::size_t n, std::size_t p, std::size_t most_kept)
    : n_(n), p_(p), generation_(fork_generation()), kept_(most_kept) {
  if (most_kept > 0) kept_locks_ = std::make_unique<std::mutex[]>(n_kept_locks);
}

IndependenceTest::~IndependenceTest() = default;

void IndependenceTest::renew() {
  renew_after_fork(generation_, [&] {
    leave_behind(workers_lock_);
    leave_behind(workers_);
    if (!kept_.empty()) {
      (void)kept_locks_.release();
      kept_locks_ = std::make_unique<std::mutex[]>(n_kept_locks);
      kept_.assign(kept_.size(), Kept());
    }
  });
}

std::unique_ptr<PairTests> IndependenceTest::worker() {
  renew();
  {
    const std::lock_guard<std::mutex> guard(workers_lock_);
    if (!workers_.empty()) {
      auto worker = std::move(workers_.back());
      workers_.pop_back();
      return worker;
    }
  }
  return make_worker();
}

void IndependenceTest::give_back(std::unique_ptr<PairTests> worker) {
  const std::lock_guard<std::mutex> guard(workers_lock_);
  workers_.push_back(std::move(worker));
}

bool IndependenceTest::key_of(std::size_t x, std::size_t y, const std::size_t* given,
                              std::size_t size, Kept* key) {
  if (size + 2 > most_key) return false;
  key->variables[0] = static_cast<std::uint32_t>(std::min(x, y));
  key->variables[1] = static_cast<std::uint32_t>(std::max(x, y));
  for (std::size_t k = 0; k < size; ++k) {
    key->variables[k + 2] = static_cast<std::uint32_t>(given[k]);
  }
  std::sort(key->variables + 2, key->variables + 2 + size);
  return true;
}

std::size_t IndependenceTest::slot_of(const Kept& key) const {
  std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
  for (const std::uint32_t v : key.variables) {
    hash = (hash ^ v) * 0xD2E7470EE14C6C93ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash % kept_.size());
}

bool IndependenceTest::recall(const Kept& key, Independence* out) {
  const std::size_t slot = slot_of(key);
  const std::lock_guard<std::mutex> guard(kept_locks_[slot % n_kept_locks]);
  const Kept& entry = kept_[slot];
  if (!entry.same(key)) return false;
  *out = {entry.statistic, entry.log_p, entry.dof, true};
  return true;
}

void IndependenceTest::keep(const Kept& entry) {
  const std::size_t slot = slot_of(entry);
  const std::lock_guard<std::mutex> guard(kept_locks_[slot % n_kept_locks]);
  kept_[slot] = entry;
}

// The tests of one pair as somebody asks for them: remembered or computed.
class IndependenceTest::Search {
 public:
  Search(IndependenceTest& test, std::size_t x, std::size_t y, std::vector<std::size_t> others)
      : test_(test), worker_(test.worker()), x_(x), y_(y), others_(std::move(others)),
        keeps_(!test.kept_.empty() && test.worth_keeping()) {}

  ~Search() {
    test_.n_computed_.fetch_add(computed_, std::memory_order_relaxed);
    test_.n_remembered_.fetch_add(remembered_, std::memory_order_relaxed);
    test_.give_back(std::move(worker_));
  }

  bool hopeful(const std::vector<std::size_t>& set) {
    begin();
    return worker_->hopeful(set.data(), set.size());
  }

  // Whether the test is reliable and its p greater than that of `weakest`, which it then becomes.
  bool weaker(const std::vector<std::size_t>& set, Independence& weakest) {
    Kept key;
    given_.resize(set.size());
    for (std::size_t k = 0; k < set.size(); ++k) given_[k] = others_[set[k]];
    const bool keeps = keeps_ && key_of(x_, y_, given_.data(), given_.size(), &key);
    Independence now;
    const bool recalled = keeps && test_.recall(key, &now);
    if (recalled) {
      ++remembered_;
    } else {
      begin();
      now = worker_->statistic(set.data(), set.size());
      now.log_p = std::numeric_limits<double>::quiet_NaN();
      ++computed_;
      if (!now.reliable) return false;
    }
    double* least = worker_->falls() ? losing(now.dof) : nullptr;
    const bool loses = least && weakest.reliable && now.statistic >= *least;
    // What was kept without it is of a test that falls: log p needs the statistic alone.
    if (!loses && std::isnan(now.log_p)) now.log_p = worker_->log_p(now);
    if (keeps) {
      key.statistic = now.statistic;
      key.log_p = now.log_p;
      key.dof = now.dof;
      test_.keep(key);
    }
    if (loses) return false;
    if (least) *least = std::min(*least, now.statistic);
    if (weakest.reliable && !(now.log_p > weakest.log_p)) return false;
    weakest = now;
    return true;
  }

 private:
  void begin() {
    if (begun_) return;
    worker_->begin(x_, y_, others_);
    begun_ = true;
  }

  // The least statistic of a dof that is known not to be weaker than the weakest: greater ones
  // need no p.
  double* losing(std::int64_t dof) {
    for (auto& [known, least] : losing_) {
      if (known == dof) return &least;
    }
    losing_.emplace_back(dof, std::numeric_limits<double>::infinity());
    return &losing_.back().second;
  }

  IndependenceTest& test_;
  std::unique_ptr<PairTests> worker_;
  std::size_t x_, y_;
  std::vector<std::size_t> others_, given_;
  std::vector<std::pair<std::int64_t, double>> losing_;
  std::uint64_t computed_ = 0, remembered_ = 0;
  bool begun_ = false, keeps_;
};

Independence IndependenceTest::test(std::size_t x, std::size_t y,
                                    const std::vector<std::size_t>& given) {
  Search search(*this, x, y, given);
  std::vector<std::size_t> set(given.size());
  for (std::size_t k = 0; k < set.size(); ++k) set[k] = k;
  Independence out;
  search.weaker(set, out);
  return out;
}

void IndependenceTest::test_many(const std::vector<std::size_t>& xs, std::size_t y,
                                 const std::vector<std::size_t>& given, Independence* out,
                                 int n_threads) {
  compute_many(xs, y, given, out, n_threads);
  n_computed_.fetch_add(xs.size(), std::memory_order_relaxed);
}

void IndependenceTest::compute_many(const std::vector<std::size_t>& xs, std::size_t y,
                                    const std::vector<std::size_t>& given, Independence* out,
                                    int n_threads) {
  std::vector<std::size_t> set(given.size());
  for (std::size_t k = 0; k < set.size(); ++k) set[k] = k;
  const std::size_t chunks = (xs.size() + many_chunk - 1) / many_chunk;
  parallel_for(chunks, n_threads, [&](std::size_t chunk) {
    auto tests = worker();
    const std::size_t end = std::min(xs.size(), (chunk + 1) * many_chunk);
    for (std::size_t k = chunk * many_chunk; k < end; ++k) {
      tests->begin(xs[k], y, given);
      out[k] = tests->statistic(set.data(), set.size());
      if (out[k].reliable) out[k].log_p = tests->log_p(out[k]);
    }
    give_back(std::move(tests));
  });
}

Separation IndependenceTest::separate(std::size_t x, std::size_t y,
                                      const std::vector<std::size_t>& pool,
                                      const std::vector<std::size_t>& among,
                                      const SeparationLimits& limits) {
  std::vector<std::size_t> others(among);
  others.insert(others.end(), pool.begin(), pool.end());
  Search search(*this, x, y, others);
  Separation out;
  const std::size_t fixed = among.size(), m = pool.size();
  std::vector<std::size_t> set;
  for (std::size_t k = 0; k < fixed; ++k) set.push_back(k);
  if (limits.max_size < fixed) return out;
  const std::size_t first = limits.min_size > fixed ? limits.min_size - fixed : 0;
  std::vector<std::size_t> best;
  std::uint64_t since_poll = 0;
  for (std::size_t size = first; size <= std::min(limits.max_size - fixed, m) && !out.found;
       ++size) {
    // Depth by depth; what no test of can be reliable is counted and left out as a whole.
    const auto walk = [&](const auto& self, std::size_t begin, std::size_t missing) -> void {
      if (++since_poll >= poll_every) {
        since_poll = 0;
        check_interrupt();
      }
      if (missing > 0 || size == 0) {
        if (!search.hopeful(set)) {
          out.n_tests += choose(m - begin, missing);
          return;
        }
      }
      if (missing == 0) {
        ++out.n_tests;
        if (search.weaker(set, out.weakest)) {
          best = set;
          out.found = out.weakest.log_p > limits.log_alpha;
        }
        return;
      }
      for (std::size_t k = begin; k + missing <= m && !out.found; ++k) {
        set.push_back(fixed + k);
        self(self, k + 1, missing - 1);
        set.pop_back();
      }
    };
    walk(walk, 0, size);
  }
  out.weakest_given.reserve(best.size());
  for (const std::size_t place : best) out.weakest_given.push_back(others[place]);
  return out;
}

}  // namespace bitsieve
