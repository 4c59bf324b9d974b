// 64-byte aligned storage for vectors that the hot loops read.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#if defined(_MSC_VER) && defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace bitsieve {

inline constexpr std::size_t cache_line = 64;

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}  // NOLINT: rebinding
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{cache_line}));
  }
  void deallocate(T* p, std::size_t) noexcept {
    ::operator delete(p, std::align_val_t{cache_line});
  }
  template <typename U>
  bool operator==(const AlignedAllocator<U>&) const noexcept {
    return true;
  }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// Asks the system for large pages under a block that will be filled; it need not listen.
void prefer_large_pages(void* data, std::size_t bytes);

// Aligned storage that nobody has touched yet: pages come when a thread first writes them.
template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t n) : data_(AlignedAllocator<T>().allocate(n)) {
    prefer_large_pages(data_, n * sizeof(T));
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~AlignedBuffer() {
    if (data_ != nullptr) AlignedAllocator<T>().deallocate(data_, 0);
  }
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

// A hint that a line will be read soon.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, 0, 2);
#elif defined(_M_X64)
  _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T1);
#else
  (void)address;
#endif
}

}  // namespace bitsieve
