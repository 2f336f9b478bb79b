// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "topology/detect.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace hawser::topology {
namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

std::uint64_t cache_by_sysconf() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = ::sysconf(level); bytes > 0) return static_cast<std::uint64_t>(bytes);
  }
  constexpr std::uint64_t kGuess = std::uint64_t{8} << 20;
  return kGuess;
}

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

/// The few functions of hwloc that are needed, by name, so that the library is no load-time dependency.
class Hwloc {
 public:
  Hwloc() : library_(::dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) return;
    bind(version_, "hwloc_get_api_version");
    bind(init_, "hwloc_topology_init");
    bind(load_, "hwloc_topology_load");
    bind(destroy_, "hwloc_topology_destroy");
    bind(type_depth_, "hwloc_get_type_depth");
    bind(count_, "hwloc_get_nbobjs_by_depth");
    bind(object_, "hwloc_get_obj_by_depth");
    bind(is_set_, "hwloc_bitmap_isset");
    // Version 2 of the interface: the layout of objects that the header declares.
    is_usable_ = is_complete_ && (version_() >> 16) == (HWLOC_API_VERSION >> 16) && init_(&topology_) == 0;
    if (is_usable_ && load_(topology_) != 0) is_usable_ = false;
  }
  ~Hwloc() {
    if (topology_ != nullptr) destroy_(topology_);
  }
  Hwloc(const Hwloc&) = delete;
  Hwloc& operator=(const Hwloc&) = delete;

  [[nodiscard]] bool is_usable() const { return is_usable_; }
  [[nodiscard]] std::string version() const {
    const unsigned number = version_();
    return fmt::format("hwloc {}.{}.{}", number >> 16, number >> 8 & 0xff, number & 0xff);
  }
  [[nodiscard]] int count(hwloc_obj_type_t type) const {
    return static_cast<int>(count_(topology_, type_depth_(topology_, type)));
  }
  /// The object of this type that holds processor `cpu`; null if none.
  [[nodiscard]] hwloc_obj_t holder_of(unsigned cpu, hwloc_obj_type_t type) const {
    const int depth = type_depth_(topology_, type);
    for (unsigned i = 0; i < count_(topology_, depth); ++i) {
      hwloc_obj_t object = object_(topology_, depth, i);
      if (object != nullptr && object->cpuset != nullptr && is_set_(object->cpuset, cpu) != 0) return object;
    }
    return nullptr;
  }

 private:
  template <class Function>
  void bind(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_.get(), name));
    is_complete_ &= function != nullptr;
  }

  std::unique_ptr<void, CloseLibrary> library_;
  bool is_complete_ = true;
  bool is_usable_ = false;
  hwloc_topology_t topology_ = nullptr;
  decltype(&hwloc_get_api_version) version_ = nullptr;
  decltype(&hwloc_topology_init) init_ = nullptr;
  decltype(&hwloc_topology_load) load_ = nullptr;
  decltype(&hwloc_topology_destroy) destroy_ = nullptr;
  decltype(&hwloc_get_type_depth) type_depth_ = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) count_ = nullptr;
  decltype(&hwloc_get_obj_by_depth) object_ = nullptr;
  decltype(&hwloc_bitmap_isset) is_set_ = nullptr;
};

unsigned first_usable_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 0;
  unsigned cpu = 0;
  while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &set)) ++cpu;
  return cpu;
}

}  // namespace

Machine detect() {
  Machine machine;
  machine.cores = usable_cores();
  machine.cache_bytes = cache_by_sysconf();
  machine.source = "sysconf";
  const Hwloc hwloc;
  if (!hwloc.is_usable()) return machine;
  machine.source = hwloc.version();
  const unsigned cpu = first_usable_core();
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    const hwloc_obj_t cache = hwloc.holder_of(cpu, type);
    if (cache == nullptr || cache->attr == nullptr || cache->attr->cache.size == 0) continue;
    machine.cache_bytes = cache->attr->cache.size;
    break;
  }
  machine.numa_domains = std::max(1, hwloc.count(HWLOC_OBJ_NUMANODE));
  if (const hwloc_obj_t domain = hwloc.holder_of(cpu, HWLOC_OBJ_NUMANODE))
    machine.numa = static_cast<int>(domain->os_index);
  return machine;
}

}  // namespace hawser::topology
