from seqpa._kernel.weights cimport Constraint

cpdef double step_size(int step, double r, double score, double norm2, double C) noexcept nogil
cdef void step_each(int step, double margin, double norm2, double C, Constraint c) noexcept nogil
