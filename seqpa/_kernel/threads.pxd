# What threads need of each other: numbers that they read and change in an order that all of them see
# alike, ways to wait, and a clock.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define seqpa_load(address) __atomic_load_n(address, __ATOMIC_ACQUIRE)
    #define seqpa_store(address, value) __atomic_store_n(address, value, __ATOMIC_RELEASE)
    #define seqpa_add(address, value) ((void)__atomic_fetch_add(address, value, __ATOMIC_ACQ_REL))
    static inline int seqpa_swap(long long *address, long long old, long long value) {
        return __atomic_compare_exchange_n(
            address, &old, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    #if defined(__x86_64__) || defined(__i386__)
    #define seqpa_pause() __builtin_ia32_pause()
    #elif defined(__aarch64__)
    #define seqpa_pause() __asm__ volatile("isb" ::: "memory")
    #else
    #define seqpa_pause() __asm__ volatile("" ::: "memory")
    #endif
    #else
    #include <intrin.h>
    #define seqpa_load(address) _InterlockedOr64(address, 0)
    #define seqpa_store(address, value) ((void)_InterlockedExchange64(address, value))
    #define seqpa_add(address, value) ((void)_InterlockedExchangeAdd64(address, value))
    #define seqpa_swap(address, old, value) \\
        (_InterlockedCompareExchange64(address, value, old) == (old))
    #if defined(_M_ARM64)
    #define seqpa_pause() __yield()
    #else
    #define seqpa_pause() _mm_pause()
    #endif
    #endif
    #if defined(_WIN32)
    #include <windows.h>
    #define seqpa_give_way() ((void)SwitchToThread())
    static double seqpa_seconds(void) {
        LARGE_INTEGER now, rate;
        QueryPerformanceFrequency(&rate);
        QueryPerformanceCounter(&now);
        return (double)now.QuadPart / (double)rate.QuadPart;
    }
    #else
    #include <sched.h>
    #include <time.h>
    #define seqpa_give_way() ((void)sched_yield())
    static double seqpa_seconds(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    }
    #endif
    """
    long long load "seqpa_load"(long long *address) noexcept nogil
    void store "seqpa_store"(long long *address, long long value) noexcept nogil
    void add "seqpa_add"(long long *address, long long value) noexcept nogil
    bint swap "seqpa_swap"(long long *address, long long old, long long value) noexcept nogil
    void pause "seqpa_pause"() noexcept nogil
    void give_way "seqpa_give_way"() noexcept nogil
    double seconds "seqpa_seconds"() noexcept nogil
