# Hints to the processor that memory will be read, or written; where the compiler knows none, nothing.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define seqpa_prefetch(address) __builtin_prefetch(address)
    #else
    #define seqpa_prefetch(address) ((void)(address))
    #endif
    #if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
    /* Compilers write it as a hint to read, unless told that every machine knows this one: where it
       is not known, it does nothing. */
    #define seqpa_prefetch_to_write(address) \\
        __asm__ volatile("prefetchw %0" : : "m"(*(const char *)(address)))
    #elif defined(__GNUC__) || defined(__clang__)
    #define seqpa_prefetch_to_write(address) __builtin_prefetch(address, 1)
    #else
    #define seqpa_prefetch_to_write(address) ((void)(address))
    #endif
    """
    void prefetch_to_write "seqpa_prefetch_to_write"(const void *address) noexcept nogil
    void prefetch "seqpa_prefetch"(const void *address) noexcept nogil
