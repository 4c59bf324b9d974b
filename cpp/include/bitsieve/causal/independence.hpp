// Tests of conditional independence, and the search for a set that separates two variables.
//
//   IndependenceTest   knows the data; shared by threads; counts and keeps results
//        | worker()    scratch memory of one caller
//        v
//   PairTests          the tests of one pair: begin(x, y, others), then sets of the others in any
//                      order; what it made for the beginning of a set it keeps for the next one
//
// A result is a function of x, y and the set alone, in every bit: not of their order, of what was
// asked before, or of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace bitsieve {

struct Independence {
  double statistic = 0.0;
  double log_p = 0.0;
  std::int64_t dof = 0;
  bool reliable = false;
};

struct Separation {
  bool found = false;
  Independence weakest;                  // the reliable test of the greatest p
  std::vector<std::size_t> weakest_given;  // the separator, where there is one
  std::uint64_t n_tests = 0;             // subsets gone through
};

struct SeparationLimits {
  double log_alpha;
  std::size_t min_size, max_size;  // of `among` and the subset together
};

class PairTests {
 public:
  virtual ~PairTests() = default;

  // `others`: variables that sets are made of, by their places.
  virtual void begin(std::size_t x, std::size_t y, const std::vector<std::size_t>& others) = 0;

  // Whether a test of the set, or of any that holds it, can be reliable.
  virtual bool hopeful(const std::size_t* places, std::size_t size) = 0;

  // The test without its p-value: log_p is open.
  virtual Independence statistic(const std::size_t* places, std::size_t size) = 0;

  // log p of the test that was asked last.
  virtual double log_p(const Independence& asked) = 0;

  // Whether of two tests of the same dof the one with the greater statistic has no greater p.
  virtual bool falls() const = 0;
};

class IndependenceTest {
 public:
  IndependenceTest(std::size_t n, std::size_t p, std::size_t most_kept);
  virtual ~IndependenceTest();

  std::size_t n() const { return n_; }
  std::size_t p() const { return p_; }

  Independence test(std::size_t x, std::size_t y, const std::vector<std::size_t>& given);

  // out[k] = test(xs[k], y, given).
  void test_many(const std::vector<std::size_t>& xs, std::size_t y,
                 const std::vector<std::size_t>& given, Independence* out, int n_threads);

  // The first subset of the pool, from small to large and then in lexicographic order of the pool,
  // that with `among` makes x and y independent: log p > log_alpha.
  Separation separate(std::size_t x, std::size_t y, const std::vector<std::size_t>& pool,
                      const std::vector<std::size_t>& among, const SeparationLimits& limits);

  // Tests that were computed; those that were remembered are no part of it.
  std::uint64_t n_computed() const { return n_computed_.load(std::memory_order_relaxed); }
  std::uint64_t n_remembered() const { return n_remembered_.load(std::memory_order_relaxed); }

  virtual std::unique_ptr<PairTests> make_worker() = 0;

 protected:
  // test_many of distinct variables, without threads' limits; counts nothing.
  virtual void compute_many(const std::vector<std::size_t>& xs, std::size_t y,
                            const std::vector<std::size_t>& given, Independence* out,
                            int n_threads);
  // Whether remembering a test is cheaper than computing it.
  virtual bool worth_keeping() const = 0;

  std::unique_ptr<PairTests> worker();
  void give_back(std::unique_ptr<PairTests> worker);

 private:
  struct Kept;
  class Search;
  friend class Search;

  bool recall(const Kept& key, Independence* out);
  void keep(const Kept& entry);
  static bool key_of(std::size_t x, std::size_t y, const std::size_t* given, std::size_t size,
                     Kept* key);
  std::size_t slot_of(const Kept& key) const;

  void renew();

  std::size_t n_, p_;
  std::atomic<std::uint64_t> n_computed_{0}, n_remembered_{0};
  std::atomic<unsigned> generation_;
  std::mutex workers_lock_;
  std::vector<std::unique_ptr<PairTests>> workers_;
  std::vector<Kept> kept_;
  std::unique_ptr<std::mutex[]> kept_locks_;
};

}  // namespace bitsieve
