#include "bitsieve/core/isa.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

#if defined(BITSIEVE_X86) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace bitsieve {
namespace {

#if defined(BITSIEVE_X86)
#if defined(_MSC_VER)
bool leaf7(int bit_of_ebx) {
  int info[4];
  __cpuidex(info, 7, 0);
  return (info[1] >> bit_of_ebx) & 1;
}
bool system_saves(unsigned long long state) {
  int info[4];
  __cpuid(info, 1);
  const bool osxsave = (info[2] >> 27) & 1;
  return osxsave && (_xgetbv(0) & state) == state;
}
bool has_fma() {
  int info[4];
  __cpuid(info, 1);
  return (info[2] >> 12) & 1;
}
bool has_avx2() { return system_saves(0x6) && leaf7(5) && has_fma(); }
bool has_avx512() {
  return has_avx2() && system_saves(0xE6) && leaf7(16) && leaf7(17) && leaf7(30) && leaf7(31);
}
#else
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif
#endif

std::vector<const Kernels*> levels() {
  std::vector<const Kernels*> out{&kernels_baseline};
#if defined(BITSIEVE_X86)
  if (has_avx2()) out.push_back(&kernels_avx2);
  if (has_avx512()) out.push_back(&kernels_avx512);
#endif
  return out;
}

const Kernels* find(const std::string& name) {
  for (const Kernels* level : levels()) {
    if (name == level->name) return level;
  }
  std::string known;
  for (const Kernels* level : levels()) known += std::string(known.empty() ? "" : ", ") + level->name;
  throw std::invalid_argument("instruction set \"" + name + "\" is not available here; this "
                              "processor and build have: " + known);
}

const Kernels* first_choice() {
  const char* wanted = std::getenv("BITSIEVE_ISA");
  if (wanted != nullptr && *wanted != '\0') return find(wanted);
  return levels().back();
}

std::atomic<const Kernels*> current{nullptr};

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Kernels* level : levels()) names.emplace_back(level->name);
  return names;
}

const Kernels& kernels() {
  const Kernels* level = current.load(std::memory_order_acquire);
  if (level == nullptr) {
    level = first_choice();
    current.store(level, std::memory_order_release);
  }
  return *level;
}

std::string get_isa() { return kernels().name; }

void set_isa(const std::string& name) { current.store(find(name), std::memory_order_release); }

}  // namespace bitsieve
