# A hint to the processor; where the compiler knows none, nothing.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define seqpa_prefetch(address) __builtin_prefetch(address)
    #else
    #define seqpa_prefetch(address) ((void)(address))
    #endif
    """
    void prefetch "seqpa_prefetch"(const void *address) noexcept nogil
