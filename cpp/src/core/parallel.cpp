#include "bitsieve/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <pthread.h>
#endif
#if defined(BITSIEVE_X86)
#include <immintrin.h>
#endif

namespace bitsieve {
namespace {

thread_local InterruptPoll current_poll = nullptr;
thread_local std::chrono::steady_clock::time_point last_poll{};
thread_local bool inside_body = false;

bool poll_says_stop() {
  if (current_poll == nullptr) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_poll < std::chrono::milliseconds(100)) return false;
  last_poll = now;
  return current_poll();
}

void relax() {
#if defined(BITSIEVE_X86)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Waking a parked thread takes tens of microseconds, much on a virtual machine. One call of a kernel
// follows another, so whoever has nothing to do looks around this long before it parks.
constexpr auto patience = std::chrono::microseconds(50);

template <typename Condition>
bool spin_until(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  do {
    for (int k = 0; k < 64; ++k) {
      if (condition()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return condition();
}

struct Job {
  std::size_t n_chunks;
  const FunctionRef<std::size_t, int>* body;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> cancelled{false};
  std::atomic<int> next_worker{1};
  std::atomic<int> active{0};  // helpers at work
  std::mutex error_mutex;
  std::exception_ptr error;

  void fail() {
    const std::lock_guard<std::mutex> lock(error_mutex);
    if (!error) error = std::current_exception();
    cancelled = true;
  }

  void work(int worker, bool is_caller) {
    inside_body = true;
    while (!cancelled.load(std::memory_order_relaxed)) {
      const std::size_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= n_chunks) break;
      try {
        (*body)(chunk, worker);
        if (is_caller && poll_says_stop()) throw Interrupted();
      } catch (...) {
        fail();
      }
    }
    inside_body = false;
  }
};

// Several Python threads may call at once: each job asks for helpers, and parked workers take
// whatever asks. A job that gets none is done by its caller alone.
class Pool {
 public:
  void run(Job& job, int n_helpers) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      try {
        while (static_cast<int>(threads_.size()) < n_helpers) {
          threads_.emplace_back([this] { loop(); });
        }
      } catch (const std::system_error&) {
        // No more threads to be had (limits of a container): those there are will do.
      }
      requests_.push_back({&job, n_helpers});
      wanted_ += n_helpers;
    }
    wake_.notify_all();
    job.work(0, true);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto own = std::find_if(requests_.begin(), requests_.end(),
                                    [&](const Request& request) { return request.job == &job; });
      wanted_ -= own->wanted;  // no one else may join
      requests_.erase(own);
    }
    if (spin_until([&] { return job.active.load() == 0; })) {
      // The last helper may still hold the lock in which it said so.
      const std::lock_guard<std::mutex> lock(mutex_);
      return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return job.active.load() == 0; });
  }

 private:
  struct Request {
    Job* job;
    int wanted;
  };

  void loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      if (wanted_.load() == 0) {
        lock.unlock();
        spin_until([&] { return wanted_.load() > 0; });
        lock.lock();
        wake_.wait(lock, [&] { return wanted_.load() > 0; });
      }
      Request& request = *std::find_if(requests_.begin(), requests_.end(),
                                       [](const Request& each) { return each.wanted > 0; });
      Job* job = request.job;
      --request.wanted;
      --wanted_;
      ++job->active;
      const int worker = job->next_worker.fetch_add(1);
      lock.unlock();
      job->work(worker, false);
      lock.lock();
      --job->active;  // under the lock: the job is gone as soon as its caller sees this
      done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  std::vector<Request> requests_;
  std::atomic<int> wanted_{0};  // helpers, over all requests; changed under the lock
};

// Never destroyed: in a forked child its threads do not exist, and joining parked threads at
// unload could wait for ever.
std::atomic<Pool*> pool_pointer{nullptr};
std::mutex pool_mutex, renewal_mutex;
std::atomic<unsigned> generation{0};

#if !defined(_WIN32)
void begin_child() {
  pool_pointer = nullptr;
  new (&pool_mutex) std::mutex();
  new (&renewal_mutex) std::mutex();
  inside_body = false;
  ++generation;
}

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, begin_child);
#endif

Pool& pool() {
  Pool* existing = pool_pointer.load();
  if (existing != nullptr) return *existing;
  const std::lock_guard<std::mutex> lock(pool_mutex);
  if (pool_pointer.load() == nullptr) pool_pointer = new Pool();
  return *pool_pointer.load();
}

}  // namespace

unsigned fork_generation() { return generation.load(); }

void renew_after_fork(std::atomic<unsigned>& seen, FunctionRef<> renew) {
  if (seen.load() == generation.load()) return;
  const std::lock_guard<std::mutex> lock(renewal_mutex);
  if (seen.load() == generation.load()) return;
  renew();
  seen = generation.load();
}

InterruptScope::InterruptScope(InterruptPoll poll) : previous_(current_poll) {
  current_poll = poll;
}
InterruptScope::~InterruptScope() { current_poll = previous_; }

void check_interrupt() {
  if (poll_says_stop()) throw Interrupted();
}

void parallel_for_worker(std::size_t n_chunks, int n_threads,
                         FunctionRef<std::size_t, int> body) {
  if (n_chunks == 0) return;
  const int wanted = std::clamp(n_threads, 1, max_threads);
  const int n_helpers =
      static_cast<int>(std::min(n_chunks, static_cast<std::size_t>(wanted))) - 1;
  if (n_helpers == 0 || inside_body) {
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
      body(chunk, 0);
      if (!inside_body) check_interrupt();
    }
    return;
  }
  Job job;
  job.n_chunks = n_chunks;
  job.body = &body;
  pool().run(job, n_helpers);
  if (job.error) std::rethrow_exception(job.error);
}

void parallel_for(std::size_t n_chunks, int n_threads,
                  FunctionRef<std::size_t> body) {
  parallel_for_worker(n_chunks, n_threads, [&](std::size_t chunk, int) { body(chunk); });
}

}  // namespace bitsieve
