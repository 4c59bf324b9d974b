// A small pool of std::threads, parked where work does not follow at once. Chunks are fixed by the
// caller, so what is computed never depends on the number of threads; only who computes it does.
//
// Not OpenMP: that hangs after fork, spins long beside other copies of itself, is missing from
// AppleClang and blinds the thread sanitizer. After a fork the child starts a pool of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace bitsieve {

// A callable that somebody else keeps, for the time of a call. (std::function would copy it, and
// its header and instances are a tenth of what a file here costs to compile.)
template <typename... Arguments>
class FunctionRef {
 public:
  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef>)
  FunctionRef(Callable&& callable)  // NOLINT: implicit, so that a lambda can be passed
      : callable_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* target, Arguments... arguments) {
          (*static_cast<std::remove_reference_t<Callable>*>(target))(arguments...);
        }) {}

  void operator()(Arguments... arguments) const { call_(callable_, arguments...); }

 private:
  void* callable_;
  void (*call_)(void*, Arguments...);
};

// Thrown out of parallel_for when the interrupt poll says so.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// Asked by the calling thread between its chunks, ten times a second at most; true means stop.
// It belongs to the calling thread: set it for the time of a call (see InterruptScope).
using InterruptPoll = bool (*)();

class InterruptScope {
 public:
  explicit InterruptScope(InterruptPoll poll);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  InterruptPoll previous_;
};

// Poll now if a tenth of a second has passed; throws Interrupted. For long serial loops.
void check_interrupt();

// More threads than this are never started; ask for scratch memory for no more.
inline constexpr int max_threads = 256;

// How many forks this process descends from since the library was loaded. Locks that another
// thread held at the moment of a fork stay locked in the child, and what they guard may be
// half-changed: whoever owns such things calls renew_after_fork before taking its lock.
unsigned fork_generation();

// Calls renew() once in a new generation, and stores the generation in `seen`.
void renew_after_fork(std::atomic<unsigned>& seen, FunctionRef<> renew);

// For renew(): begin a value anew and neither read nor free what it held, which another thread of
// the parent may have been changing. That memory is left behind.
template <typename T>
void leave_behind(T& value) {
  std::construct_at(&value);
}

// Run body(chunk) for chunk = 0 .. n_chunks - 1 on up to n_threads threads, the caller among
// them. The first exception of any thread is rethrown here after all have stopped. A call from
// inside a body runs serially.
void parallel_for(std::size_t n_chunks, int n_threads,
                  FunctionRef<std::size_t> body);

// The same; the body also learns which worker (0 .. n_threads - 1) runs it, for scratch memory.
void parallel_for_worker(std::size_t n_chunks, int n_threads,
                         FunctionRef<std::size_t, int> body);

}  // namespace bitsieve
